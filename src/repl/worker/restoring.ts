/** Names come back: fixed ones from their entries, the others from the bytes of their components. Each by itself: one that fails is lost and harms no other. */
import type { CompileRequest, ImportBinding, NameKind, Program } from '../compile/program.ts'
import type { SessionNames } from '../compile/runtime.ts'
import { type Graph, type GraphObject, isGraphObject } from '../values/graph.ts'
import { materialize, partsOf } from '../values/materialize.ts'
import { parseGraph } from '../values/parse.ts'
import type { Realm } from '../values/realm.ts'
import type { Bindings } from './bindings.ts'
import type { Captured } from './captured.ts'
import type { ModuleExports } from './module-exports.ts'
import type { Modules } from './modules.ts'
import type { Platform } from './platform.ts'
import type { FromWorker, RestoredComponent, RestoredFixed, RestoreMessage } from './protocol.ts'
import type { SourceLiterals } from './source-literals.ts'
import type { FixedEntry, LostReason } from './tape.ts'

declare const captured: Captured

/** Larger components are made when one of their names is read. */
const lazyBytes = 1024 * 1024

type Status = Extract<FromWorker, { t: 'restored' }>['names'][number]

export interface RestoringParts {
  readonly names: SessionNames
  readonly bindings: Bindings
  readonly literals: SourceLiterals
  readonly exports: ModuleExports
  readonly platform: Platform
  readonly modules: Modules
  readonly realm: Realm
  /** Functions and classes that were made again, by the cell that declared them and by name. */
  readonly made: Map<number, Map<string, object>>
  /** Components that nobody has read yet, by name. */
  readonly unread: Map<
    string,
    { readonly names: readonly string[]; readonly hash: string; readonly cells: readonly number[]; readonly bytes: number }
  >
  /** `known`: names that may hide ones of the platform. */
  compile(request: Pick<CompileRequest, 'cell' | 'source' | 'known'>): Promise<Program | undefined>
  /** Run what may load modules, so that what they touch is refused. */
  guarded<T>(run: () => Promise<T>): Promise<T>
  /** Remembers the outcome of a promise that was made again. */
  settled(promise: object, as: 'fulfilled' | 'rejected', value: unknown): void
}

export interface Restoring {
  give(hash: string, bytes: Uint8Array): void
  restore(message: RestoreMessage): Promise<readonly Status[]>
}

