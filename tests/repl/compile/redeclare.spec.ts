/** Every kind of declaration after every other: in the same cell and in the next, with and without await. Generated, not listed. */
import { describe, expect, it } from 'vitest'
import type { NameKind } from '../../../src/repl/compile/program.ts'
import { createCells } from '../support/cells.ts'

interface Form {
  readonly word: string
  readonly kind: NameKind
  /** Declares `name` so that `probe(name)` gives the tag. */
  readonly text: (name: string, tag: number, value: string) => string
}

const forms: readonly Form[] = [
  { word: 'const', kind: 'const', text: (name, _, value) => `const ${name} = ${value}` },
  { word: 'const pattern', kind: 'const', text: (name, _, value) => `const { a: [${name}] } = { a: [${value}] }` },
  { word: 'let', kind: 'let', text: (name, _, value) => `let ${name} = ${value}` },
  { word: 'let pattern', kind: 'let', text: (name, _, value) => `let [, ${name} = ${value}] = []` },
  { word: 'var', kind: 'var', text: (name, _, value) => `var ${name} = ${value}` },
  { word: 'function', kind: 'function', text: (name, tag) => `function ${name}() { return ${tag} }` },
  { word: 'async function', kind: 'function', text: (name, tag) => `async function ${name}() { return ${tag} }` },
  { word: 'generator', kind: 'function', text: (name, tag) => `function* ${name}() { yield ${tag} }` },
  { word: 'class', kind: 'class', text: (name, tag) => `class ${name} { static tag = ${tag} }` },
  { word: 'enum', kind: 'enum', text: (name, tag) => `enum ${name} { tag = ${tag} }` },
  { word: 'namespace', kind: 'namespace', text: (name, tag) => `namespace ${name} { export const tag = ${tag} }` },
  {
    word: 'import',
    kind: 'import',
    text: (name, tag) => `import { v as ${name} } from "data:text/javascript,export const v = ${tag}"`,
  },
]

const probe = `globalThis.probe = async v => {
  if (typeof v === 'object') return v.tag
  if (typeof v !== 'function') return v
  if (Object.hasOwn(v, 'tag')) return v.tag
  const made = v()
  return typeof made.next === 'function' ? made.next().value : made
}`

const write = (form: Form, name: string, tag: number, awaits: boolean): string =>
  awaits ? `await 0; ${form.text(name, tag, `await Promise.resolve(${tag})`)}` : form.text(name, tag, String(tag))

const hoisted = new Set(['var', 'function', 'async function', 'generator'])

/** Whether one cell may declare the name in both forms. */
function mayRepeat(first: Form, second: Form): boolean {
  if (hoisted.has(first.word) && hoisted.has(second.word)) return true
  const merges = ['enum', 'namespace']
  if (second.kind === 'namespace') return first.kind === 'function' || first.kind === 'class' || merges.includes(first.kind)
  return second.kind === 'enum' && merges.includes(first.kind)
}

const pairs = forms.flatMap(first =>
  forms.flatMap(second =>
    [false, true].map(
      awaits => [first.word, second.word, awaits ? 'with await' : 'without await', first, second, awaits] as const,
    ),
  ),
)

describe('a name declared again in the next cell', () => {
  it.each(pairs)('%s, then %s, %s: everybody sees the new one', async (...[, , , first, second, awaits]) => {
    const cells = createCells()
    await cells.run(probe)
    expect(
      await cells.run(
        `${write(first, 'N', 1, awaits)}\nconst get = () => N; class G { static get = () => N }; function* gen() { while (true) yield N }; const it = gen(); function deflt(x = N) { return x }`,
      ),
    ).toMatchObject({ outcome: 'ok' })
    expect((await cells.run('return [await probe(N), await probe(get())].join()')).value).toBe('1,1')
    expect(cells.names.kinds.get('N')).toBe(first.kind)
    expect(await cells.run(write(second, 'N', 2, awaits))).toMatchObject({ outcome: 'ok', changed: ['N'], added: [] })
    expect(
      (
        await cells.run(
          'return [await probe(N), await probe(get()), await probe(G.get()), await probe(it.next().value), await probe(deflt())].join()',
        )
      ).value,
    ).toBe('2,2,2,2,2')
    expect(cells.names.kinds.get('N')).toBe(second.kind)
    const isConstant = second.kind === 'const' || second.kind === 'import'
    expect((await cells.run(awaits ? 'await 0; N = 7' : '"use strict"; N = 7')).outcome).toBe(isConstant ? 'threw' : 'ok')
    expect((await cells.run('return N')).value !== 7).toBe(isConstant)
    expect(await cells.run('delete N; return typeof N')).toMatchObject({ outcome: 'ok', value: 'undefined', removed: ['N'] })
  })
})

describe('a name declared twice in one cell', () => {
  it.each(pairs)('%s, then %s, %s', async (...[, , , first, second, awaits]) => {
    const cells = createCells()
    await cells.run(probe)
    const source = `${write(first, 'N', 1, awaits)}\n${write(second, 'N', 2, awaits)}`
    const result = await cells.run(source)
    if (!mayRepeat(first, second)) {
      expect(result.rejection).toMatchObject({ code: 'OUT-N002' })
      expect((await cells.run('return typeof N')).value).toBe('undefined')
      return
    }
    expect(result).toMatchObject({ outcome: 'ok', added: ['N'] })
    const winner = second.kind === 'function' && first.word === 'var' ? 1 : 2
    expect(await (await cells.run('return await probe(N)')).value).toBe(winner)
  })
})

describe('a declaration that fails', () => {
  const failing: readonly (readonly [string, string])[] = [
    ['const', 'const N = fail()'],
    ['let', 'let N = await fail()'],
    ['pattern', 'const { N, other = fail() } = { N: 5 }'],
    ['array pattern', 'let [N, M = fail()] = [5]'],
    ['pattern that awaits', 'const { N, other = await Promise.reject(new Error("no")) } = { N: 5 }'],
    ['class', 'class N extends fail() {}'],
    ['class field', 'class N { static x = fail() }'],
    ['enum', 'enum N { a = fail() }'],
    ['namespace', 'namespace N { export const a = fail() }'],
    ['not reached', 'fail(); const N = 1'],
    ['not reached class', 'fail(); class N {}'],
  ]
  it.each(failing)('creates nothing: %s', async (_, source) => {
    const cells = createCells()
    await cells.run('const fail = () => { throw new Error("no") }')
    expect(await cells.run(source)).toMatchObject({ outcome: 'threw', added: [], changed: [] })
    expect((await cells.run('return typeof N')).value).toBe('undefined')
    expect((await cells.run('return N')).error).toMatchObject({ name: 'ReferenceError', message: 'N is not defined' })
    for (const form of forms) expect((await cells.run(write(form, 'N', 3, false))).outcome).toBe('ok')
  })

  it.each(failing)('leaves the old value: %s', async (_, source) => {
    for (const form of forms) {
      const cells = createCells()
      await cells.run(probe)
      await cells.run(`const fail = () => { throw new Error("no") }; ${write(form, 'N', 1, false)}`)
      expect(await cells.run(source)).toMatchObject({ outcome: 'threw', changed: [] })
      expect((await cells.run('return await probe(N)')).value).toBe(1)
    }
  })

  it('keeps what was finished before it', async () => {
    const cells = createCells()
    expect(await cells.run('const a = 1, b = null.x, c = 3')).toMatchObject({ outcome: 'threw', added: ['a'] })
    expect((await cells.run('return [a, typeof b, typeof c].join()')).value).toBe('1,undefined,undefined')
  })
})
