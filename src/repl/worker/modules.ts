/**
 * How cells load modules: from the current directory, with the platform's own loader. One import declaration becomes a small module of its own that
 * names what it wants, so that a missing export is found before anything is evaluated.
 */
import { isRefusedModule } from '../compile/modules.ts'
import type { Captured } from './captured.ts'

declare const captured: Captured

export interface Linked {
  readonly namespace: Readonly<Record<string, unknown>>
  /** What the declaration's specifier was resolved to: `node:…` or a URL. */
  readonly url: string
}

export interface Modules {
  /** Load a link module of this text and give its namespace. */
  link(source: string): Promise<Linked>
  /** The namespace of a module that has been loaded, or loads it. Rejects as loading does. */
  load(url: string): Promise<{ readonly namespace: object }>
  /** `require` of cells, resolving from the directory of now. */
  readonly require: unknown
}

/** Packages stay as they are under a session; files of the project do not. */
export const isOfProject = (url: string): boolean => url.startsWith('file:') && !url.includes('/node_modules/')

export interface ModuleWatch {
  /** Asked for, in whatever way, before it is looked for. */
  asked(specifier: string): void
  /** Loaded for the first time, but for modules of the platform. */
  loaded(url: string): void
}

export function createModules(watch: ModuleWatch): Modules {
  const links = new Map<string, string>()
  const targets = new Map<string, string>()
  let count = 0
  const refuse = (specifier: string): void => {
    if (isRefusedModule(specifier))
      throw captured.realm.makeError('Error', `The module '${specifier}' cannot be used in a cell.`, { code: 'OUT-C002' })
  }
  captured.hookModules({
    ask: specifier => {
      refuse(specifier)
      watch.asked(specifier)
    },
    link: url => links.get(url),
    resolved: (_, parent, url) => {
      if (parent !== undefined && links.has(parent)) targets.set(parent, url)
    },
    loaded: url => {
      if (!url.startsWith('node:')) watch.loaded(url)
    },
  })
  return {
    link: source =>
      new Promise((resolve, reject) => {
        const url = `${captured.linkUrl('cell')}?outrigger-link=${++count}`
        links.set(url, source)
        const done =
          <T>(then: (result: T) => void) =>
          (result: T): void => {
            // The loader holds what it has loaded.
            links.delete(url)
            then(result)
            targets.delete(url)
          }
        // A namespace can have an export named `then`, which must not be called.
        captured.realm.importModule(
          url,
          done(namespace => resolve({ namespace, url: targets.get(url) ?? '' })),
          done(reject),
        )
      }),
    load: url =>
      new Promise((resolve, reject) => {
        // A namespace can have an export named `then`.
        captured.realm.importModule(url, namespace => resolve({ namespace }), reject)
      }),
    require: makeRequire(),
  }
}

function makeRequire(): unknown {
  const { realm } = captured
  let at: { readonly folder: string; readonly require: NodeJS.Require } | undefined
  const now = (): NodeJS.Require => {
    const folder = captured.cwd()
    if (at?.folder !== folder) at = { folder, require: captured.requireAt(folder) }
    return at.require
  }
  const own = realm.makeFunction('require', given => now()(given[0] as string))
  const first = now()
  Object.defineProperty(own, 'resolve', {
    value: Object.assign(
      realm.makeFunction('resolve', given => now().resolve(given[0] as string, given[1] as never)),
      { paths: realm.makeFunction('paths', given => now().resolve.paths(given[0] as string)) },
    ),
    configurable: true,
    enumerable: true,
    writable: true,
  })
  for (const name of ['cache', 'main', 'extensions'] as const)
    Object.defineProperty(own, name, { value: first[name], configurable: true, enumerable: true, writable: true })
  return own
}