export function createRestoring(parts: RestoringParts): Restoring {
  const { names, bindings, literals, exports, platform, modules, realm, unread } = parts
  const blobs = new Map<string, Uint8Array>()

  async function restore({ sources, fixed, components, lost }: RestoreMessage): Promise<readonly Status[]> {
    const known = new Map([...fixed, ...components.flatMap(each => each.names)].map(({ name, kind }) => [name, kind]))
    for (const { cell, source } of sources) {
      const program = await parts.compile({ cell, source, known })
      if (program !== undefined) literals.learn(program)
    }
    for (const { name, cell, reason } of lost) bindings.lost.set(name, { cell, reason, before: undefined })
    const statuses: Status[] = []
    parts.made.clear()
    for (const each of fixed) statuses.push(await restoreFixed(each))
    const cells = sources.map(each => each.cell).sort((a, b) => a - b)
    for (const each of components) statuses.push(...(await restoreComponent(each, cells)))
    blobs.clear()
    return statuses
  }

  async function restoreFixed({ name, kind, cell, entry }: RestoredFixed): Promise<Status> {
    try {
      return await bindEntry(name, kind, cell, entry)
    } catch (error) {
      return {
        name,
        status: 'lost',
        reason: entry.of === 'import' ? 'module-effect' : 'closure-effect',
        detail: messageOf(error),
      }
    }
  }

  async function bindEntry(name: string, kind: NameKind, cell: number, entry: FixedEntry): Promise<Status> {
    switch (entry.of) {
      case 'primitive': {
        const graph = parseGraph(captured.fromBase64(entry.value))
        names.bind(name, kind, materialize(graph, realm, { resolve: () => undefined }).value)
        bindings.restored(name)
        return { name, status: 'snapshot' }
      }
      case 'source': {
        const value = literals.makeAt(entry)
        if (value === undefined) return { name, status: 'lost', reason: 'closure-effect', detail: 'its source is not there' }
        nameFunction(value, entry.as ?? name)
        const others = parts.made.get(cell)
        if (others === undefined) parts.made.set(cell, new Map([[name, value]]))
        else others.set(name, value)
        names.bind(name, kind, value)
        bindings.restored(name)
        return { name, status: 'exact' }
      }
      default:
        if (entry.effect) return { name, status: 'lost', reason: 'module-effect' }
        await bindImport(name, entry)
        return { name, status: entry.builtin ? 'exact' : 'replayed' }
    }
  }

  async function bindImport(
    name: string,
    { url, export: imported }: { readonly url: string; readonly export: string },
  ): Promise<void> {
    const binding: ImportBinding = { local: name, imported, optional: false }
    const isJson = /\.json(?:[?#]|$)/.test(url)
    const how = isJson ? ' with {"type":"json"}' : ''
    const from = `${JSON.stringify(url)}${how};`
    const source = imported === '*' ? `export * as b0 from ${from}` : `export {${JSON.stringify(imported)} as b0} from ${from}`
    const { namespace } = await parts.guarded(() => modules.link(source))
    names.bindImport(binding, () => namespace['b0'])
    bindings.imports.set(name, { url, export: imported })
  }

  async function restoreComponent({ hash, names: wanted }: RestoredComponent, cells: readonly number[]): Promise<Status[]> {
    const bytes = blobs.get(hash)
    const all = (reason: LostReason, detail?: string): Status[] =>
      wanted.map(({ name }) => ({ name, status: 'lost', reason, ...(detail !== undefined && { detail }) }))
    if (bytes === undefined) return all('blob-missing')
    try {
      if (bytes.length > lazyBytes && !hasModules(bytes)) return bindLater(hash, bytes, wanted, cells)
      const graph = parseGraph(bytes)
      await loadModules(graph)
      return await bindComponent(graph, wanted)
    } catch (error) {
      return all('blob-missing', messageOf(error))
    }
  }

  /** Values of all names in the graph, and which of them have parts that could not be made. */
  function make(graph: Graph): {
    readonly values: Map<string, unknown>
    readonly broken: ReadonlyMap<string, { reason: string; detail: string }>
  } {
    const rootNames = rootOf(graph)
    bindSources(graph, rootNames)
    const { value, lost } = materialize(graph, realm, {
      resolve: reference => {
        switch (reference.of) {
          case 'source':
            return literals.make(reference.payload)
          case 'path':
            return platform.at(JSON.parse(reference.payload) as string[]) as object | undefined
          default:
            return exports.resolve(reference.payload) as object | undefined
        }
      },
      settled: parts.settled,
    })
    const values = new Map<string, unknown>()
    for (const name of rootNames.keys()) values.set(name, Reflect.getOwnPropertyDescriptor(value as object, name)?.value)
    const broken = new Map<string, { reason: string; detail: string }>()
    for (const { path, type, reason } of lost) {
      const name = String(path[0])
      if (!broken.has(name)) broken.set(name, { reason, detail: `${path.join('.')}: ${type}` })
    }
    return { values, broken }
  }

  /** Functions and classes first, oldest first: a class needs the one above it by name. */
  function bindSources(graph: Graph, root: ReadonlyMap<string, Graph>): void {
    const found: {
      readonly cell: number
      readonly start: number
      readonly payload: string
      readonly name: string | undefined
    }[] = []
    const rootNames = new Map([...root].map(([name, value]) => [value, name]))
    eachObject(graph, object => {
      if (object.kind !== 'reference' || object.of !== 'source') return
      const { cell, start } = JSON.parse(object.payload) as { readonly cell: number; readonly start: number }
      found.push({ cell, start, payload: object.payload, name: rootNames.get(object) })
    })
    found.sort((a, b) => a.cell - b.cell || a.start - b.start)
    for (const { payload, name } of found) {
      if (name === undefined || names.kinds.has(name)) continue
      const value = literals.make(payload)
      if (value !== undefined && payload.includes('"once":true')) names.bind(name, 'let', value)
    }
  }

  async function bindComponent(graph: Graph, wanted: RestoredComponent['names']): Promise<Status[]> {
    const root = rootOf(graph)
    const { values, broken } = make(graph)
    const statuses: Status[] = []
    for (const { name, kind } of wanted) {
      const part = root.get(name)
      if (part === undefined && !root.has(name)) {
        statuses.push({ name, status: 'lost', reason: 'blob-missing' })
        continue
      }
      if (kind === 'import' && isGraphObject(part!) && part.kind === 'reference' && part.of === 'import') {
        statuses.push(await restoreImport(name, part.payload))
        continue
      }
      const fault = broken.get(name)
      if (fault !== undefined) {
        names.remove(name)
        statuses.push({
          name,
          status: 'lost',
          reason: fault.reason === 'missing' ? 'module-effect' : 'closure-effect',
          detail: fault.detail,
        })
        continue
      }
      names.bind(name, kind, values.get(name))
      statuses.push({ name, status: 'snapshot' })
    }
    return statuses
  }

  async function restoreImport(name: string, payload: string): Promise<Status> {
    const origin = JSON.parse(payload) as { readonly url: string; readonly export: string }
    try {
      await bindImport(name, origin)
      return { name, status: origin.url.startsWith('node:') ? 'exact' : 'replayed' }
    } catch (error) {
      return { name, status: 'lost', reason: 'module-effect', detail: messageOf(error) }
    }
  }

  function bindLater(hash: string, bytes: Uint8Array, wanted: RestoredComponent['names'], cells: readonly number[]): Status[] {
    const kept = { names: wanted.map(each => each.name).sort(), hash, cells, bytes: bytes.length }
    for (const { name } of wanted) unread.set(name, kept)
    names.bindLazily(wanted, () => {
      for (const { name } of wanted) unread.delete(name)
      return make(parseGraph(bytes)).values
    })
    return wanted.map(({ name }) => ({ name, status: 'snapshot' }))
  }

  /** Of the project and of packages; those of the platform are there. */
  async function loadModules(graph: Graph): Promise<void> {
    const urls = new Set<string>()
    eachObject(graph, object => {
      if (object.kind === 'reference' && (object.of === 'import' || object.of === 'module'))
        urls.add(exports.urlOf(object.payload))
    })
    for (const url of urls) {
      if (url.startsWith('node:')) continue
      try {
        const { namespace } = await parts.guarded(() => modules.load(url))
        exports.note(url, namespace)
      } catch {
        // What needs it is lost, and told.
      }
    }
  }

  return {
    give: (hash, bytes) => void blobs.set(hash, bytes),
    restore,
  }
}

/** The properties of a component's root. */
function rootOf(graph: Graph): ReadonlyMap<string, Graph> {
  const root = new Map<string, Graph>()
  if (!isGraphObject(graph) || graph.kind !== 'object') return root
  const { keys, values } = graph.properties
  for (const [index, key] of keys.entries()) if (typeof key === 'string') root.set(key, values[index] as Graph)
  return root
}

function eachObject(root: Graph, see: (object: GraphObject) => void): void {
  const met = new Set<GraphObject>()
  const stack: Graph[] = [root]
  for (let next = stack.pop(); stack.length > 0 || next !== undefined; next = stack.pop()) {
    if (next === undefined || !isGraphObject(next) || met.has(next)) continue
    met.add(next)
    see(next)
    for (const [part] of partsOf(next)) stack.push(part)
  }
}

/** An anonymous function has its name from what it was bound to first. */
function nameFunction(value: object, name: string): void {
  const own = Reflect.getOwnPropertyDescriptor(value, 'name')
  if (own?.value !== name && own?.configurable === true) Reflect.defineProperty(value, 'name', { ...own, value: name })
}

const messageOf = (error: unknown): string => {
  const message =
    typeof error === 'object' && error !== null ? Reflect.getOwnPropertyDescriptor(error, 'message')?.value : undefined
  return typeof message === 'string' ? message.slice(0, 200) : 'it failed'
}

const fileUrl = new TextEncoder().encode('"file:')

/** The bytes refer to modules that have to be loaded first. */
function hasModules(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(fileUrl[0]!); at >= 0; at = bytes.indexOf(fileUrl[0]!, at + 1))
    if (fileUrl.every((byte, index) => bytes[at + index] === byte)) return true
  return false
}
