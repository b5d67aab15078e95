/** From what a file writes behind `import` to the project's files that it means. */
import { extensionOf, folderOf, resolvePath } from '../../text/paths.ts'
import type { CompanionDeps } from '../deps.ts'
import { codeLanguage } from '../kinds.ts'
import type { Packages } from '../packages.ts'
import type { Tree } from '../tree.ts'
import type { PythonImport } from './scan-others.ts'

const added = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.vue', '.svelte']
const twins: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
}
const maxConfigBytes = 256 * 1024

interface Paths {
  readonly base: string | null
  readonly paths: readonly (readonly [pattern: string, to: readonly string[]])[]
  /** `paths` are relative to this. */
  readonly from: string
}

export interface Resolver {
  /** Files that a specifier of this file means; none for packages of others. */
  script(path: string, specifier: string): readonly string[]
  python(path: string, one: PythonImport): readonly string[]
  java(path: string, name: string): readonly string[]
}

export function createResolver(deps: Pick<CompanionDeps, 'root' | 'files'>, tree: Tree, packages: Packages): Resolver {
  const configs = new Map<string, Paths | null>()
  let workspaces: ReadonlyMap<string, string> | undefined
  let javaRoots: readonly string[] | undefined

  function file(path: string): string | null {
    if (path.startsWith('..')) return null
    if (tree.has(path)) return path
    const extension = extensionOf(path)
    for (const twin of twins[extension] ?? []) {
      const other = path.slice(0, -extension.length) + twin
      if (tree.has(other)) return other
    }
    for (const extra of added) if (tree.has(path + extra)) return path + extra
    if (tree.hasFolder(path)) {
      for (const extra of added) {
        const index = path === '' ? `index${extra}` : `${path}/index${extra}`
        if (tree.has(index)) return index
      }
    }
    return null
  }

  function script(path: string, specifier: string): readonly string[] {
    const plain = specifier.replace(/[?#].*$/, '')
    if (plain === '') return []
    const folder = folderOf(path)
    if (plain.startsWith('.')) {
      const target = resolvePath(folder, plain)
      return one(ofPackageFolder(target) ?? file(target))
    }
    if (plain.startsWith('/')) return []
    const mapped = byPaths(folder, plain)
    if (mapped !== null) return [mapped]
    return one(ofWorkspace(plain))
  }

  /** A path to a package's folder, as in `require('..')`, means what the package says that it is. */
  function ofPackageFolder(dir: string): string | null {
    if (dir.startsWith('..') || !tree.has(dir === '' ? 'package.json' : `${dir}/package.json`)) return null
    return entryOf(dir)
  }

  function byPaths(folder: string, specifier: string): string | null {
    const config = configOf(folder)
    if (config === null) return null
    const exact = config.paths.filter(([pattern]) => pattern === specifier)
    const wild = config.paths.filter(([pattern]) => pattern.includes('*')).sort(([a], [b]) => b.indexOf('*') - a.indexOf('*'))
    for (const [pattern, to] of [...exact, ...wild]) {
      const star = pattern.indexOf('*')
      const [head, tail] = star === -1 ? [pattern, ''] : [pattern.slice(0, star), pattern.slice(star + 1)]
      const fits =
        star === -1 || (specifier.length >= head.length + tail.length && specifier.startsWith(head) && specifier.endsWith(tail))
      if (!fits) continue
      const rest = star === -1 ? '' : specifier.slice(head.length, specifier.length - tail.length)
      for (const target of to) {
        const found = file(
          resolvePath(
            config.from,
            target.replace('*', () => rest),
          ),
        )
        if (found !== null) return found
      }
    }
    return config.base === null ? null : file(resolvePath(config.base, specifier))
  }

  /** The nearest `tsconfig.json`; what it lacks comes from the one it extends. */
  function configOf(folder: string): Paths | null {
    const known = configs.get(folder)
    if (known !== undefined) return known
    const path = folder === '' ? 'tsconfig.json' : `${folder}/tsconfig.json`
    const found = tree.has(path) ? readPaths(path, true) : folder === '' ? null : configOf(folderOf(folder))
    configs.set(folder, found)
    return found
  }

  function readPaths(path: string, mayExtend: boolean): Paths | null {
    const json = readJson(deps, path)
    const folder = folderOf(path)
    const options = (isRecord(json?.['compilerOptions']) ? json['compilerOptions'] : {}) as Record<string, unknown>
    const given = options['baseUrl']
    const base = typeof given === 'string' ? resolvePath(folder, given) : null
    const paths = Object.entries(isRecord(options['paths']) ? options['paths'] : {}).flatMap(([pattern, to]) =>
      Array.isArray(to) ? [[pattern, to.filter(item => typeof item === 'string')] as const] : [],
    )
    const parent = json?.['extends']
    if (mayExtend && base === null && paths.length === 0 && typeof parent === 'string' && parent.startsWith('.')) {
      const above = resolvePath(folder, parent)
      const file = [above, `${above}.json`].find(each => !each.startsWith('..') && tree.has(each))
      if (file !== undefined) return readPaths(file, false)
    }
    return base === null && paths.length === 0 ? null : { base, paths, from: base ?? folder }
  }

  function ofWorkspace(specifier: string): string | null {
    workspaces ??= workspaceNames()
    if (workspaces.size === 0) return null
    const parts = specifier.split('/')
    const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
    const dir = workspaces.get(name)
    if (dir === undefined) return null
    const rest = parts.slice(specifier.startsWith('@') ? 2 : 1).join('/')
    if (rest === '') return entryOf(dir)
    const inside = (path: string) => (dir === '' ? path : `${dir}/${path}`)
    return file(inside(rest)) ?? file(inside(`src/${rest}`))
  }

  function entryOf(dir: string): string | null {
    const inside = (path: string) => (dir === '' ? path : `${dir}/${path}`)
    for (const entry of entriesOf(readJson(deps, inside('package.json')))) {
      const path = resolvePath(dir, entry)
      // What is built is not there, but its source is.
      const found = file(path) ?? file(path.replace(/(^|\/)(?:dist|lib|build)\//, '$1src/').replace(/\.(?:d\.)?[mc]?[jt]s$/, ''))
      if (found !== null) return found
    }
    return file(inside('src/index')) ?? file(inside('index'))
  }

  function workspaceNames(): ReadonlyMap<string, string> {
    const names = new Map<string, string>()
    for (const path of tree.withBaseName('package.json')) {
      const dir = folderOf(path)
      const found = packages.at(dir)
      if (found !== null && !names.has(found.name)) names.set(found.name, dir)
    }
    return names
  }

  function python(path: string, { up, module, names }: PythonImport): readonly string[] {
    const dotted = module.split('.').filter(part => part !== '')
    const { dir } = packages.of(path)
    const within = (folder: string) => (folder === '' ? dotted.join('/') : [folder, ...dotted].join('/'))
    const inPackage = (name: string) => (dir === '' ? name : `${dir}/${name}`)
    let bases: string[]
    if (up > 0) {
      let folder = folderOf(path)
      for (let level = 1; level < up; level++) folder = folderOf(folder)
      bases = [within(folder)]
    } else bases = [...new Set(['', 'src', dir, inPackage('src')])].map(within)
    const found = new Set<string>()
    for (const base of bases) {
      for (const candidate of base === '' ? [] : [`${base}.py`, `${base}/__init__.py`])
        if (tree.has(candidate)) found.add(candidate)
      for (const name of names) {
        const inside = base === '' ? name : `${base}/${name}`
        for (const candidate of [`${inside}.py`, `${inside}/__init__.py`]) if (tree.has(candidate)) found.add(candidate)
      }
      if (found.size > 0) break
    }
    return [...found]
  }

  function java(_path: string, name: string): readonly string[] {
    javaRoots ??= rootsOfJava(tree)
    const parts = name.split('.')
    // `import static a.b.C.method` names a member.
    for (const names of [parts, parts.slice(0, -1)]) {
      if (names.length < 2) continue
      for (const root of javaRoots) {
        for (const extension of ['java', 'kt']) {
          const path = `${root === '' ? '' : `${root}/`}${names.join('/')}.${extension}`
          if (tree.has(path)) return [path]
        }
      }
    }
    return []
  }

  return { script, python, java }
}

function rootsOfJava(tree: Tree): readonly string[] {
  const roots = new Set<string>(['', 'src'])
  for (const path of tree.paths()) {
    if (codeLanguage(path) !== 'java') continue
    const match = /^(.*?(?:^|\/)src\/(?:main|test)\/(?:java|kotlin))\//.exec(path)
    if (match !== null) roots.add(match[1]!)
  }
  return [...roots]
}

function entriesOf(json: Record<string, unknown> | null): readonly string[] {
  const found: string[] = []
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') found.push(value)
    else if (depth < 4 && isRecord(value)) for (const each of Object.values(value)) visit(each, depth + 1)
  }
  const exported = json?.['exports']
  visit(isRecord(exported) && '.' in exported ? exported['.'] : exported, 0)
  for (const key of ['source', 'types', 'module', 'main']) visit(json?.[key], 4)
  return found.filter(entry => !entry.startsWith('/') && !entry.includes('*')).slice(0, 16)
}

/** JSON with comments and commas at ends, as `tsconfig.json` has them. */
function readJson({ root, files }: Pick<CompanionDeps, 'root' | 'files'>, path: string): Record<string, unknown> | null {
  try {
    const text = new TextDecoder().decode(files.read(`${root}/${path}`, maxConfigBytes))
    const plain = text
      .replace(/^\uFEFF/, '')
      .replace(/"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, all => (all.startsWith('"') ? all : ' '))
      .replace(/"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])/g, all => (all.startsWith('"') ? all : ''))
    const json: unknown = JSON.parse(plain)
    return isRecord(json) ? json : null
  } catch {
    return null
  }
}

function one(path: string | null): readonly string[] {
  return path === null ? [] : [path]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
