import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/repl/compile/compile.ts'
import { readableMessage } from '../../../src/repl/compile/frames.ts'
import { lineStarts, locateIn } from '../../../src/repl/compile/positions.ts'
import type { Program } from '../../../src/repl/compile/program.ts'
import { decodeMappings } from '../../../src/repl/compile/second-compiler.ts'
import { createCells } from '../support/cells.ts'

/** The place of `⟦`, which is taken out. */
function marked(text: string): { readonly source: string; readonly at: { readonly line: number; readonly column: number } } {
  const offset = text.indexOf('⟦')
  const source = text.replace('⟦', '')
  return { source, at: locateIn(source, lineStarts(source), offset) }
}

const fail = 'const fail = (x?: any): any => { throw new Error("no") };\n'

describe('the position of an error', () => {
  it.each([
    'null.⟦x',
    'const a = 1; null.⟦x',
    'const a: Map<string, number> = null.⟦x',
    'let a, b = 2, c = null.⟦x',
    'const { a = null.⟦x } = {}',
    'const {\n  a,\n  b = null.⟦x\n} = { a: 1 }',
    'const { a = await null.⟦x } = {}',
    'const [a] = null.⟦x',
    'var { a } = { get a() { return null.⟦x } }',
    'var a = 1, b, c = null.⟦x',
    'for (var i = 0, j = null.⟦x; ;) {}',
    'for (var [a = null.⟦x] of [[]]) {}',
    'class A { static x: number = null.⟦x }',
    'class A<T> extends null.⟦x {}',
    'class A { constructor(private readonly a: number, public b = null.⟦x) {} }\nnew A(1)',
    'class A { m(this: A, a?: number): void { null.⟦x } } new A().m()',
    'class A { static accessor y = null.⟦x }',
    'function f(a: number): number { return null.⟦x }\nf(1)',
    'f(); var v = 2; function f(): void {\n  type X = 1\n  null.⟦x }',
    '"use strict"; function f() { return null.⟦x } f()',
    'function f() { return [import.meta, null.⟦x] } f()',
    'const process = 1; function f(): any { return [process, null.⟦x] } f()',
    'const process = 1; return [process, process, null.⟦x]',
    'enum E { A = 1, B = null.⟦x }',
    'enum E { A, B }; enum F { C = E.A, D = null.⟦x }',
    'namespace N { export let a = 1; export const b = a + null.⟦x }',
    'namespace N.M { export function f() { return null.⟦x } f() }',
    'import { join } from "node:path"; null.⟦x',
    'import { join } from "node:path";\nimport type { A } from "b";\n  join(null.⟦x)',
    'export const a = null.⟦x',
    'export default null.⟦x',
    'export default class { static y = null.⟦x }',
    'import p = require("node:path"); null.⟦x',
    'interface A {\n  b: number\n}\nconst c = <any>null.⟦x',
    'const f = (a: number):\n  number => null.⟦x\nf(1)',
    '{ function g() { return null.⟦x } g() }',
    'switch (1) { case 1: function h() { null.⟦x } h() }',
    'using u = null.⟦x',
    '`${1}${null.⟦x}`',
    'eval("1"); null.⟦x',
    'const s = "😀"; null.⟦x',
    '\ufeffnull.⟦x',
    '#!/bin/node\nnull.⟦x',
    '1\r\n2\u20283\u2029null.⟦x',
    'await 0; null.⟦x',
    'await (async () => { await 0; null.⟦x })()',
    'const d = (v: any, c: any) => {};\n@d class A {\n  @d m() {}\n  static s = null.⟦x\n}',
    'const d = (v: any, c: any) => {}; class A { @d m(a: number) { return null.⟦x } }\nnew A().m(1)',
    '⟦nowhere',
    'const a = 1; const b = [a, ⟦nowhere]',
    'const a: string = `${⟦nowhere}`',
    'function q() { return ⟦nowhere } q()',
    'const fetch = 1; return fetch.x + ⟦nowhere',
    'const k = 1; k ⟦= 2',
    'const k = 1; for (⟦k of [1]);',
    'throw ⟦new Error("x")',
    'const e: Error = ⟦new TypeError("x")\nthrow e',
    'JSON.⟦parse("{")',
    'const p = JSON.⟦parse("{")',
    '[1].map(() => null.⟦x)',
  ])('%j is in the source, to the unit', async text => {
    const { source, at } = marked(text)
    const result = await createCells().run(source)
    expect(result.error?.code, result.error?.message).toBe('OUT-X001')
    expect(result.error?.position).toEqual(at)
  })

  it('of another cell is a frame, and the position is the call', async () => {
    const cells = createCells()
    await cells.run(fail)
    const result = await cells.run('const a = 1;   fail(a)')
    expect(result.error?.position).toEqual({ line: 1, column: 16 })
  })
})

