/**
 * From the text of an entry to the file it names. Spellings are a list of candidates in order: every way
 * to split the text at a `#`, then the same percent-decoded, then in the two Unicode forms; the first one
 * that is a regular file wins. Nothing is opened here: the world is asked for kinds only, and where
 * several files could be meant the caller lets the stamp decide (`chooseByStamp`).
 */
import type { Files } from '../ports/files.ts'
import type { Entry, RefMatch } from './types.ts'
import type { WikilinkMap } from './wikilinks.ts'

/** What a path is, links followed. `not-file`: a folder, pipe, device, socket, or a dangling or looping link. */
export type PathKind = 'file' | 'not-file' | 'missing' | 'unreadable'

/** What resolving asks of a project; callers may remember answers for the length of one sweep. */
export interface World {
  /** Absolute root in the host's form, without a separator at its end. */
  readonly root: string
  /** @param path - project-relative with `/`, or absolute. */
  kindOf(path: string): PathKind
  readonly wikilinks: WikilinkMap
}

export type Resolution =
  /** `others`: further files the ref could mean, tried when `path` does not accept the stamp. */
  | (Parts & {
      readonly kind: 'file'
      readonly path: string
      readonly match: RefMatch | null
      readonly others: readonly string[]
    })
  | (Parts & { readonly kind: 'not-file' | 'unreadable' | 'missing'; readonly path: string })
  /** A wikilink with no or several documents of its name. */
  | (Parts & { readonly kind: 'wikilinks'; readonly paths: readonly string[] })
  | (Parts & { readonly kind: 'url' })

interface Parts {
  /** In a resolution: the path as the entry spells it. In a candidate: in the spelling that is tried. */
  readonly ref: string
  /** In the spelling that is looked up. */
  readonly anchor: string | null
}

export interface Candidate extends Parts {
  /** `null`: as it was written. */
  readonly match: RefMatch | null
}

/** Text with more `#` than this, or longer than `maxTextChars`, is split as written only. */
const maxSplits = 32
const maxTextChars = 4096

/**
 * All readings of an entry's text as path and anchor, in the order they are tried; the textual split
 * (`entry.ref`, `entry.anchor`) is not among them unless it is one of these.
 */
export function* candidates(text: string): Generator<Candidate> {
  if (text.length > maxTextChars) return
  const seen = new Set<string>()
  for (const [match, spell] of spellings) {
    const spelled = spell(text)
    if (spelled === null || seen.has(spelled)) continue
    seen.add(spelled)
    for (const parts of splits(spelled)) yield { ...parts, match }
  }
}

/**
 * Find what an entry names.
 *
 * @param child - project-relative path of the document that declares it.
 * @param base - project-relative base folder, `''` for the root (`baseFolder`).
 */
export function resolveRef(entry: Entry, child: string, base: string, world: World): Resolution {
  const written = { ref: entry.ref, anchor: entry.anchor }
  switch (entry.kind) {
    case 'url':
      return { kind: 'url', ...written }
    case 'wikilink':
      return resolveWikilink(written, child, world)
    case 'path':
      return resolvePath(entry.text, written, child, base, world)
    default:
      return entry.kind satisfies never
  }
}

/**
 * Settle a resolution that a stamp can settle: of two places that a relative ref can mean the one that
 * accepts it, else the child's; of namesakes the only one that accepts it (`match: by-stamp`).
 *
 * @param accepts - does the content of this file at this anchor accept the stamp of the entry? Never
 * asked when there is nothing to settle; always `false` for entries without a hex stamp.
 */
export function chooseByStamp(resolution: Resolution, accepts: (path: string, anchor: string | null) => boolean): Resolution {
  if (resolution.kind === 'file') {
    if (resolution.others.length === 0) return resolution
    const fitting = [resolution.path, ...resolution.others].find(path => accepts(path, resolution.anchor))
    return { ...resolution, path: fitting ?? resolution.path, others: [] }
  }
  if (resolution.kind !== 'wikilinks') return resolution
  const fitting = resolution.paths.filter(path => accepts(path, resolution.anchor))
  if (fitting.length !== 1) return resolution
  return { kind: 'file', ref: resolution.ref, anchor: resolution.anchor, path: fitting[0]!, match: 'by-stamp', others: [] }
}

/** The nearest folder at or above the child that holds a `.stoa-keel.yml`, else the root (`''`). */
export function baseFolder(child: string, hasZoneFile: (folder: string) => boolean): string {
  let folder = folderOf(child)
  while (folder !== '' && !hasZoneFile(folder)) folder = folderOf(folder)
  return folder
}

/** The world of a real project: kinds by the files port, nothing remembered. */
export function createWorld(root: string, files: Files, wikilinks: WikilinkMap): World {
  return {
    root,
    wikilinks,
    kindOf(path) {
      // Names that no system holds are not there; asking for them would be an error of its own.
      if (path === '' || path.includes('\0') || path.split('/').some(segment => segment.length > 255)) return 'missing'
      if (hasDrive(path) && !hasDrive(root)) return 'missing'
      const absolute = isAbsolute(path) ? path : `${root}/${path}`
      try {
        const stat = files.stat(absolute)
        if (stat !== undefined) return stat.kind === 'file' ? 'file' : 'not-file'
        return files.lstat(absolute) === undefined ? 'missing' : 'not-file'
      } catch {
        // The port throws only when it may not look.
        return 'unreadable'
      }
    },
  }
}

