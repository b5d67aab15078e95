import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { languageOf, loadedOutliner, loadOutliner } from '../../src/text/outline.ts'

/** Names with the text they stand for, in file order. */
async function symbolsOf(text: string, path: string): Promise<readonly (readonly [string, string])[]> {
  const outliner = (await loadOutliner(path))!
  return outliner(text)!.symbols.map(({ name, start, end }) => [name, text.slice(start, end)] as const)
}

describe('TypeScript and JavaScript declare', () => {
  it.each<[string, string, readonly (readonly [string, string])[]]>([
    ['functions', 'function a() {}', [['a', 'function a() {}']]],
    ['async generators', 'export async function* a() {}  \n', [['a', 'export async function* a() {}']]],
    ['types', 'type A = { b: 1 };\n', [['A', 'type A = { b: 1 };']]],
    ['ambient functions', 'declare function a(): void', [['a', 'declare function a(): void']]],
    ['one declarator as its statement', 'export const a = 1;', [['a', 'export const a = 1;']]],
    [
      'one of several declarators as itself',
      'let a = 1, b: string = "2";',
      [
        ['a', 'a = 1'],
        ['b', 'b: string = "2"'],
      ],
    ],
    [
      'names of a pattern',
      'const { a, b: [c], ...d } = (e = f) => 1',
      [
        ['a', 'const { a, b: [c], ...d } = (e = f) => 1'],
        ['c', 'const { a, b: [c], ...d } = (e = f) => 1'],
        ['d', 'const { a, b: [c], ...d } = (e = f) => 1'],
      ],
    ],
    [
      'members of classes',
      'export abstract class A {\n  static b = 1;\n  async c() {}\n  get d() {}\n  #e = 2\n  "f g"() {}\n  [h]() {}\n  constructor() {}\n}',
      [
        [
          'A',
          'export abstract class A {\n  static b = 1;\n  async c() {}\n  get d() {}\n  #e = 2\n  "f g"() {}\n  [h]() {}\n  constructor() {}\n}',
        ],
        ['A.b', 'static b = 1;'],
        ['A.c', 'async c() {}'],
        ['A.d', 'get d() {}'],
        ['A.#e', '#e = 2'],
        ['A.f g', '"f g"() {}'],
        ['A.constructor', 'constructor() {}'],
      ],
    ],
    [
      'members of class expressions',
      'const A = class { b() {} }',
      [
        ['A', 'const A = class { b() {} }'],
        ['A.b', 'b() {}'],
      ],
    ],
    [
      'members of interfaces',
      'interface A { b: string; c(): void; new (): A; [k: string]: any }',
      [
        ['A', 'interface A { b: string; c(): void; new (): A; [k: string]: any }'],
        ['A.b', 'b: string'],
        ['A.c', 'c(): void'],
      ],
    ],
    [
      'members of enums',
      'export enum A { B, C = 1 << 2, }',
      [
        ['A', 'export enum A { B, C = 1 << 2, }'],
        ['A.B', 'B'],
        ['A.C', 'C = 1 << 2'],
      ],
    ],
    [
      'members of namespaces',
      'namespace A { export class B { c = 1 } }',
      [
        ['A', 'namespace A { export class B { c = 1 } }'],
        ['A.B', 'export class B { c = 1 }'],
        ['A.B.c', 'c = 1'],
      ],
    ],
    [
      'namespaces of several names',
      'namespace A.B { function c() {} }',
      [
        ['A', 'namespace A.B { function c() {} }'],
        ['A.B', 'namespace A.B { function c() {} }'],
        ['A.B.c', 'function c() {}'],
      ],
    ],
    [
      'what a module or the globals are told',
      'declare module "x" { const a: 1 }\ndeclare global { interface B {} }',
      [
        ['a', 'const a: 1'],
        ['B', 'interface B {}'],
      ],
    ],
    [
      'properties of object literals, one level',
      'const a = { b: { c: 1 }, d() {}, e, "f": 2, ...g, [h]: 3 }',
      [
        ['a', 'const a = { b: { c: 1 }, d() {}, e, "f": 2, ...g, [h]: 3 }'],
        ['a.b', 'b: { c: 1 }'],
        ['a.d', 'd() {}'],
        ['a.e', 'e'],
        ['a.f', '"f": 2'],
      ],
    ],
    [
      'properties behind casts and parentheses',
      'const a = ({ b: 1 } as const) satisfies X',
      [
        ['a', 'const a = ({ b: 1 } as const) satisfies X'],
        ['a.b', 'b: 1'],
      ],
    ],
    [
      'functions inside functions',
      'function a() { function b() { function c() {} } const d = 1 }',
      [
        ['a', 'function a() { function b() { function c() {} } const d = 1 }'],
        ['a.b', 'function b() { function c() {} }'],
        ['a.b.c', 'function c() {}'],
      ],
    ],
    [
      'functions inside arrows and methods',
      'const a = () => { function b() {} }\nclass C { d() { function e() {} } }',
      [
        ['a', 'const a = () => { function b() {} }'],
        ['a.b', 'function b() {}'],
        ['C', 'class C { d() { function e() {} } }'],
        ['C.d', 'd() { function e() {} }'],
        ['C.d.e', 'function e() {}'],
      ],
    ],
    [
      'a named default',
      'export default function a() {}',
      [
        ['a', 'export default function a() {}'],
        ['default', 'export default function a() {}'],
      ],
    ],
    ['an anonymous default', 'export default async () => 1\n', [['default', 'export default async () => 1']]],
    [
      'a default class without a name',
      'export default class { a() {} }',
      [
        ['default', 'export default class { a() {} }'],
        ['default.a', 'a() {}'],
      ],
    ],
    [
      'a default of a declared name',
      'const a = 1\nexport default a',
      [
        ['a', 'const a = 1'],
        ['default', 'const a = 1'],
      ],
    ],
    [
      'export aliases',
      'class a { b = 1 }\nexport { a as c, a as default, a as "d" }',
      [
        ['a', 'class a { b = 1 }'],
        ['c', 'class a { b = 1 }'],
        ['default', 'class a { b = 1 }'],
        ['d', 'class a { b = 1 }'],
        ['a.b', 'b = 1'],
        ['c.b', 'b = 1'],
        ['default.b', 'b = 1'],
        ['d.b', 'b = 1'],
      ],
    ],
    ['nothing for what another file declares', 'const a = 1\nexport { a as b } from "./c"', [['a', 'const a = 1']]],
    [
      'properties of exports',
      'exports.a = 1\nmodule.exports.b = function () {}\nexports.c = exports.d = 2\nmodule.exports = e\nx.exports.f = 3',
      [
        ['a', 'exports.a = 1'],
        ['b', 'module.exports.b = function () {}'],
        ['c', 'exports.c = exports.d = 2'],
        ['d', 'exports.c = exports.d = 2'],
      ],
    ],
    [
      'overloads as one',
      'function a(b: 1): void\n// note\nfunction a(b: 2): void\nfunction a(b: any) {}\nfunction c() {}',
      [
        ['a', 'function a(b: 1): void\n// note\nfunction a(b: 2): void\nfunction a(b: any) {}'],
        ['c', 'function c() {}'],
      ],
    ],
    [
      'a getter and its setter as one',
      'class A { get b() {} set b(c) {} d = 1 }',
      [
        ['A', 'class A { get b() {} set b(c) {} d = 1 }'],
        ['A.b', 'get b() {} set b(c) {}'],
        ['A.d', 'd = 1'],
      ],
    ],
    [
      'names apart from one another as several',
      'function a() {}\nb()\nfunction a() {}',
      [
        ['a', 'function a() {}'],
        ['a', 'function a() {}'],
      ],
    ],
    ['decorated classes', '/** doc */\n@b\n@c() class A {}', [['A', '@b\n@c() class A {}']]],
    ['exported classes behind decorators', '@b()\nexport class A {}', [['A', '@b()\nexport class A {}']]],
    ['classes decorated after export', 'export @b class A {}', [['A', 'export @b class A {}']]],
    [
      'decorated members',
      'class A { @b() c = 1 }',
      [
        ['A', 'class A { @b() c = 1 }'],
        ['A.c', '@b() c = 1'],
      ],
    ],
    ['nothing of comments and strings', '// function a() {}\nconst b = "class C {}"', [['b', 'const b = "class C {}"']]],
    [
      'what stands around an error',
      'function a() {}\nconst = = )\nfunction b() {}',
      [
        ['a', 'function a() {}'],
        ['b', 'function b() {}'],
      ],
    ],
  ])('%s', async (_what, text, symbols) => {
    expect(await symbolsOf(text, 'a.ts')).toEqual(symbols)
  })

  it.each([
    ['a.tsx', 'export const a = <T,>(b: T) => <p>{b}</p>'],
    ['a.jsx', 'export const a = b => <p>{b}</p>'],
    ['a.js', 'export const a = b => <p>{b}</p>'],
    ['a.ts', 'export const a = <T>b'],
    ['a.mts', 'export const a: number = 1'],
    ['a.cjs', 'exports.a = 1'],
  ])('names in %s', async (path, text) => {
    expect(await symbolsOf(text, path)).toEqual([['a', text]])
  })

  it('says what is exported', async () => {
    const outliner = (await loadOutliner('a.ts'))!
    const { symbols } = outliner('export const a = 1\nconst b = 2\nexport { b as c }\nexports.d = 1')!
    expect(symbols.map(one => [one.name, one.kind, one.exported])).toEqual([
      ['a', 'variable', true],
      ['b', 'variable', false],
      ['c', 'variable', true],
      ['d', 'variable', true],
    ])
  })
})

