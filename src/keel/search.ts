/**
 * Where a source or an anchor that is gone may be now. Only in full sweeps and commands; turns live on
 * the last answer. An answer holds while the files it was found among are the same.
 */
import { createHash } from 'node:crypto'
import { listAnchors, needsParser, prepareAnchor, viewAnchor } from './anchors.ts'
import type { Core } from './core.ts'
import { searchKey } from './facts.ts'
import { accepts } from './forms.ts'
import { readOrNull } from './history.ts'
import { isDocumentName, listDocuments } from './listing.ts'
import { createPace, type Pace } from './pace.ts'
import { absoluteOf } from './places.ts'
import { normOf, parsedDocument } from './read-target.ts'
import { diceOf, shinglesOf } from './similar.ts'
import { spell } from './spell.ts'
import type { AnchorView, Edge, Hex12, RefreshOptions, Suggestion } from './types.ts'

/** Edges that one sweep searches for, of each kind. */
export const maxSearched: number = 50
const maxSearchMs = 1000
const maxFileBytes = 16 * 1024 * 1024
const maxRenameCommits = 200

/** Look for what is gone and remember the answers. @returns whether an answer is new. */
export async function searchGone(core: Core, edges: readonly Edge[], options: RefreshOptions): Promise<boolean> {
  const gone = edges.filter(edge => (edge.reason === 'source-missing' || edge.reason === 'source-moved') && edge.old !== null)
  const lost = edges.filter(edge => edge.reason === 'anchor-missing' && edge.old !== null && edge.target !== null)
  const budget = options.budgetMs === undefined || options.budgetMs === 0 ? 0 : Math.min(options.budgetMs, maxSearchMs)
  const pace = createPace(budget, options.signal)
  const moved = await searchSources(core, gone.slice(0, maxSearched), pace)
  const renamed = await searchRenames(core, gone)
  const anchors = await searchAnchors(core, lost.slice(0, maxSearched), pace)
  return moved || renamed || anchors
}

interface Wanted {
  readonly edge: Edge
  readonly stamp: Hex12
  readonly key: string
  readonly hits: string[]
}

async function searchSources(core: Core, edges: readonly Edge[], pace: Pace): Promise<boolean> {
  const byExtension = Map.groupBy(edges, edge => extensionOf(edge.kind === 'wikilink' ? 'x.md' : (edge.target ?? edge.ref)))
  let isNew = false
  for (const [extension, group] of byExtension) {
    const pool = poolOf(core, extension)
    const { searches } = core.memory()
    const wanted = group
      .map((edge): Wanted => ({ edge, stamp: edge.old!, key: searchKey(edge.id, edge.old!), hits: [] }))
      .filter(({ key }) => searches.get(key)?.signature !== pool.signature)
    if (wanted.length === 0) continue
    await searchIndex(core, wanted, new Set(pool.paths))
    const open = wanted.filter(({ hits }) => hits.length === 0)
    const isFinished = open.length === 0 || (await searchFiles(core, open, pool.paths, pace))
    for (const one of wanted) {
      if (one.hits.length === 0 && !isFinished) continue
      isNew = true
      searches.set(one.key, { signature: pool.signature, suggest: suggestSource(core, one) })
    }
  }
  return isNew
}

interface Pool {
  readonly paths: readonly string[]
  readonly signature: string
}

/** Files of one extension outside of ignored folders, and what tells whether they are still the same. */
function poolOf(core: Core, extension: string): Pool {
  const { files, root, config } = core.deps
  const hash = createHash('sha1').update(extension)
  if (isDocumentName(`x${extension}`)) {
    const { paths, size, mtimeNs, ctimeNs } = core.memory().documents.columns()
    hash.update(paths.join('\0'))
    for (const column of [size, mtimeNs, ctimeNs])
      hash.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength))
    return { paths: paths.filter(path => extensionOf(path) === extension), signature: hash.digest('hex') }
  }
  const listed = listDocuments(files, root, config, undefined, name => extensionOf(name) === extension)
  const paths = listed.documents.map(document => document.path).sort()
  for (const path of paths) {
    const stat = lookAt(core, path)
    hash.update(`${path}\0${stat?.size} ${stat?.mtimeNs} ${stat?.ctimeNs}\0`)
  }
  return { paths, signature: hash.digest('hex') }
}

