/** Random programs and random values: run again and stored, they are the same. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharedWorker } from '../../support/repl/raw-worker.ts'

const step = fc.oneof(
  fc.constantFrom(
    'log.push(Date.now())',
    'log.push(Math.random())',
    'log.push(performance.now())',
    'log.push(require("crypto").randomInt(1_000))',
    'log.push(String(process.hrtime.bigint()))',
    'log.push(crypto.randomUUID())',
    'await new Promise(done => setImmediate(done))',
    'await null',
    'await new Promise(done => require("crypto").randomBytes(2, (_, b) => { log.push([...b]); done() }))',
  ),
  fc.nat(6).map(ms => `setTimeout(() => log.push(["timer", ${ms}, Date.now()]), ${ms})`),
  fc.nat(4).map(ms => `await new Promise(done => setTimeout(done, ${ms}))`),
  fc.nat(9).map(n => `log.push(await tools.echo({ n: ${n} }))`),
  fc.nat(9).map(n => `void tools.echo({ n: ${n} }).then(v => log.push(v))`),
  fc.nat(5).map(ms => `{ const i = setInterval(() => { log.push("tick"); clearInterval(i) }, ${ms}) }`),
)

const leaf = fc.oneof(
  fc.integer().map(String),
  fc.double().map(n => (Object.is(n, -0) ? '-0' : String(n))),
  fc.string().map(text => JSON.stringify(text)),
  fc.bigInt().map(n => `${n}n`),
  fc.constantFrom(
    'null',
    'undefined',
    'true',
    'NaN',
    'shared',
    'shared.list',
    'Point',
    'open',
    'new Date(7)',
    '/a+/gi',
    'Symbol.iterator',
    'Symbol.for("s")',
    'Math.max',
    'new Uint8Array([1, 2])',
    'Buffer.from("b")',
    'new URL("http://a/")',
    'new RangeError("r")',
    'require("node:path").join',
    'Promise.resolve(1)',
    'Object(1)',
    'new Array(3)',
    'process.env',
  ),
)
const { value } = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }).map(each => `[${each.join(', ')}]`),
    fc
      .array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 })
      .map(each => `{ ${each.map(([key, held]) => `[${JSON.stringify(key)}]: ${held}`).join(', ')} }`),
    fc
      .array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 })
      .map(each => `new Map([${each.map(([key, held]) => `[${key}, ${held}]`).join(', ')}])`),
    fc.array(tie('value'), { maxLength: 3 }).map(each => `new Set([${each.join(', ')}])`),
    tie('value').map(held => `Object.assign(new Point(), { held: ${held} })`),
    tie('value').map(held => `Object.assign(x => x, { held: ${held} })`),
    tie('value').map(held => `Object.freeze([${held}])`),
  ),
}))

describe('any program', () => {
  const [one, two] = [sharedWorker(), sharedWorker()]

  it('gets in its replay what it got when it was recorded', async () => {
    const [first, second] = [await one(), await two()]
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
        const source = `const log = []; ${steps.join('; ')}; await new Promise(done => setTimeout(done, 3)); return log.slice()`
        const ran = await first.run(source, { call: (_, args) => args })
        expect(ran.done).toMatchObject({ outcome: 'ok', effects: [] })
        const again = await second.again(ran, source)
        expect(again.done.divergence).toBeUndefined()
        expect(again.value).toEqual(ran.value)
      }),
      { numRuns: 25 },
    )
  }, 60_000)
})

describe('any value', () => {
  const [one, two] = [sharedWorker(), sharedWorker()]

  it('is stored as the same bytes after it came back', async () => {
    const [first, second] = [await one(), await two()]
    let cell = 10
    const sources = new Map<number, string>()
    await fc.assert(
      fc.asyncProperty(value, value, async (a, b) => {
        cell++
        const source = `class Point { x = 1 } const open = () => 1; const shared = { list: [1] }; const a = ${a}; const b = [${b}, a]`
        sources.set(cell, source)
        const { done } = await first.run(source, { cell })
        expect(done.failure).toBeUndefined()
        const [stored] = await first.check(['a', 'b', 'shared', 'Point', 'open'])
        const { hash, names, opaque, cells } = stored!.component
        expect(opaque).toEqual([])
        second.give(hash!, stored!.bytes!)
        const restored = await second.restore({
          sources: cells.map(each => ({ cell: each, source: sources.get(each)! })),
          components: [{ hash: hash!, names: names.map(name => ({ name, kind: 'const' as const, cell })) }],
        })
        expect(restored.names.filter(each => each.status === 'lost')).toEqual([])
        const [again] = await second.check(names)
        expect(again!.component.opaque).toEqual([])
        expect(again!.component.hash).toBe(hash)
      }),
      { numRuns: 60 },
    )
  }, 60_000)
})