describe('Python declares', () => {
  it.each<[string, string, readonly (readonly [string, string])[]]>([
    ['functions', 'async def a(b):\n    return 1\n\n# c\n', [['a', 'async def a(b):\n    return 1']]],
    [
      'classes and what they hold',
      'class A(B):\n    c = 1\n    d: int\n    def e(self):\n        self.f = 2\n    class G:\n        pass\n',
      [
        ['A', 'class A(B):\n    c = 1\n    d: int\n    def e(self):\n        self.f = 2\n    class G:\n        pass'],
        ['A.c', 'c = 1'],
        ['A.d', 'd: int'],
        ['A.e', 'def e(self):\n        self.f = 2'],
        ['A.G', 'class G:\n        pass'],
      ],
    ],
    [
      'functions inside functions, not what they assign',
      'def a():\n    b = 1\n    def c(): pass\n',
      [
        ['a', 'def a():\n    b = 1\n    def c(): pass'],
        ['a.c', 'def c(): pass'],
      ],
    ],
    ['decorated functions', '@a\n@b(1)\ndef c(): pass\n', [['c', '@a\n@b(1)\ndef c(): pass']]],
    [
      'assigned names',
      'a: int = 1\nb = c = 2\nd, (e, *f) = [g] = h\ni.j = k[0] = 3\nl += 4\n',
      [
        ['a', 'a: int = 1'],
        ['b', 'b = c = 2'],
        ['c', 'b = c = 2'],
        ['d', 'd, (e, *f) = [g] = h'],
        ['e', 'd, (e, *f) = [g] = h'],
        ['f', 'd, (e, *f) = [g] = h'],
        ['g', 'd, (e, *f) = [g] = h'],
      ],
    ],
    [
      'names on one line',
      'a = 1; b = 2\n',
      [
        ['a', 'a = 1'],
        ['b', 'b = 2'],
      ],
    ],
    [
      'what conditions and attempts hold',
      'if a:\n    def b(): pass\nelse:\n    def b(): return 1\ntry:\n    import c\nexcept E:\n    c = None\n',
      [
        ['b', 'def b(): pass'],
        ['b', 'def b(): return 1'],
        ['c', 'c = None'],
      ],
    ],
    [
      'overloads as one',
      '@overload\ndef a(b: int): ...\n@overload\ndef a(b: str): ...\ndef a(b): pass\n',
      [['a', '@overload\ndef a(b: int): ...\n@overload\ndef a(b: str): ...\ndef a(b): pass']],
    ],
    [
      'a property and its setter as one',
      'class A:\n    @property\n    def b(self): pass\n    @b.setter\n    def b(self, c): pass\n',
      [
        ['A', 'class A:\n    @property\n    def b(self): pass\n    @b.setter\n    def b(self, c): pass'],
        ['A.b', '@property\n    def b(self): pass\n    @b.setter\n    def b(self, c): pass'],
      ],
    ],
    ['nothing of strings', '"""\ndef a(): pass\n"""\n', []],
    [
      'what stands around an error',
      'def a(): pass\nx = = 2\ndef b(): pass\n',
      [
        ['a', 'def a(): pass'],
        ['x', 'x = = 2'],
        ['b', 'def b(): pass'],
      ],
    ],
  ])('%s', async (_what, text, symbols) => {
    expect(await symbolsOf(text, 'a.py')).toEqual(symbols)
  })
})

