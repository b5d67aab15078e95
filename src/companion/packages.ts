/** Which package a file belongs to, and what the package may be called in a note. */
import { baseName, folderOf } from '../text/paths.ts'
import type { CompanionDeps } from './deps.ts'

export const manifests = [
  'package.json',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
] as const

const maxBytes = 256 * 1024
const decoder = new TextDecoder()

export interface Package {
  /** Project-relative; the root is the empty text. */
  readonly dir: string
  readonly name: string
}

export interface Packages {
  /** Of the general profile: nearest folder with a manifest, else the root. */
  of(path: string): Package
  /** The package whose folder this is; `null` when it is none. The root always is one. */
  at(dir: string): Package | null
  /** A manifest may have changed. */
  forget(path: string): void
}

export function createPackages(deps: Pick<CompanionDeps, 'root' | 'files'>, exists: (path: string) => boolean): Packages {
  const known = new Map<string, Package | null>()

  function at(dir: string): Package | null {
    const before = known.get(dir)
    if (before !== undefined) return before
    const found = look(dir)
    known.set(dir, found)
    return found
  }

  function look(dir: string): Package | null {
    const inDir = (name: string) => (dir === '' ? name : `${dir}/${name}`)
    let isPackage = dir === ''
    let name: string | null = null
    for (const manifest of manifests) {
      const path = inDir(manifest)
      if (!exists(path)) continue
      const found = readName(deps, path)
      // A package.json that names nothing only sets the kind of modules of its folder.
      if (manifest === 'package.json' && found === 'nameless') continue
      isPackage = true
      if (typeof found === 'object' && found !== null) name ??= found.name
    }
    return isPackage ? { dir, name: name ?? folderName(dir === '' ? deps.root : dir) } : null
  }

  return {
    at,
    of(path) {
      for (let dir = folderOf(path); dir !== ''; dir = folderOf(dir)) {
        const found = at(dir)
        if (found !== null) return found
      }
      return at('')!
    },
    forget(path) {
      if ((manifests as readonly string[]).includes(baseName(path))) known.delete(folderOf(path))
    },
  }
}

/** The folder's name as it may stand in a note. */
export function folderName(path: string): string {
  const name = baseName(path.replaceAll('\\', '/').replace(/\/+$/, '')).replace(/[^A-Za-z0-9._-]+/g, '-')
  return name === '' ? '-' : name.slice(0, 214)
}

/** `null`: unreadable, or a name that is none. `'nameless'`: a package.json without the field. */
export function readName(
  { root, files }: Pick<CompanionDeps, 'root' | 'files'>,
  path: string,
): { readonly name: string } | 'nameless' | null {
  let text: string
  try {
    text = decoder.decode(files.read(`${root}/${path}`, maxBytes))
  } catch {
    return null
  }
  const given = givenName(baseName(path), text)
  if (given === undefined) return 'nameless'
  return typeof given === 'string' && isLegalName(given) ? { name: given } : null
}

/** `undefined`: the manifest has none. */
function givenName(manifest: string, text: string): unknown {
  switch (manifest) {
    case 'package.json':
      try {
        const json: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
        if (typeof json !== 'object' || json === null || Array.isArray(json)) return null
        return (json as Record<string, unknown>)['name']
      } catch {
        return null
      }
    case 'pyproject.toml':
      return inTable(text, /^(?:project|tool\.poetry)$/, 'name')
    case 'Cargo.toml':
      return inTable(text, /^package$/, 'name')
    case 'setup.cfg':
      return inTable(text, /^metadata$/, 'name')
    case 'go.mod':
      return /^module[ \t]+"?([^\s"]+)/m.exec(text)?.[1]?.split('/').at(-1)
    case 'setup.py':
      return /\bname[ \t]*=[ \t]*["']([^"'\n]{1,214})["']/.exec(text)?.[1]
    case 'pom.xml':
      return /<artifactId>\s{0,80}([^<\s]{1,214})\s{0,80}<\/artifactId>/.exec(text.replace(/<parent>[\s\S]*?<\/parent>/, ''))?.[1]
    default:
      return undefined
  }
}

/** A key of the first table whose name fits; as far as TOML and INI files agree. */
function inTable(text: string, table: RegExp, key: string): string | undefined {
  let inside = false
  for (const line of text.split(/\r?\n/)) {
    const head = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:[#;].*)?$/.exec(line)
    if (head !== null) {
      inside = table.test(head[1]!)
      continue
    }
    if (!inside) continue
    const pair = /^\s*([A-Za-z0-9_-]+)\s*=\s*["']?([^"'#]*?)["']?\s*(?:#.*)?$/.exec(line)
    if (pair !== null && pair[1] === key) return pair[2]
  }
  return undefined
}

/** Like the names of npm and PyPI; nothing that could be read as a sentence. */
export function isLegalName(name: string): boolean {
  return name.length <= 214 && /^(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*\/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$/.test(name)
}
