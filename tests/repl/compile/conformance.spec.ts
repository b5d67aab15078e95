/** The language's public tests for parsers, a part of each folder: what V8 takes as a script, a cell takes too, and what it refuses, a cell refuses. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/repl/compile/compile.ts'

const root = dirname(fileURLToPath(import.meta.resolve('test262-parser-tests/package.json')))

function isScript(source: string): boolean {
  try {
    new vm.Script(source)
    return true
  } catch {
    return false
  }
}

/** Legal in a cell: `return`, imports and exports at the top, fields with a type, an overload. */
const legalInCells = [
  'return',
  'import',
  'export',
  '(class {a:0})',
  '(class {[3]:0})',
  '(class {3:0})',
  'class A {a:0}',
  '{ return; }',
  'if (false) { return; }',
  "class A { constructor() {} 'constructor'() }",
]
/** Refused in a cell: names that are reserved at its top. */
const refusedInCells = ['var Infinity, NaN']

const starts = (source: string, beginnings: readonly string[]): boolean =>
  beginnings.some(beginning => source.startsWith(beginning))

describe.each([
  ['pass', 3],
  ['pass-explicit', 6],
  ['early', 1],
  ['fail', 1],
])('the tests of %s, every %i.', (folder, step) => {
  it('end as in V8', async () => {
    const files = readdirSync(join(root, folder)).filter(file => !file.includes('.module.'))
    const wrong: string[] = []
    for (let index = 0; index < files.length; index += step) {
      const source = readFileSync(join(root, folder, files[index]!), 'utf8')
      const wanted = isScript(source)
      if (wanted ? starts(source, refusedInCells) : starts(source, legalInCells)) continue
      const compiled = await compile({
        cell: 1,
        source,
        known: new Map(),
        namespaces: new Set(),
        platformNames: new Set(),
        echo: 'return',
        decorators: 'standard',
        jsx: 'off',
      })
      const accepted = compiled.kind === 'program' && isScript(compiled.code) && isScript(compiled.functions)
      if (accepted !== wanted) wrong.push(`${files[index]} ${source}`)
    }
    expect(wrong).toEqual([])
    expect(files.length).toBeGreaterThan(500)
  }, 60_000)
})
