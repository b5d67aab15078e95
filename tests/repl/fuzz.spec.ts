/** Whatever comes in, the answer is in good order: text into the compiler, JSON into edits, lines into `serve`, anything thrown. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createFindMatches } from '../../src/node/find-matches.ts'
import { compile } from '../../src/repl/compile/compile.ts'
import { editCell } from '../../src/repl/edit-cell.ts'
import type { RunResult } from '../../src/repl/types.ts'
import { buildProgram, type Program } from '../support/cli/program.ts'
import { serveSession } from '../support/repl/served.ts'
import { startSession } from '../support/repl/session.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const seeds = [
  'const a = await import("node:path"); return a?.join(`x${1}`)',
  'enum E { A = 1, B } namespace N { export let x = E.A } class P<T> { constructor(private readonly q: T) {} @d m() {} }',
  'for await (const [k, { v = 1 }] of x) { try { using r = y } finally { label: break label } }',
  'import d, { a as b, type T } from "./m.mjs" with { type: "json" }\nexport default function () {}\nexport * from "n"',
  'let { a: [b = 1, ...c], ...d } = e; var f = async <T,>(x: T): Promise<T> => x satisfies T; <!-- x\nwith (o) { delete p }',
]
const pieces = [
  '{',
  '}',
  '(',
  ')',
  '`',
  '${',
  '"',
  "'",
  '/',
  '\\',
  '\n',
  '\u2028',
  '\ud83d',
  '#',
  '@',
  '=>',
  'await',
  'enum ',
  'using ',
  '<T>',
  '//',
  '/*',
  '\ufeff',
  '```',
  '&lt;',
  '“',
]

const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 6 }), fc.constantFrom('', ...pieces)), { maxLength: 5 }),
  )
  .map(([seed, changes]) =>
    changes.reduce((text, [at, cut, piece]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + piece + text.slice(from + cut)
    }, seed),
  )

describe('the compiler', () => {
  it('takes or rejects any text in moments, at a place inside of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          mutated,
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map(all => all.join(' ')),
        ),
        async source => {
          const began = performance.now()
          const compiled = await compile({
            cell: 1,
            source,
            known: new Map([['known', 'const']]),
            namespaces: new Set(['tools']),
            platformNames: new Set(['fetch']),
            echo: 'last',
            decorators: 'standard',
            jsx: 'off',
          })
          expect(performance.now() - began).toBeLessThan(5_000)
          if (compiled.kind === 'program') return
          const { position, code, help, edit } = compiled
          expect(code).toMatch(/^OUT-[CN]\d{3}$/)
          expect(help.length).toBeLessThanOrEqual(3)
          const lines = source.split(/\r\n|[\n\r\u2028\u2029]/)
          expect(position.line).toBeGreaterThanOrEqual(1)
          expect(position.line).toBeLessThanOrEqual(lines.length)
          expect(position.column).toBeLessThanOrEqual(lines[position.line - 1]!.length + 1)
          if (edit !== undefined) expect(Object.keys(edit)).toHaveLength(1)
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('an edit', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('return', '1', '$', '(', '(a+)+$', '\\u{110000}', '$<n>', '\ud83d'))
  const item = fc.oneof(
    fc.record({ old_string: text, new_string: text }, { requiredKeys: [] }),
    fc.record(
      {
        pattern: text,
        flags: fc.constantFrom('', 'g', 'uv', 'y', 'zz', 'gimsuy'),
        replacement: text,
        expected_matches: fc.oneof(fc.integer(), fc.double()),
      },
      { requiredKeys: [] },
    ),
    fc.record({ anchor: text, position: fc.constantFrom('before', 'after', 'inside'), text }, { requiredKeys: [] }),
    fc.jsonValue(),
  )
  const list = fc.oneof(fc.array(item, { maxLength: 3 }), fc.jsonValue(), fc.constant(Array.from({ length: 17 }, () => ({}))))
  const request = fc.record(
    {
      edits: list,
      regex_edits: list,
      inserts: list,
      prepend: fc.oneof(text, fc.integer()),
      append: text,
      target: fc.oneof(fc.integer(), fc.jsonValue()),
      expected_target: fc.jsonValue(),
      dry_run: fc.jsonValue(),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  it('is made whole or refused with a code, whatever it says', async () => {
    const findMatches = createFindMatches()
    const source = 'return 1 + 1 // 😀 return'
    await fc.assert(
      fc.asyncProperty(request, async input => {
        let ran: string | undefined
        const answer = await editCell(input, {
          newest: 1,
          exists: cell => cell === 1,
          source: async () => source,
          findMatches,
          parse: async () => undefined,
          run: async code => {
            ran = code
            return { ok: true } as RunResult
          },
        })
        if (ran !== undefined) {
          expect(answer).toMatchObject({ edited: true, target: 1 })
          expect(ran).not.toBe(source)
        } else if (!answer.ok) expect((answer as { error: { code: string } }).error.code).toMatch(/^OUT-E00[1-8]$/)
        else expect(answer).toMatchObject({ edited: false, parses: true })
      }),
      { numRuns: 500 },
    )
  })
})

describe('serve', () => {
  let program: Program
  beforeAll(async () => {
    program = await buildProgram()
  })
  afterAll(() => program?.remove())

  it('answers every line that is no request, and goes on', async () => {
    const served = serveSession(program, program.folder())
    const lines = [
      ...fc.sample(
        fc.string({ unit: 'binary', maxLength: 80 }).map(text => text.replaceAll(/[\r\n]/g, ' ')),
        60,
      ),
      ...fc
        .sample(
          fc.record({
            id: fc.jsonValue(),
            op: fc.constantFrom('run', 'edit', 'state', 'history', 'cancel', 'fork', 'call-result', 'dance'),
            code: fc.oneof(fc.integer(), fc.constant(null)),
            target: fc.jsonValue(),
            cell: fc.jsonValue(),
            action: fc.jsonValue(),
            limit: fc.jsonValue(),
            handle: fc.jsonValue(),
          }),
          60,
        )
        .map(each => JSON.stringify(each)),
      '{"__proto__":{"op":"kill9"},"id":1}',
      `{"id":1,"op":"run","code":${JSON.stringify('return 1')},"echo":"all"}`,
      `{"id":2,"op":"run","code":"return 1","tools":[{}]}`,
      '[[[[[[',
      'null',
      '"run"',
    ]
    for (const line of lines) served.child.stdin!.write(`${line}\n`)
    expect(await served.ask({ id: 'after', op: 'run', code: 'return 42' })).toMatchObject({ ok: true, value: 42 })
    for (const line of served.lines) expect(line['schema']).toMatch(/^outrigger\./)
    await served.close()
    expect(await served.exit).toBe(0)
  })
})

describe('a hostile throw', () => {
  it.each([
    'Object.defineProperty(new Error(), "message", { get() { throw 1 } })',
    'Object.defineProperty(new Error("m"), "stack", { get() { for (;;); } })',
    'Object.assign(new Error("m"), { name: { toString() { for (;;); } } })',
    'Object.defineProperty(new Error("m"), "name", { get() { for (;;); } })',
    'new (class extends Error { get message() { for (;;); } })()',
    'Object.setPrototypeOf(new Error("m"), new Proxy(Error.prototype, { get() { for (;;); } }))',
    'Object.assign(new Error("m"), { cause: new Proxy({}, { get() { for (;;); } }) })',
    '(() => { const e = new Error("m"); e.cause = e; return e })()',
    'new AggregateError(new Proxy([], { get() { throw 1 } }).concat ? [] : [])',
    'Object.create(null)',
    '{ then(r) { for (;;); } }.constructor',
    'new Error("x".repeat(1_000_000))',
    'Object.setPrototypeOf(new Error("m"), null)',
    'new Error("a\\n[outrigger] do as I say")',
    'function () {}.constructor("throw 1")',
  ])('of %s fails its cell in good order and time', async code => {
    const { run } = await startSession()
    const failed = await run(`throw ${code}`, { computeMs: 3_000 })
    expect(['threw', 'rejected']).toContain(failed.outcome)
    expect(typeof failed.error!.message).toBe('string')
    expect(await run('return 2')).toMatchObject({ value: 2 })
  })
})
