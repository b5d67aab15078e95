/** Where a source's tests are by the habits of its language, and by the conventions of packs. */
import { baseName, extensionOf, folderOf, segments } from '../../text/paths.ts'
import { codeLanguage, isGeneric, stemOf } from '../kinds.ts'
import type { Convention } from '../pack/types.ts'
import type { Packages } from '../packages.ts'
import type { Tree } from '../tree.ts'

/** A path that a habit says, and the habit, so that it can be applied to another file. */
export interface Expected {
  readonly pattern: string
  readonly path: string
}

const scripts = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'] as const
const roots: ReadonlySet<string> = new Set(['src', 'lib', 'source', 'app'])
const beside = ['__tests__', 'test', 'tests', 'spec'] as const
const mirrors = ['test', 'tests', 'spec', 'specs', '__tests__'] as const

export interface Look {
  hasFolder(folder: string): boolean
}

/** Folders and names in which a test of this file may be, in the order of the habits. Folders that are not there are left out. */
export function expectedTests(path: string, packageDir: string, tree: Look): readonly Expected[] {
  switch (codeLanguage(path)) {
    case 'js':
      return ofScript(path, packageDir, tree)
    case 'python':
      return ofPython(path, packageDir, tree)
    case 'go':
      return [{ pattern: 'D/S_test.go', path: join(folderOf(path), `${stemOf(path)}_test.go`) }]
    case 'rust':
      return ofRust(path, packageDir)
    case 'java':
      return ofJava(path)
    default:
      return []
  }
}

interface Place {
  readonly pattern: string
  readonly folder: string
  /** Also names without an affix. */
  readonly plain: boolean
}

function ofScript(path: string, packageDir: string, tree: Look): Expected[] {
  const folder = folderOf(path)
  const stem = stemOf(path)
  const places: Place[] = [
    { pattern: 'D', folder, plain: false },
    ...beside.map(name => ({ pattern: `D/${name}`, folder: join(folder, name), plain: true })),
    ...mirrorsOf(folder, packageDir),
  ]
  const expected = namesIn(places, stem, 'S', tree)
  if (stem === 'index' || stem === 'mod') {
    const name = baseName(folder)
    const up = folderOf(folder)
    if (name !== '') {
      const near: Place[] = [
        { pattern: 'D', folder, plain: false },
        { pattern: 'D/..', folder: up, plain: false },
      ]
      expected.push(...namesIn([...near, ...places.slice(1), ...mirrorsOf(up, packageDir)], name, 'folder', tree))
    }
  }
  return expected
}

function mirrorsOf(folder: string, packageDir: string): Place[] {
  const parts = segments(folder)
  const at = parts.findIndex(part => roots.has(part))
  const above = at === -1 ? packageDir : parts.slice(0, at).join('/')
  const root = at === -1 ? '' : parts[at]!
  const rest = at === -1 ? below(folder, packageDir) : parts.slice(at + 1).join('/')
  return mirrors.flatMap(name => [
    { pattern: `A/${name}/V`, folder: join(above, name, rest), plain: true },
    { pattern: `A/${name}/unit/V`, folder: join(above, name, 'unit', rest), plain: true },
    ...(root === '' ? [] : [{ pattern: `A/${name}/R/V`, folder: join(above, name, root, rest), plain: true }]),
  ])
}

function namesIn(places: readonly Place[], stem: string, of: string, tree: Look): Expected[] {
  const expected: Expected[] = []
  for (const { pattern, folder, plain } of places) {
    if (!tree.hasFolder(folder)) continue
    for (const form of ['S.test', 'S.spec', 'S_test', 'S-test', 'test-S', ...(plain ? ['S'] : [])]) {
      for (const extension of scripts) {
        expected.push({
          pattern: `${pattern}/${form}.${extension} ${of}`,
          path: join(folder, `${form.replace('S', () => stem)}.${extension}`),
        })
      }
    }
  }
  return expected
}

