/**
 * What an anchor names in one content of a target: the slice, how it was found, and the ids by which the
 * slice accepts a stamp. Documents know headings and lines, code files symbols and lines, all other
 * UTF-8 files lines; `null` is the whole file.
 *
 * Everything here is synchronous but the loading of a code parser: callers wait for
 * `prepareAnchor(path, anchor)` before they view an anchor of a code file. It resolves at once, and loads
 * nothing, for whole files, documents, line anchors and parsers that are there.
 */

import { outlineMarkdown } from '../text/markdown.ts'
import { languageOf } from '../text/outline.ts'
import { decodeUtf8 } from '../text/utf8.ts'
import { isBinary, largeFileBytes, type SliceContext, sliceIds } from './forms.ts'
import { createHeadingIndex, type HeadingIndex } from './headings.ts'
import { lastLineOf, lineBounds, lineOf, parseLines, spanOfLines } from './lines.ts'
import { indexSymbols, prepareSymbols, symbolAnchor } from './symbols.ts'
import type { AnchorMatch, AnchorView, Hex12, ParsedChild, SliceIds, Span } from './types.ts'

/** One content of a target, read once for all anchors that are asked of it. */
export interface Target {
  view(anchor: string | null): AnchorView
}

export interface ListedAnchor {
  /** The name; the n-th of the same name is told by `ordinal`. */
  readonly anchor: string
  readonly kind: 'heading' | 'symbol'
  readonly level: number | null
  readonly slug: string | null
  /** n-th of that name in file order, from 1. */
  readonly ordinal: number
  readonly line: number
  readonly span: Span
  /** Normal id. */
  readonly id: Hex12
}

export interface AnchorList {
  readonly language: 'markdown' | 'typescript' | 'javascript' | 'python' | null
  /** In file order. */
  readonly anchors: readonly ListedAnchor[]
}

interface FoundRest {
  readonly ids?: SliceIds
  readonly heading?: string
  readonly namesakes?: readonly { readonly anchor: string; readonly ids: SliceIds }[]
}

const whole = null

/** Load what viewing this anchor of this file needs. */
export async function prepareAnchor(path: string, anchor: string | null): Promise<void> {
  if (needsParser(path, anchor)) await prepareSymbols(path)
}

/** Must `prepareAnchor` be waited for? */
export function needsParser(path: string, anchor: string | null): boolean {
  return anchor !== null && languageOf(path) !== null && parseLines(anchor) === null
}

/** Documents are Markdown files by their extension, in any case. */
export function isDocumentPath(path: string): boolean {
  return /\.(?:md|markdown)$/iu.test(path)
}

/**
 * Open a content for several anchors; headings, lines, symbols and ids are worked out when first needed
 * and once.
 *
 * @param path - decides what anchors mean (extension only).
 * @param parsed - the declarations in these bytes when the file is a document that has some, else `null`.
 */