function lookAt(core: Core, path: string): ReturnType<Core['deps']['files']['stat']> {
  try {
    return core.deps.files.stat(absoluteOf(core.deps.root, path))
  } catch {
    return undefined // it may not be looked at, so it is no candidate either
  }
}

/** Whole files by their id in git's index; each hit is verified by reading it. */
async function searchIndex(core: Core, wanted: readonly Wanted[], pool: ReadonlySet<string>): Promise<void> {
  const whole = wanted.filter(({ edge }) => edge.anchor === null)
  if (whole.length === 0) return
  const { git, root } = core.deps
  const entries = (await git.indexEntries(root)) ?? []
  const byStamp = Map.groupBy(whole, ({ stamp }) => stamp as string)
  for (const { path, id } of entries) {
    const same = pool.has(path) ? byStamp.get(id.slice(0, 12)) : undefined
    if (same === undefined) continue
    const bytes = readOrNull(core.deps.files, absoluteOf(root, path), maxFileBytes)
    for (const one of same) if (bytes !== null && (await fits(core, one, path, bytes))) one.hits.push(path)
  }
}

/** @returns `false` when there was no time to read them all. */
async function searchFiles(core: Core, wanted: readonly Wanted[], paths: readonly string[], pace: Pace): Promise<boolean> {
  for (const path of paths) {
    if (pace.isOver()) return false
    const bytes = readOrNull(core.deps.files, absoluteOf(core.deps.root, path), maxFileBytes)
    if (bytes === null) continue
    for (const one of wanted) if (await fits(core, one, path, bytes)) one.hits.push(path)
    await pace.rest()
  }
  return true
}

async function fits(core: Core, { edge, stamp }: Wanted, path: string, bytes: Uint8Array): Promise<boolean> {
  const { anchor } = edge
  if (anchor !== null && !mayHold(bytes, anchor)) return false
  if (needsParser(path, anchor)) await prepareAnchor(path, anchor)
  const view = viewAnchor(bytes, path, anchor, parsedDocument(path, bytes))
  return view.kind === 'found' && accepts(view.ids, stamp, core.deps.config.compare) !== null
}

/** The longest word of an anchor's name stands in the file, or the file is not worth parsing. */
function mayHold(bytes: Uint8Array, anchor: string): boolean {
  if (/^L\d/u.test(anchor)) return true
  const words = anchor.match(/[A-Za-z]+/gu) ?? []
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), '')
  if (longest === '') return true
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .toLowerCase()
    .includes(longest.toLowerCase())
}

/** The only file that accepts the stamp, or the only one of several with the old name. */
function suggestSource(core: Core, { edge, hits }: Wanted): Suggestion | null {
  const name = baseNameOf(edge.target ?? edge.ref)
  const named = hits.filter(path => baseNameOf(path) === name)
  const path = hits.length === 1 ? hits[0] : named.length === 1 ? named[0] : undefined
  return path === undefined ? null : suggestion(core, edge, path, 'content')
}

/** Renames that git knows, for sources whose content is not found. */
async function searchRenames(core: Core, edges: readonly Edge[]): Promise<boolean> {
  const { searches } = core.memory()
  const open = edges.filter(
    edge => edge.kind === 'path' && edge.target !== null && !searches.get(searchKey(edge.id, edge.old!))?.suggest,
  )
  if (open.length === 0) return false
  const { git, root } = core.deps
  const renames = (await git.renames(root, maxRenameCommits)) ?? []
  // Newest first: the first one of a name is where it went last.
  const next = new Map<string, string>()
  for (const { from, to } of renames) if (!next.has(from)) next.set(from, to)
  let isNew = false
  for (const edge of open) {
    const path = follow(next, edge.target!)
    if (path === undefined || lookAt(core, path)?.kind !== 'file') continue
    const key = searchKey(edge.id, edge.old!)
    searches.set(key, { signature: searches.get(key)?.signature ?? '', suggest: suggestion(core, edge, path, 'git') })
    isNew = true
  }
  return isNew
}

