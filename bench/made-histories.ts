/** Repositories made for measuring: the layouts of several languages, with commits as people make them. The same at every run. */

import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'

export interface Style {
  readonly name: string
  readonly manifests: Readonly<Record<string, string>>
  source(name: string, area: string): string
  /** `null`: tests are called after what they show, see `scenarios`. */
  test(name: string, area: string): string | null
  code(name: string, area: string, revision: number): string
  testCode(names: readonly string[], area: string, revision: number): string
  /** Tests that go through an entry file. */
  readonly scenarios?: { readonly entry: string; path(at: number): string }
}

const areas = ['net', 'store', 'text', 'billing'] as const
const words = 'parse cache route ledger token merge window queue order invoice retry filter'.split(' ')
const modules = areas.flatMap((area, a) =>
  words.slice(a, a + 8).map((word, n) => ({ area, name: `${word}${n % 3 === 0 ? area : ''}` })),
)

const title = (name: string) => name[0]!.toUpperCase() + name.slice(1)
const script = (name: string, _: string, revision: number) => `export function ${name}(n) {\n  return n + ${revision}\n}\n`

export const styles: readonly Style[] = [
  {
    name: 'TypeScript, tests mirrored',
    manifests: { 'package.json': '{"name":"made"}' },
    source: (name, area) => `src/${area}/${name}.ts`,
    test: (name, area) => `tests/${area}/${name}.test.ts`,
    code: script,
    testCode: (names, area, r) => `${names.map(n => `import { ${n} } from '../../src/${area}/${n}.ts'`).join('\n')}\n// ${r}\n`,
  },
  {
    name: 'JavaScript monorepo, __tests__ beside',
    manifests: Object.fromEntries(areas.map(area => [`packages/${area}/package.json`, `{"name":"@made/${area}"}`])),
    source: (name, area) => `packages/${area}/src/${name}.js`,
    test: (name, area) => `packages/${area}/src/__tests__/${name}.js`,
    code: (name, _, r) => `exports.${name} = n => n + ${r}\n`,
    testCode: (names, _, r) => `${names.map(n => `const { ${n} } = require('../${n}')`).join('\n')}\n// ${r}\n`,
  },
  {
    name: 'components with their entry, JSX',
    manifests: { 'package.json': '{"name":"made"}' },
    source: (name, area) => `src/${area}/${title(name)}/index.tsx`,
    test: (name, area) => `src/${area}/${title(name)}/${title(name)}.test.tsx`,
    code: (name, _, r) => `export const ${title(name)} = () => <p title="it's">{${r}}</p>\n`,
    testCode: (names, _, r) => `${names.map(n => `import { ${title(n)} } from '.'`).join('\n')}\n// ${r}\n`,
  },
  {
    name: 'Python, src layout, flat tests',
    manifests: { 'pyproject.toml': '[project]\nname = "made"\n' },
    source: (name, area) => `src/made/${area}/${name}.py`,
    test: (name, area) => `tests/test_${area}_${name}.py`,
    code: (name, _, r) => `def ${name}(n):\n    return n + ${r}\n`,
    testCode: (names, area, r) => `${names.map(n => `from made.${area} import ${n}`).join('\n')}\n# ${r}\n`,
  },
  {
    name: 'Python, mirrored',
    manifests: { 'setup.py': '' },
    source: (name, area) => `made/${area}/${name}.py`,
    test: (name, area) => `tests/${area}/test_${name}.py`,
    code: (name, _, r) => `def ${name}(n):\n    return n + ${r}\n`,
    testCode: (names, area, r) => `${names.map(n => `from made.${area}.${n} import ${n}`).join('\n')}\n# ${r}\n`,
  },
  {
    name: 'Go',
    manifests: { 'go.mod': 'module example.org/made\n' },
    source: (name, area) => `internal/${area}/${name}.go`,
    test: (name, area) => `internal/${area}/${name}_test.go`,
    code: (name, area, r) => `package ${area}\n\nfunc ${title(name)}(n int) int { return n + ${r} }\n`,
    testCode: (_, area, r) => `package ${area}\n\n// ${r}\n`,
  },
  {
    name: 'Rust workspace',
    manifests: Object.fromEntries(areas.map(area => [`crates/${area}/Cargo.toml`, `[package]\nname = "${area}"\n`])),
    source: (name, area) => `crates/${area}/src/${name}.rs`,
    test: (name, area) => `crates/${area}/tests/${name}.rs`,
    code: (name, _, r) => `pub fn ${name}(n: u32) -> u32 { n + ${r} }\n`,
    testCode: (names, area, r) => `${names.map(n => `use ${area}::${n}::${n};`).join('\n')}\n// ${r}\n`,
  },
  {
    name: 'Java, Maven modules',
    manifests: Object.fromEntries(areas.map(area => [`${area}/pom.xml`, '<project/>'])),
    source: (name, area) => `${area}/src/main/java/org/made/${title(name)}.java`,
    test: (name, area) => `${area}/src/test/java/org/made/${title(name)}Test.java`,
    code: (name, _, r) => `package org.made;\npublic class ${title(name)} { int n = ${r}; }\n`,
    testCode: (names, _, r) => `package org.made;\nclass T { ${names.map(title).join(' a; ')} b; /* ${r} */ }\n`,
  },
  {
    name: 'TypeScript, tests of behaviour through one entry',
    manifests: { 'package.json': '{"name":"made"}' },
    source: (name, area) => `src/${area}/${name}.ts`,
    test: () => null,
    code: script,
    testCode: (names, _, r) => `import { ${names.join(', ')} } from '../src/index.ts'\n// ${r}\n`,
    scenarios: { entry: 'src/index.ts', path: at => `test/scenario${at}.test.ts` },
  },
]