export function openTarget(bytes: Uint8Array, path: string, parsed: ParsedChild | null): Target {
  const context: SliceContext = { path, parsed }
  const isLarge = bytes.length > largeFileBytes
  const known = new Map<string, SliceIds>()
  const text = once(() => decodeUtf8(bytes))
  const bounds = once(() => lineBounds(bytes))
  const headings = once((): HeadingIndex => createHeadingIndex(outlineMarkdown(text() ?? '').headings))
  const symbols = once(() => indexSymbols(bytes, text() ?? '', path))

  function idsOf(span: Span, indent?: Uint8Array): SliceIds {
    const key = `${span.start} ${span.end} ${indent?.length ?? 0}`
    const ids = known.get(key) ?? sliceIds(bytes, span, indent === undefined ? context : { ...context, indent })
    known.set(key, ids)
    return ids
  }

  /** All of it, whose lines need no table. */
  function wholeView(ids: SliceIds): AnchorView {
    const span = { start: 0, end: bytes.length }
    const binary = isBinary(bytes)
    return {
      kind: 'found',
      match: null,
      heading: null,
      span,
      firstLine: 1,
      lastLine: lastLineOf(bytes),
      binary,
      ids,
      namesakes: [],
    }
  }

  /** A plain value: views outlive the bytes they were taken from. */
  function found(span: Span, match: AnchorMatch | null, rest: FoundRest = {}): AnchorView {
    const { ids = idsOf(span), heading = null, namesakes = [] } = rest
    const firstLine = lineOf(bounds(), span.start)
    const lastLine = lineOf(bounds(), Math.max(span.start, span.end - 1))
    const binary = isBinary(bytes.subarray(span.start, span.end))
    return { kind: 'found', match, heading, span, firstLine, lastLine, binary, ids, namesakes }
  }

  function viewHeading(anchor: string): AnchorView | undefined {
    const hit = headings().find(anchor)
    if (hit === undefined) return undefined
    const namesakes = hit
      .namesakes()
      .filter(one => one.heading !== hit.heading)
      .map(one => ({ anchor: one.anchor, ids: idsOf(one.heading.section) }))
    return found(hit.heading.section, hit.match, { heading: hit.heading.text, namesakes })
  }

  function viewSymbol(anchor: string): AnchorView | undefined {
    const index = symbols()
    if (index === null) return { kind: 'unreadable', why: 'takes too long to parse' }
    const hit = index.find(anchor)
    if (hit === undefined) return undefined
    const others = index.named(hit.name).filter(one => one !== hit)
    const namesakes = others.map(one => ({ anchor: symbolAnchor(one), ids: idsOf(one.span, one.indent) }))
    return found(hit.span, 'symbol', { ids: idsOf(hit.span, hit.indent), namesakes })
  }

  function viewLines(anchor: string): AnchorView | undefined {
    const range = parseLines(anchor)
    if (range === null) return undefined
    const span = spanOfLines(bounds(), range)
    return span === null ? { kind: 'missing' } : found(span, 'lines')
  }

  function view(anchor: string | null): AnchorView {
    if (anchor === whole) {
      const span = { start: 0, end: bytes.length }
      return wholeView(isLarge ? largeIds(idsOf(span)) : idsOf(span))
    }
    if (isLarge) return { kind: 'unreadable', why: 'over 16 MiB' }
    if (text() === null) return { kind: 'unreadable', why: 'not UTF-8' }
    if (isDocumentPath(path)) {
      return viewHeading(anchor) ?? viewLines(anchor) ?? (anchor.startsWith('^') ? { kind: 'unsupported' } : { kind: 'missing' })
    }
    // Lines before symbols, so that a file whose lines alone are cited needs no parser.
    if (languageOf(path) !== null) return viewLines(anchor) ?? viewSymbol(anchor) ?? { kind: 'missing' }
    return viewLines(anchor) ?? { kind: 'unsupported' }
  }

  return { view }
}

/** One anchor of one content; `openTarget` is cheaper for several. */
export function viewAnchor(bytes: Uint8Array, path: string, anchor: string | null, parsed: ParsedChild | null): AnchorView {
  return openTarget(bytes, path, parsed).view(anchor)
}

/**
 * All named anchors of a file, in file order. Loads the parser that a code file needs. Files that are
 * over 16 MiB or not UTF-8 have none.
 */
export async function listAnchors(bytes: Uint8Array, path: string, parsed: ParsedChild | null): Promise<AnchorList> {
  const language = isDocumentPath(path) ? 'markdown' : languageOf(path)
  const text = bytes.length > largeFileBytes ? null : decodeUtf8(bytes)
  if (language === null || text === null) return { language, anchors: [] }
  const context: SliceContext = { path, parsed }
  if (language !== 'markdown') {
    await prepareSymbols(path)
    const bounds = lineBounds(bytes)
    const symbols = indexSymbols(bytes, text, path)?.symbols ?? []
    const anchors = symbols.map(
      ({ name, ordinal, span, indent }): ListedAnchor => ({
        anchor: name,
        kind: 'symbol',
        level: null,
        slug: null,
        ordinal,
        line: lineOf(bounds, span.start),
        span,
        id: sliceIds(bytes, span, { ...context, indent }).norm,
      }),
    )
    return { language, anchors }
  }
  const seen = new Map<string, number>()
  const anchors = outlineMarkdown(text)
    .headings.filter(heading => heading.raw !== '')
    .map((heading): ListedAnchor => {
      const ordinal = (seen.get(heading.text) ?? 0) + 1
      seen.set(heading.text, ordinal)
      const { level, line, section, slug, text: name } = heading
      const id = sliceIds(bytes, section, context).norm
      return { anchor: name, kind: 'heading', level, slug, ordinal, line, span: section, id }
    })
  return { language, anchors }
}

/** A file over 16 MiB that is in memory all the same: the ids that streaming it gives. */
function largeIds(ids: SliceIds): SliceIds {
  return ids.only === 'binary' ? ids : { norm: ids.raw, raw: ids.raw, lf: ids.lf, tail: [], only: 'large' }
}

function once<T>(compute: () => T): () => T {
  let value: { readonly is: T } | undefined
  return () => (value ??= { is: compute() }).is
}
