/** What documents say of files: paths, base names, link targets and words in code spans. */

import { blocks, codeSpans } from '../../text/markdown.ts'
import { baseName, decodePercent, extensionOf, folderOf, resolvePath } from '../../text/paths.ts'

export const maxDocumentBytes: number = 512 * 1024
const maxItems = 20_000

/** What one document names, before anybody knows which of it is a file. */
export interface Spoken {
  /** Tokens that may be a path or a base name, without a leading `./` or `/`. */
  readonly tokens: readonly string[]
  /** Targets of links, resolved from the document's folder. */
  readonly links: readonly string[]
  /** Words of code spans that may be names of declarations. */
  readonly words: readonly string[]
}

export const saysNothing: Spoken = { tokens: [], links: [], words: [] }

export function spokenIn(path: string, text: string): Spoken {
  return { tokens: tokensOf(text), links: linksOf(path, text), words: wordsOf(path, text) }
}

function tokensOf(text: string): readonly string[] {
  const found = new Set<string>()
  for (const match of text.matchAll(/[A-Za-z0-9_./-]+/g)) addToken(found, match[0])
  // Names with other signs stand between blanks or quotes.
  for (const match of text.matchAll(/[^\s`"'<>|*,;:!?]*[^\s`"'<>|*,;:!?A-Za-z0-9_./()[\]-][^\s`"'<>|*,;:!?]*/g)) {
    addToken(found, match[0].replace(/^[([]+/, '').replace(/[)\]]+$/, ''))
  }
  for (const match of text.matchAll(/`([^`\n]{1,300})`/g)) {
    if (/[^A-Za-z0-9_./-]/.test(match[1]!)) addToken(found, match[1]!.replace(/:\d+(?::\d+)?$/, ''))
  }
  return [...found].slice(0, maxItems)
}

function addToken(found: Set<string>, run: string): void {
  const token = run.replace(/^(?:\.\/|\/)/, '').replace(/\.+$/, '')
  if ((token.length >= 3 && token.length <= 300 && token.includes('.', 1)) || token.includes('/')) found.add(token)
}

const inline = /\]\(\s*(?:<([^>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))/g
const reference = /^ {0,3}\[[^\]\n]+\]:[ \t]*(?:<([^>\n]*)>|(\S+))/gm

function linksOf(path: string, text: string): readonly string[] {
  if (!/\.mdx?$/i.test(path)) return []
  const folder = folderOf(path)
  const found = new Set<string>()
  for (const pattern of [inline, reference]) {
    for (const match of text.matchAll(pattern)) {
      const target = (match[1] ?? match[2] ?? '').replace(/[?#].*$/, '')
      if (target === '' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) continue
      const plain = decodePercent(target) ?? target
      const resolved = plain.startsWith('/') ? resolvePath('', plain.slice(1)) : resolvePath(folder, plain)
      if (resolved !== '' && !resolved.startsWith('..')) found.add(resolved)
    }
  }
  return [...found].slice(0, maxItems)
}

function wordsOf(path: string, text: string): readonly string[] {
  if (!text.includes('`')) return []
  const found = new Set<string>()
  const spans = /\.mdx?$/i.test(path) ? markdownSpans(text) : [...text.matchAll(/``?([^`\n]{1,300})``?/g)].map(match => match[1]!)
  for (const span of spans) {
    for (const match of span.matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]{3,}/gu)) found.add(match[0])
  }
  return [...found].slice(0, maxItems)
}

function markdownSpans(text: string): readonly string[] {
  return blocks(text).flatMap(block => codeSpans(text, block).map(span => span.content))
}

/** Whole word, where a word may hold `$` and letters of every script. */
export function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isWordSign(text[at - 1]) && !isWordSign(text[at + word.length])) return true
  }
  return false
}

const isWordSign = (sign: string | undefined) => sign !== undefined && /[\p{ID_Continue}$]/u.test(sign)

/** May a file be known by its base name alone? */
export function isTelling(path: string): boolean {
  const name = baseName(path)
  return name.length >= 6 && extensionOf(name) !== ''
}
