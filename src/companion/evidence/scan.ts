/**
 * What the project's files say, read once and kept by their stamps: imports of code, names that it
 * exports, words of documents. From them the maps that a judged call asks.
 */
import type { CompanionDeps } from '../deps.ts'
import { createResolver, type Resolver } from '../imports/resolve.ts'
import { scanJavaScript, scriptsOf } from '../imports/scan-javascript.ts'
import { type PythonImport, scanJava, scanPython } from '../imports/scan-others.ts'
import { codeLanguage } from '../kinds.ts'
import { byCodePoint } from '../names.ts'
import { createPace } from '../pace.ts'
import type { Packages } from '../packages.ts'
import type { Tree } from '../tree.ts'
import { exportedNames } from './exports.ts'
import { isTelling, maxDocumentBytes, type Spoken, saysNothing, spokenIn } from './mentions.ts'

const maxCodeBytes = 256 * 1024
const decoder = new TextDecoder()
const encoder = new TextEncoder()
const header = JSON.stringify(['scan', 1])
const maxKeptBytes = 64 * 1024 * 1024

/** What one file says by itself. */
interface Said {
  /** Size and time of change. */
  readonly stamp: string
  /** Specifiers of scripts, dotted names of Java. */
  readonly imports?: readonly string[]
  readonly python?: readonly PythonImport[]
  readonly exports?: readonly string[]
  readonly spoken?: Spoken
}

export interface Reached {
  readonly test: string
  readonly depth: 1 | 2
  /** Tests that reach the file at this depth. */
  readonly fan: number
  readonly via?: string
}

export interface Spoke {
  readonly document: string
  readonly how: 'path' | 'basename'
  readonly name: string
  /** Project paths that the document names. */
  readonly names: number
}

export interface Scan {
  readonly files: number
  readonly documents: number
  /** Tests that import a file, directly or through one file that is no test. */
  testsOf(path: string): readonly Reached[]
  /** Documents that name a file. */
  spokenOf(path: string): readonly Spoke[]
  /** Names that only this source exports, with the documents that have them in a code span. */
  symbolsOf(path: string): readonly { readonly symbol: string; readonly documents: readonly string[] }[]
  /** Look at a file again: it was written, made or removed. */
  update(path: string): void
  save(): Promise<void>
}

export async function scanProject(
  deps: Pick<CompanionDeps, 'root' | 'files' | 'cache'>,
  tree: Tree,
  packages: Packages,
): Promise<Scan> {
  const cache = deps.cache('scan.bin')
  const before = decode(cache.load(header))
  const said = new Map<string, Said>()
  let dirty = before === undefined
  const pace = createPace()
  const buffer = new Uint8Array(maxDocumentBytes)
  for (const path of tree.paths()) {
    const kind = tree.kind(path)
    if (kind !== 'source' && kind !== 'test' && kind !== 'support' && kind !== 'doc') continue
    const found = sayOf(deps, path, kind === 'doc', before?.get(path), buffer)
    if (found !== undefined) said.set(path, found)
    if (found !== before?.get(path)) dirty = true
    const rest = pace.rest()
    if (rest !== undefined) await rest
  }
  const scan = createScan(deps, tree, packages, said)
  await scan.build(pace)
  return {
    ...scan,
    get files() {
      return scan.files
    },
    get documents() {
      return scan.documents
    },
    update(path) {
      dirty = true
      scan.update(path)
    },
    async save() {
      if (!dirty) return
      dirty = false
      const body = encoder.encode(JSON.stringify([...said]))
      if (body.length <= maxKeptBytes) await cache.save(header, body)
    },
  }
}

