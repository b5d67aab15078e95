import vm from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/repl/compile/compile.ts'
import { rejectSyntaxError } from '../../../src/repl/compile/diagnose.ts'
import type { ReadyEdit } from '../../../src/repl/compile/program.ts'
import { createCells } from '../support/cells.ts'

function apply(source: string, edit: ReadyEdit): string {
  let text = source
  for (const { old_string, new_string } of edit.edits ?? []) {
    expect(text.split(old_string)).toHaveLength(2)
    text = text.replace(old_string, () => new_string)
  }
  return (edit.prepend ?? '') + text + (edit.append ?? '')
}

describe('a cell that does not parse', () => {
  type Broken = readonly [source: string, line: number, column: number, repaired: string | undefined, code?: string]
  const broken: readonly Broken[] = [
    ['const f = () => { return [1, 2', 1, 31, 'const f = () => { return [1, 2]}'],
    ['const s = "abc', 1, 11, 'const s = "abc"'],
    ['const s = `a ${b', 1, 17, 'const s = `a ${b}`'],
    ['return 1 /* never closed', 1, 10, 'return 1 /* never closed*/'],
    ['f(1 // comment', 1, 15, 'f(1 // comment\n)'],
    ['return [1, 2))', 1, 13, undefined],
    ['console.log(1))', 1, 15, 'console.log(1)'],
    ['```ts\nreturn 1\n```', 1, 1, 'return 1'],
    ['```\nreturn 1\n```\n', 1, 1, 'return 1'],
    ['const a = 1;\\nreturn a', 1, 14, 'const a = 1;\nreturn a'],
    ['if (1 &lt; 2 &amp;&amp; 3 &gt; 2) { return 1 }', 1, 10, 'if (1 < 2 && 3 > 2) { return 1 }'],
    ['return “a”', 1, 8, 'return "a"'],
    ['const s = `use `code` here`', 1, 17, 'const s = `use \\`code\\` here`'],
    ['const l = () => { await f() }', 1, 11, 'const l = async () => { await f() }'],
    ['function g() { return await 1 }', 1, 1, 'async function g() { return await 1 }'],
    ['const o = { m() { await 1 } }', 1, 13, 'const o = { async m() { await 1 } }'],
    ['class A { static m() { await 1 } }', 1, 11, 'class A { static async m() { await 1 } }'],
    ['const x', 1, 8, 'let x'],
    ['const s = 1; const s = 2', 1, 20, 'let s = 1; s = 2', 'OUT-N002'],
    ['let s = 1\nlet s = 2', 2, 5, 'let s = 1\ns = 2', 'OUT-N002'],
    ['def f(x):\n  return x', 1, 5, undefined],
    ['return <div>a</div>', 1, 8, undefined, 'OUT-C003'],
    ['import defer * as x from "y"', 1, 8, undefined, 'OUT-C003'],
    ['return /(/', 1, 8, undefined],
    ['function f() { import x from "y" }', 1, 16, undefined],
    ['export { nothing }', 1, 10, undefined],
    ['a\n  ++ b c', 2, 8, undefined],
  ]
  it.each(broken.map(row => [row[0], row] as const))(
    '%j is told where and how',
    async (_, [source, line, column, repaired, code = 'OUT-C001']) => {
      const { rejection } = await createCells().run(source)
      expect(rejection).toMatchObject({ code, position: { line, column } })
      expect(rejection!.help.length).toBeLessThanOrEqual(3)
      expect(rejection!.edit === undefined ? undefined : apply(source, rejection!.edit)).toBe(repaired)
      if (repaired !== undefined) expect((await createCells().run(repaired)).outcome).not.toBe('rejected')
    },
  )

  it('closes what is open with the fewest tokens', async () => {
    expect((await createCells().run('const f = () => { return [1, 2')).rejection?.edit).toEqual({ append: ']}' })
  })

  it.each([
    ['def f(x):\n  return x', /Python/],
    ['for x in y:\n  pass', /Python/],
    ['# comment\nreturn 1', /\/\//],
    ['npm install x', /shell/],
  ])('%j gets a word of help', async (source, help) => {
    expect((await createCells().run(source)).rejection?.help.join(' ')).toMatch(help)
  })

  it.each([
    ['import c from "node:cluster"', 1, 15],
    ['import { Session } from "inspector/promises"', 1, 25],
    ['export * from "repl"', 1, 15],
    ['import r = require("node:repl")', 1, 20],
  ])('%j names a module that is refused', async (source, line, column) => {
    expect((await createCells().run(source)).rejection).toMatchObject({ code: 'OUT-C002', position: { line, column } })
  })

  it.each(['undefined', 'NaN', 'globalThis', 'tools', 'outrigger'])('%s cannot be declared', async name => {
    for (const source of [
      `const ${name} = 1`,
      `var ${name}`,
      `{ var [${name}] = [] }`,
      `function ${name}() {}`,
      `class ${name} {}`,
      `import ${name} from "node:path"`,
      `enum ${name} {}`,
      `using ${name} = null`,
    ]) {
      expect((await createCells().run(source)).rejection?.code, source).toBe('OUT-N001')
    }
    expect((await createCells().run(`return ((${name}) => ${name})(1)`)).value).toBe(1)
  })
})

const pieces = [
  'const a = 1',
  'let ',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '`',
  '${',
  '"',
  "'",
  '/',
  '/*',
  '*/',
  '//',
  '\n',
  'async ',
  'await x',
  'class A ',
  'enum E { A = 1 }',
  'namespace N { export let x = 1 }',
  '=> ',
  'function f',
  '@d ',
  'import ',
  'export ',
  'from "y"',
  ': number',
  '<T>',
  'as any',
  '!',
  '?',
  ';',
  ',',
  '=',
  'return ',
  'using u = 1',
  'accessor x',
  'static ',
  'constructor(public a) {}',
  'super(1)',
  'for (var i of ',
  'switch (x) { case 1: ',
  'if (x) ',
  'else ',
  'with (o) ',
  'eval("1")',
  'import.meta',
  '#p',
  '...',
  'x',
  'fetch',
  '\u2028',
  '😀',
  '\\u0061',
  'default ',
  'require("m")',
  'declare ',
  'abstract ',
]

/** Time of this process on a processor: other work on the machine does not count. */
const computingMs = (): number => process.cpuUsage().user / 1_000

const ofTheSource = /regular expression|regexp|await is only valid|reserved word|'super'/i

describe('any text', () => {
  it.each([
    ['of pieces of the language', fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map(parts => parts.join(' '))],
    ['at random', fc.string({ unit: 'binary-ascii', maxLength: 60 })],
  ])(
    '%s gives a program that V8 reads, or a diagnostic inside the text',
    async (_, texts) => {
      await fc.assert(
        fc.asyncProperty(texts, async source => {
          const cells = createCells()
          const started = computingMs()
          const compiled = await compile({
            cell: 1,
            source,
            known: cells.names.kinds,
            namespaces: new Set(),
            platformNames: new Set(['fetch']),
            echo: 'last',
            decorators: 'standard',
            jsx: 'off',
          })
          expect(computingMs() - started).toBeLessThan(2_000)
          if (compiled.kind === 'rejected') {
            const lines = source.split(/\r\n|[\n\r\u2028\u2029]/)
            expect(compiled.position.line).toBeLessThanOrEqual(lines.length)
            expect(compiled.position.column).toBeLessThanOrEqual(lines[compiled.position.line - 1]!.length + 1)
          } else {
            try {
              new vm.Script(compiled.code, { filename: compiled.fileName, columnOffset: compiled.columnOffset })
            } catch (error) {
              // What the parser takes and V8 refuses is the source's own fault, not that of generated text, and has a place in the source.
              expect([source, compiled.code, String(error)]).toSatisfy(() => ofTheSource.test(String(error)))
              const { line, column } = rejectSyntaxError(compiled, error as Error).position
              const lines = source.split(/\r\n|[\n\r\u2028\u2029]/)
              expect(line).toBeLessThanOrEqual(lines.length)
              expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1)
            }
          }
        }),
        { numRuns: 400 },
      )
    },
    60_000,
  )
})