const spellings: readonly (readonly [RefMatch | null, (text: string) => string | null])[] = [
  [null, text => text],
  ['decoded', percentDecoded],
  ['unicode', text => text.normalize('NFC')],
  ['unicode', text => text.normalize('NFD')],
]

function percentDecoded(text: string): string | null {
  if (!text.includes('%')) return null
  try {
    return decodeURIComponent(text)
  } catch {
    // URIError: not percent-encoded UTF-8.
    return null
  }
}

/** `<path>#anchor` as its brackets say; then the whole text, then each `#` from the last to the first. */
function* splits(text: string): Generator<Parts> {
  const bracketed = /^<([^>]*)>(?:#(.*))?$/su.exec(text)
  if (bracketed !== null) yield { ref: bracketed[1]!, anchor: bracketed[2] ?? null }
  yield { ref: text, anchor: null }
  let at = text.lastIndexOf('#')
  for (let n = 0; at > 0 && n < maxSplits; n += 1) {
    yield { ref: text.slice(0, at), anchor: text.slice(at + 1) }
    at = text.lastIndexOf('#', at - 1)
  }
}

function resolveWikilink(parts: Parts, child: string, world: World): Resolution {
  if (parts.ref === '') return { kind: 'file', ...parts, path: child, match: null, others: [] }
  const paths = world.wikilinks.find(parts.ref)
  if (paths.length !== 1) return { kind: 'wikilinks', ...parts, paths }
  const path = paths[0]!
  const kind = world.kindOf(path)
  return kind === 'file' ? { kind, ...parts, path, match: null, others: [] } : { kind, ...parts, path }
}

function resolvePath(text: string, written: Parts, child: string, base: string, world: World): Resolution {
  let blocked: Resolution | undefined
  for (const { ref, anchor, match } of candidates(text)) {
    const seen = placesOf(ref, child, base, world).map(path => ({ path, kind: world.kindOf(path) }))
    const [first, ...others] = seen.filter(place => place.kind === 'file').map(place => place.path)
    const spelled = () => refAsWritten(text, ref, match) ?? written.ref
    if (first !== undefined) return { kind: 'file', ref: spelled(), anchor, path: first, match, others }
    const there = seen.find(place => place.kind !== 'missing')
    if (there !== undefined && there.kind !== 'file') blocked ??= { kind: there.kind, ref: spelled(), anchor, path: there.path }
  }
  if (blocked !== undefined) return blocked
  const path = placesOf(written.ref, child, base, world)[0] ?? written.ref
  return { kind: 'missing', ...written, path }
}

/** The part of the text that reads as this ref; `undefined` when its end is no `#` of the text, as with `%23`. */
function refAsWritten(text: string, ref: string, match: RefMatch | null): string | undefined {
  if (match === null) return ref
  const spells = spellings.filter(spelling => spelling[0] === match).map(spelling => spelling[1])
  return [...splits(text)].find(parts => spells.some(spell => (spell(parts.ref) ?? parts.ref) === ref))?.ref
}

/** Paths that a ref can mean, nearest first, each once. A `\` is read as `/` where the literal name does not exist. */
function placesOf(ref: string, child: string, base: string, world: World): readonly string[] {
  if (ref === '') return []
  const literal = foldersOf(ref, child, base).map(folder => locate(folder, ref, world.root))
  if (!ref.includes('\\')) return distinct(literal)
  const slashed = ref.replaceAll('\\', '/')
  const lenient = foldersOf(slashed, child, base).map(folder => locate(folder, slashed, world.root))
  const isThere = literal.some(path => world.kindOf(path) !== 'missing')
  return distinct(isThere ? literal : [...lenient, ...literal])
}

function foldersOf(ref: string, child: string, base: string): readonly string[] {
  return /^\.\.?(?:\/|$)/u.test(ref) ? [folderOf(child), base] : [base]
}

/** Project-relative when inside the project, else absolute; `.` and `..` are resolved. */
function locate(folder: string, ref: string, root: string): string {
  const plainRoot = hasDrive(root) || root.startsWith('\\\\') ? root.replaceAll('\\', '/') : root
  const joined = isAbsolute(ref) ? ref : [plainRoot, folder, ref].filter(part => part !== '').join('/')
  const path = withoutDots(hasDrive(joined) ? joined.replaceAll('\\', '/') : joined)
  if (path === plainRoot) return '.'
  const prefix = plainRoot.endsWith('/') ? plainRoot : plainRoot + '/'
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}

function withoutDots(path: string): string {
  const head = /^(?:[A-Za-z]:)?\/*/u.exec(path)![0]
  const kept: string[] = []
  for (const segment of path.slice(head.length).split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  return head + kept.join('/')
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || hasDrive(path)
}

function hasDrive(path: string): boolean {
  return /^[A-Za-z]:[\\/]/u.test(path)
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function distinct(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)]
}