function createScan(deps: Pick<CompanionDeps, 'root' | 'files'>, tree: Tree, packages: Packages, said: Map<string, Said>) {
  let resolver: Resolver = createResolver(deps, tree, packages)
  const targets = new Map<string, readonly string[]>()
  const importers = new Map<string, Set<string>>()
  /** Files with an import that means nothing yet. */
  const dangling = new Set<string>()
  const exporters = new Map<string, Set<string>>()
  const byToken = new Map<string, Set<string>>()
  const byLink = new Map<string, Set<string>>()
  const byWord = new Map<string, Set<string>>()
  const named = new Map<string, { readonly version: number; readonly count: number }>()
  let documents = 0

  function link(path: string, found: Said): void {
    const to = new Set<string>()
    let isDangling = false
    const add = (paths: readonly string[], isOwn: boolean) => {
      for (const each of paths) if (each !== path) to.add(each)
      if (paths.length === 0 && isOwn) isDangling = true
    }
    for (const one of found.imports ?? []) {
      if (codeLanguage(path) === 'java') add(resolver.java(path, one), false)
      else add(resolver.script(path, one), one.startsWith('.'))
    }
    for (const one of found.python ?? []) add(resolver.python(path, one), true)
    targets.set(path, [...to])
    for (const each of to) put(importers, each, path)
    if (isDangling) dangling.add(path)
  }

  function learn(path: string, found: Said): void {
    if (found.imports !== undefined || found.python !== undefined) link(path, found)
    if (tree.kind(path) === 'source') for (const name of found.exports ?? []) put(exporters, name, path)
    const { spoken } = found
    if (spoken === undefined) return
    documents++
    for (const token of spoken.tokens) put(byToken, token, path)
    for (const target of spoken.links) put(byLink, target, path)
    for (const word of spoken.words) put(byWord, word, path)
  }

  function unlink(path: string): void {
    for (const each of targets.get(path) ?? []) importers.get(each)?.delete(path)
    targets.delete(path)
    dangling.delete(path)
  }

  function forget(path: string): void {
    const found = said.get(path)
    if (found === undefined) return
    said.delete(path)
    unlink(path)
    for (const name of found.exports ?? []) exporters.get(name)?.delete(path)
    named.delete(path)
    if (found.spoken === undefined) return
    documents--
    for (const token of found.spoken.tokens) byToken.get(token)?.delete(path)
    for (const target of found.spoken.links) byLink.get(target)?.delete(path)
    for (const word of found.spoken.words) byWord.get(word)?.delete(path)
  }

  /** Project paths that a document names. */
  function namesIn(document: string): number {
    const known = named.get(document)
    if (known?.version === tree.version) return known.count
    const { tokens, links } = said.get(document)?.spoken ?? saysNothing
    const paths = new Set<string>()
    for (const token of tokens) {
      const path = token.includes('/') ? (tree.has(token) ? token : undefined) : byBaseName(token)
      if (path !== undefined) paths.add(path)
    }
    for (const target of links) if (tree.has(target)) paths.add(target)
    named.set(document, { version: tree.version, count: paths.size })
    return paths.size
  }

  function byBaseName(name: string): string | undefined {
    if (!isTelling(name)) return undefined
    const all = tree.withBaseName(name)
    return all.size === 1 ? [...all][0] : undefined
  }

  return {
    get files() {
      return targets.size
    },
    get documents() {
      return documents
    },
    async build(pace: ReturnType<typeof createPace>): Promise<void> {
      for (const [path, found] of said) {
        learn(path, found)
        const rest = pace.rest()
        if (rest !== undefined) await rest
      }
    },
    testsOf(path: string): readonly Reached[] {
      const direct: string[] = []
      const through = new Map<string, string>()
      for (const importer of importers.get(path) ?? []) {
        if (tree.kind(importer) === 'test') direct.push(importer)
        else {
          for (const outer of importers.get(importer) ?? []) {
            if (tree.kind(outer) !== 'test') continue
            const known = through.get(outer)
            if (known === undefined || byCodePoint(importer, known) < 0) through.set(outer, importer)
          }
        }
      }
      for (const test of direct) through.delete(test)
      return [
        ...direct.map(test => ({ test, depth: 1 as const, fan: direct.length })),
        ...[...through].map(([test, via]) => ({ test, depth: 2 as const, fan: through.size, via })),
      ]
    },
    spokenOf(path: string): readonly Spoke[] {
      const found = new Map<string, Spoke>()
      const add = (document: string, how: Spoke['how'], name: string) => {
        if (document !== path && !found.has(document)) found.set(document, { document, how, name, names: namesIn(document) })
      }
      for (const document of byLink.get(path) ?? []) add(document, 'path', path)
      if (path.includes('/')) for (const document of byToken.get(path) ?? []) add(document, 'path', path)
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (byBaseName(name) === path) for (const document of byToken.get(name) ?? []) add(document, 'basename', name)
      return [...found.values()]
    },
    symbolsOf(path: string) {
      return (said.get(path)?.exports ?? []).flatMap(symbol => {
        const all = byWord.get(symbol)
        if (all === undefined || all.size === 0 || exporters.get(symbol)?.size !== 1) return []
        return [{ symbol, documents: [...all] }]
      })
    },
    update(path: string): void {
      const wasThere = said.has(path)
      forget(path)
      if (/(?:^|\/)(?:tsconfig[^/]*\.json|package\.json)$/.test(path)) resolver = createResolver(deps, tree, packages)
      if (tree.has(path)) {
        const kind = tree.kind(path)
        if (kind === 'source' || kind === 'test' || kind === 'support' || kind === 'doc') {
          const found = sayOf(deps, path, kind === 'doc', undefined)
          if (found !== undefined) {
            said.set(path, found)
            learn(path, found)
          }
        }
      } else {
        // Who meant the file that is gone may mean another one now.
        for (const importer of [...(importers.get(path) ?? [])]) relink(importer)
      }
      if (!wasThere && tree.has(path)) for (const each of [...dangling]) relink(each)
    },
  }

  function relink(path: string): void {
    const found = said.get(path)
    if (found === undefined) return
    unlink(path)
    link(path, found)
  }
}