function follow(next: ReadonlyMap<string, string>, from: string): string | undefined {
  const seen = new Set([from])
  let at = next.get(from)
  while (at !== undefined && !seen.has(at)) {
    seen.add(at)
    const further = next.get(at)
    if (further === undefined) return at
    at = further
  }
  return at
}

function suggestion(core: Core, edge: Edge, path: string, basis: Suggestion['basis']): Suggestion {
  return { ref: spell(core, edge, path), anchor: edge.anchor, basis, score: 1 }
}

/** A section with another heading: the same body, or else one that is alike and no other nearly so. */
async function searchAnchors(core: Core, edges: readonly Edge[], pace: Pace): Promise<boolean> {
  const { searches, targets } = core.memory()
  let isNew = false
  for (const edge of edges) {
    const key = searchKey(edge.id, edge.old!)
    const signature = `anchor ${targets.get(edge.target!)?.raw ?? ''}`
    if (searches.get(key)?.signature === signature || !isDocumentName(edge.target!)) continue
    if (pace.isOver()) break
    const old = core.baseline().get(edge.old!)
    const suggest = old === undefined ? null : await findSection(core, edge, old)
    searches.set(key, { signature, suggest })
    isNew = true
    await pace.rest()
  }
  return isNew
}

async function findSection(core: Core, edge: Edge, old: Uint8Array): Promise<Suggestion | null> {
  const path = edge.target!
  const bytes = readOrNull(core.deps.files, absoluteOf(core.deps.root, path), maxFileBytes)
  if (bytes === null) return null
  const parsed = parsedDocument(path, bytes)
  const { anchors } = await listAnchors(bytes, path, parsed)
  const oldBody = bodyOf(old)
  const sections = anchors.flatMap(listed => {
    const names = [listed.anchor, `${listed.anchor} (${listed.ordinal})`, ...(listed.slug === null ? [] : [listed.slug])]
    for (const name of names) {
      const view: AnchorView = viewAnchor(bytes, path, name, parsed)
      if (view.kind === 'found' && view.span.start === listed.span.start) {
        return [{ name, body: bodyOf(normOf(bytes, path, view, parsed)) }]
      }
    }
    return []
  })
  const found = (name: string, basis: Suggestion['basis'], score: number): Suggestion => ({
    ref: edge.ref,
    anchor: name,
    basis,
    score,
  })
  const same = oldBody.trim() === '' ? [] : sections.filter(section => section.body === oldBody)
  if (same.length === 1) return found(same[0]!.name, 'content', 1)
  const wanted = shinglesOf(oldBody)
  const ranked = sections
    .map(({ name, body }) => ({ name, score: diceOf(wanted, shinglesOf(body)) }))
    .sort((a, b) => b.score - a.score)
  const [best, second] = ranked
  if (best === undefined || best.score < 0.6 || (second !== undefined && second.score > best.score - 0.15)) return null
  return found(best.name, 'similar', Math.round(best.score * 100) / 100)
}

/** A section without its heading, one or two lines. */
function bodyOf(section: Uint8Array): string {
  const lines = new TextDecoder().decode(section).split('\n')
  const isSetext = !/^ {0,3}#{1,6}(?:[ \t]|$)/u.test(lines[0] ?? '') && /^ {0,3}(?:=+|-+)[ \t]*$/u.test(lines[1] ?? '')
  return lines
    .slice(isSetext ? 2 : 1)
    .join('\n')
    .replace(/^\n+/u, '')
}

function extensionOf(path: string): string {
  return /\.[^./]*$/u.exec(path)?.[0].toLowerCase() ?? ''
}

function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