/** Into an empty folder: 1 commit that makes most of it, then 160 as people make them. */
export function makeHistory(root: string, style: Style): void {
  let seed = 7
  const chance = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) / 2 ** 24
  }
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)]!
  const parts: string[] = []
  let revision = 0
  let at = Math.floor(Date.now() / 1_000) - 200 * 86_400
  const commit = (files: ReadonlyMap<string, string>) => {
    at += 86_400
    parts.push(`commit refs/heads/main\ncommitter a <a@example.org> ${at} +0000\ndata 1\nc\n`)
    for (const [path, text] of files) parts.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  }
  type Module = (typeof modules)[number]
  const write = (files: Map<string, string>, { area, name }: Module) =>
    files.set(style.source(name, area), style.code(name, area, revision))
  const writeTest = (files: Map<string, string>, each: Module) => {
    const { area, name } = each
    const own = style.test(name, area)
    if (own !== null) return files.set(own, style.testCode([name], area, revision))
    const first = modules.indexOf(each) - (modules.indexOf(each) % 4)
    const names = modules.slice(first, first + 4).map(one => one.name)
    return files.set(style.scenarios!.path(first / 4), style.testCode(names, area, revision))
  }
  const document = (files: Map<string, string>, area: string) => {
    const named = modules.filter(each => each.area === area).map(({ name }) => `\`${style.source(name, area)}\` does ${name}.`)
    files.set(`docs/${area}.md`, `# ${area}\n\n${named.join('\n')}\n\n${revision}\n`)
  }
  const changelog = (files: Map<string, string>) => files.set('CHANGELOG.md', `# Changes\n\n## Unreleased\n\n- ${revision}\n`)

  const late = new Set(modules.filter((_, n) => n % 8 === 7))
  const there = modules.filter(each => !late.has(each))
  const first = new Map(Object.entries(style.manifests))
  for (const each of there) {
    write(first, each)
    // One in six has no test.
    if (modules.indexOf(each) % 6 !== 5) writeTest(first, each)
  }
  for (const area of areas) document(first, area)
  changelog(first)
  if (style.scenarios !== undefined) {
    const lines = modules.map(({ name, area }) => `export { ${name} } from './${area}/${name}.ts'`)
    first.set(style.scenarios.entry, `${lines.join('\n')}\n`)
  }
  commit(first)

  for (let n = 0; n < 160; n++) {
    revision++
    const files = new Map<string, string>()
    const kind = chance()
    const one = pick(there)
    const hasTest = modules.indexOf(one) % 6 !== 5
    const next = [...late][0]
    if (n % 40 === 20 && next !== undefined) {
      late.delete(next)
      there.push(next)
      write(files, next)
      writeTest(files, next)
    } else if (kind < 0.45) {
      write(files, one)
      if (hasTest) writeTest(files, one)
      if (chance() < 0.15) document(files, one.area)
      if (chance() < 0.4) changelog(files)
    } else if (kind < 0.6) {
      // Two that always move together, with the test of one.
      const pair = there.slice(0, 2)
      for (const each of pair) write(files, each)
      writeTest(files, pair[0]!)
    } else if (kind < 0.7) write(files, one)
    else if (kind < 0.78) {
      for (let more = 0; more < 4; more++) write(files, pick(there))
      if (hasTest) writeTest(files, one)
    } else if (kind < 0.85) {
      write(files, one)
      document(files, one.area)
    } else if (kind < 0.9) document(files, one.area)
    else if (kind < 0.95) {
      if (hasTest) writeTest(files, one)
      files.set('.github/workflows/test.yml', `on: push # ${revision}\n`)
    } else for (const each of there) write(files, each)
    if (files.size > 0) commit(files)
  }
  const git = (args: readonly string[], input?: string) => {
    const result = spawnSync('git', args, { cwd: root, ...(input !== undefined && { input }) })
    if (result.status !== 0) throw new Error(`git ${args[0]} failed: ${result.stderr}`)
  }
  git(['init', '-q', '-b', 'main'])
  git(['fast-import', '--quiet'], parts.join(''))
}