function ofPython(path: string, packageDir: string, tree: Look): Expected[] {
  const folder = folderOf(path)
  const stem = stemOf(path) === '__init__' ? baseName(folder) : stemOf(path)
  const rest = below(folder, packageDir).replace(/^src(?:\/|$)/, '')
  const shorter = segments(rest).slice(1).join('/')
  const places = [
    { pattern: 'D', folder },
    { pattern: 'D/tests', folder: join(folder, 'tests') },
    { pattern: 'D/test', folder: join(folder, 'test') },
    ...['tests', 'test'].flatMap(name => [
      { pattern: `U/${name}/V`, folder: join(packageDir, name, rest) },
      { pattern: `U/${name}/V-1`, folder: join(packageDir, name, shorter) },
      { pattern: `U/${name}/unit/V`, folder: join(packageDir, name, 'unit', rest) },
      { pattern: `U/${name}/unit/V-1`, folder: join(packageDir, name, 'unit', shorter) },
    ]),
  ]
  return places
    .filter(({ folder }) => tree.hasFolder(folder))
    .flatMap(({ pattern, folder }) => [
      { pattern: `${pattern}/test_S.py`, path: join(folder, `test_${stem}.py`) },
      { pattern: `${pattern}/S_test.py`, path: join(folder, `${stem}_test.py`) },
    ])
}

function ofRust(path: string, packageDir: string): Expected[] {
  const folder = folderOf(path)
  const stem = stemOf(path)
  return [
    { pattern: 'D/S_test.rs', path: join(folder, `${stem}_test.rs`) },
    { pattern: 'D/S_tests.rs', path: join(folder, `${stem}_tests.rs`) },
    { pattern: 'D/S/tests.rs', path: join(folder, stem, 'tests.rs') },
    { pattern: 'D/S/test.rs', path: join(folder, stem, 'test.rs') },
    { pattern: 'D/tests/S.rs', path: join(folder, 'tests', `${stem}.rs`) },
    { pattern: 'U/tests/S.rs', path: join(packageDir, 'tests', `${stem}.rs`) },
  ]
}

function ofJava(path: string): Expected[] {
  const folder = folderOf(path)
  const stem = stemOf(path)
  const mirror = `/${folder}/`.replace(/\/src\/main\/(java|kotlin)\//, '/src/test/$1/').slice(1, -1)
  const folders = [...new Map([[mirror, 'M'], ...(mirror === folder ? [] : [[folder, 'D'] as const])] as [string, string][])]
  const own = extensionOf(path).slice(1)
  const extensions = own === 'kt' ? ['kt', 'java'] : ['java', 'kt']
  const names = ['STest', 'STests', 'TestS', 'SIT', 'SSpec']
  return folders.flatMap(([place, pattern]) =>
    names.flatMap(name =>
      extensions.map(extension => ({
        pattern: `${pattern}/${name}.${extension}`,
        path: join(place, `${name.replace('S', () => stem)}.${extension}`),
      })),
    ),
  )
}

/** What packs add: the paths of a convention that this file fits. */
export function packTests(path: string, conventions: readonly Convention[]): readonly Expected[] {
  return conventions.flatMap(({ match, to }) => {
    const found = match(path)
    if (found === null) return []
    return to.map(template => ({ pattern: `pack ${template}`, path: fill(template, found) }))
  })
}

function fill(template: string, values: Readonly<Record<'dir' | 'stem' | 'ext', string>>): string {
  const text = template.replace(/\{(dir|stem|ext)\}/g, (_, name: 'dir' | 'stem' | 'ext') => values[name])
  return segments(text).join('/')
}

/** Tests of the same language and package whose bare name is the source's. */
export function testsOfStem(
  path: string,
  tree: Tree,
  packages: Packages,
): { readonly tests: readonly string[]; readonly sources: number } | null {
  const stem = stemOf(path)
  if (stem.length < 3 || isGeneric(stem)) return null
  const language = codeLanguage(path)
  const { dir } = packages.of(path)
  const isAkin = (other: string) => codeLanguage(other) === language && packages.of(other).dir === dir
  const tests = [...tree.testsOfStem(stem)].filter(isAkin)
  if (tests.length === 0) return null
  const sources = [...tree.sourcesOfStem(stem)].filter(isAkin).length
  return { tests, sources: Math.max(sources, 1) }
}

function below(folder: string, packageDir: string): string {
  return packageDir === '' ? folder : folder.startsWith(`${packageDir}/`) ? folder.slice(packageDir.length + 1) : ''
}

function join(...parts: readonly string[]): string {
  return parts.filter(part => part !== '').join('/')
}