describe('a hostile source', () => {
  const many = 30_000
  it.each<readonly [string, string]>([
    ['open brackets', '['.repeat(many)],
    ['closed brackets', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['functions in functions', '(()=>'.repeat(20_000) + '1' + ')'.repeat(20_000)],
    ['templates', '`${'.repeat(many / 2)],
    ['backticks', '`'.repeat(many)],
    ['quotes', '"'.repeat(many + 1)],
    ['white space in a fence', '```ts\n' + ' \n'.repeat(many / 2) + '``` x'],
    ['f-strings', 'f"' + '{}'.repeat(many / 2)],
    ['entities', '&lt;'.repeat(many / 4)],
    ['line ends', '\\n'.repeat(many / 2)],
    ['sums', '1' + '+1'.repeat(many / 2)],
    ['slashes', '/'.repeat(many)],
    ['types', `let a: ${'Array<'.repeat(3_000)}`],
    ['angles', 'a' + '<b'.repeat(3_000)],
    ['declarators', `let ${Array.from({ length: 5_000 }, (_, index) => `v${index}`).join()}, v0`],
    ['commas', '('.repeat(40) + 'a,'.repeat(2_000)],
    ['arrows', 'a => '.repeat(3_000)],
  ])(
    'of %s is answered soon',
    async (_, source) => {
      const started = computingMs()
      const compiled = await compile({
        cell: 1,
        source,
        known: new Map(),
        namespaces: new Set(),
        platformNames: new Set(),
        echo: 'last',
        decorators: 'standard',
        jsx: 'off',
      })
      expect(['program', 'rejected']).toContain(compiled.kind)
      expect(computingMs() - started).toBeLessThan(4_000)
    },
    60_000,
  )
})