function sayOf(
  { root, files }: Pick<CompanionDeps, 'root' | 'files'>,
  path: string,
  isDocument: boolean,
  before: Said | undefined,
  into?: Uint8Array,
): Said | undefined {
  try {
    const absolute = `${root}/${path}`
    const stat = files.lstat(absolute)
    if (stat?.kind !== 'file') return undefined
    const stamp = `${stat.size} ${stat.mtimeNs}`
    if (before?.stamp === stamp) return before
    const limit = isDocument ? maxDocumentBytes : maxCodeBytes
    if (stat.size > limit) return { stamp }
    const bytes = files.read(absolute, limit, into === undefined ? undefined : { size: stat.size, into })
    // A binary file with the extension of a text.
    if (bytes.subarray(0, 8_000).includes(0)) return { stamp }
    const text = decoder.decode(bytes)
    return isDocument ? { stamp, spoken: spokenIn(path, text) } : { stamp, ...codeOf(path, text) }
  } catch {
    return undefined
  }
}

function codeOf(path: string, text: string): Omit<Said, 'stamp'> {
  const exports = exportedNames(path, text)
  switch (codeLanguage(path)) {
    case 'js':
      return { exports, imports: scanJavaScript(/\.(?:vue|svelte)$/.test(path) ? scriptsOf(text) : text) }
    case 'python':
      return { exports, python: scanPython(text) }
    case 'java':
      return { exports, imports: scanJava(text) }
    default:
      return { exports }
  }
}

function decode(body: Uint8Array | undefined | 'rebuilt'): Map<string, Said> | undefined {
  if (body === undefined || body === 'rebuilt') return undefined
  try {
    const json: unknown = JSON.parse(decoder.decode(body))
    return Array.isArray(json) ? new Map(json as [string, Said][]) : undefined
  } catch {
    return undefined
  }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, new Set([value]))
  else known.add(value)
}