describe('a language', () => {
  it.each([
    ['a.ts', 'typescript'],
    ['a.MTS', 'typescript'],
    ['a.cts', 'typescript'],
    ['a.tsx', 'typescript'],
    ['a.js', 'javascript'],
    ['a.mjs', 'javascript'],
    ['a.cjs', 'javascript'],
    ['a.jsx', 'javascript'],
    ['a.py', 'python'],
    ['a.pyi', 'python'],
    ['a.txt', null],
    ['ts', null],
    ['a.ts.txt', null],
  ])('of %s is %s', (path, language) => {
    expect(languageOf(path)).toBe(language)
  })

  it('that is not known loads nothing', async () => {
    expect(await loadOutliner('a.txt')).toBeNull()
    expect(loadedOutliner('a.txt')).toBeUndefined()
  })
})

describe('hostile code', () => {
  const paths = ['a.ts', 'a.tsx', 'a.js', 'a.py']

  it('of any characters has an outline inside the text', async () => {
    const outliners = await Promise.all(paths.map(async path => (await loadOutliner(path))!))
    const word = fc.constantFrom(
      'class',
      'def',
      'export',
      'default',
      '{',
      '}',
      '(',
      ')',
      ':',
      '\n',
      '    ',
      'a',
      '=',
      ',',
      '@',
      '"',
      '`',
      '/',
      'as',
      '#',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(word, { maxLength: 60 }).map(words => words.join(' ')),
    )
    fc.assert(
      fc.property(text, code => {
        for (const outliner of outliners) {
          for (const { start, end } of outliner(code)!.symbols) {
            expect(start).toBeGreaterThanOrEqual(0)
            expect(end).toBeGreaterThan(start)
            expect(end).toBeLessThanOrEqual(code.length)
          }
        }
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['deep brackets', '['.repeat(10_000)],
    ['deep functions', 'function a() {'.repeat(1000)],
    ['deep classes', 'class A { b = '.repeat(1000)],
    ['deep indents', Array.from({ length: 300 }, (_, n) => ' '.repeat(n) + 'def a():\n').join('')],
    ['an open template', '`${'.repeat(2000)],
    ['noise', Array.from({ length: 10_000 }, (_, n) => String.fromCharCode(33 + ((n * 7919) % 94))).join('')],
  ])(
    'with %s has an outline or none',
    async (_what, text) => {
      for (const path of paths) {
        const outline = (await loadOutliner(path))!(text)
        expect(outline === null || outline.symbols.length >= 0).toBe(true)
      }
    },
    60_000,
  )

  it.each(['a.ts', 'a.py'])('in %s is given up after its time', async path => {
    const outliner = (await loadOutliner(path))!
    const startedAt = performance.now()
    expect(outliner('= ? ('.repeat(200_000), 50)).toBeNull()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(outliner('a = 1', 5000)).not.toBeNull()
  })
})