const pieces = [
  'const a1: number = b1;',
  'let a2 = (b2 as any);',
  'var { a3, a4 = b3 } = b4;',
  'function a5(b5?: string): void { b6 }',
  'class A6<T> extends b7<T> { private b8?: T = b9; m() { b10 } }',
  'enum E7 { A, B = b11 }',
  'namespace N8 { export let c8 = b12; c8 }',
  'if (b13) { var a9 = b14 as any }',
  'for (var a10 of b15) b16',
  '{ function a11() { b17 } }',
  'export const a12 = fetch;',
  'const fetch = b18;',
  'interface I { x: number }',
  'import { x13 as y13 } from "m";',
  'b19!.c!.d',
  '<any>b20',
  'class A14 { constructor(public b21: number) { b22 } }',
  'let { a15, ...a16 } = { b23 };',
  'export default b24;',
  'using a17 = b25;',
  'type T = { x: 1 };',
  'a18 = b26',
  'import.meta.b27',
  'const f19 = async <T,>(b28: T): Promise<T> => b28;',
  'abstract class A20 { abstract m(): void; static accessor b29 = b30 }',
]

describe('a message', () => {
  it.each([
    ['const process = {}; new process()', 'process is not a constructor'],
    ['const process = {}; process()', '(intermediate value) is not a function'],
    ['const process = undefined; process.x', "Cannot read properties of undefined (reading 'x')"],
  ])('of %s names no generated code', async (source, message) => {
    expect(readableMessage((await createCells().run(source)).error!.message)).toBe(message)
  })
})

describe('the map', () => {
  it('leads from every kept name to the same name and back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }),
        fc.constantFrom('\n', ' ', '\r\n', '\u2028'),
        fc.boolean(),
        async (parts, separator, isStrict) => {
          const source =
            (isStrict ? '"use strict";' : '') +
            parts.map(part => part + (part.endsWith('}') || part.endsWith(';') ? '' : ';')).join(separator)
          const program = (await compile({
            cell: 1,
            source,
            known: new Map(),
            namespaces: new Set(),
            platformNames: new Set(['fetch']),
            echo: 'last',
            decorators: 'standard',
            jsx: 'off',
          })) as Program
          expect(program, source).toMatchObject({ kind: 'program' })
          for (const [map, code] of [
            [program.positions, program.code],
            [program.functionPositions, program.functions],
          ] as const) {
            for (let at = 0; at <= code.length; at++) {
              const back = map.toSource(at)
              if (back !== undefined) expect(back).toSatisfy((value: number) => value >= 0 && value < source.length)
            }
            for (const match of source.matchAll(/\bb\d+\b/g)) {
              const there = map.toGenerated(match.index)
              if (there === undefined) continue
              expect(code.slice(there, there + match[0].length)).toBe(match[0])
              expect(map.toSource(there)).toBe(match.index)
            }
          }
          // Every use of a name is in one of the two texts.
          for (const [name, places] of program.occurrences) {
            if (name === 'fetch') continue
            for (const place of places)
              expect(program.positions.toGenerated(place) ?? program.functionPositions.toGenerated(place), name).toBeDefined()
          }
        },
      ),
      { numRuns: 300 },
    )
  }, 60_000)

  it('reads source maps', () => {
    expect(decodeMappings('AAAA,IAAM;;EACA')).toEqual([
      [
        [0, 0, 0],
        [4, 0, 6],
      ],
      [],
      [[2, 1, 6]],
    ])
  })
})
