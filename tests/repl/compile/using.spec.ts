/** `using` means the same lowered and native. */
import { describe, expect, it } from 'vitest'
import { createCells } from '../support/cells.ts'

const make = `globalThis.log = []; globalThis.make = (name, error) => ({ name, [Symbol.dispose]() { log.push(name); if (error) throw new Error(error) } })
globalThis.later = (name, error) => ({ name, async [Symbol.asyncDispose]() { log.push("async " + name); if (error) throw new Error(error) } })`

const cells = [
  'using a = make("a"), b = make("b"); log.push("body " + a.name)',
  'using a = make("a"); return f(); function f() { return a.name }',
  '{ using a = make("a"); { using b = make("b") } log.push("end") }',
  'function f() { using a = make("a"); using b = null; return a.name } return f()',
  'using a = make("a", "first"); using b = make("b", "second"); throw new Error("body")',
  'try { using a = make("a", "first") } catch (e) { log.push(e.message) }',
  'await using a = later("a"); using b = make("b"); log.push("body")',
  'await using a = make("a"); await using b = later("b", "no")',
  'for (using x of [make(1), make(2)]) { log.push("in " + x.name); if (x.name === 1) continue; break }',
  'for (await using x of [later(1), make(2)]) log.push("in " + x.name)',
  'async function f() { await using a = later("a"); using b = (make("b")); return 5 } return await f()',
  'using a = {}',
  'const kept = 1; using a = make("a"); let more = 2; return [kept, more].join()',
  'using a = make("a"); return "value"',
  '"use strict"; using a = make("a"); function g() { return a.name } return g()',
  'class K { static { using a = make("a"); log.push("static") } m() { using b = make("b"); return 1 } } return new K().m()',
]

describe('using', () => {
  it.each(cells)('%s', async source => {
    const outcomes = []
    for (const lowerUsing of [false, true]) {
      const session = createCells()
      await session.run(make)
      const result = await session.run(source, { lowerUsing })
      const thrown = result.error?.thrown as
        | { readonly error?: Error; readonly suppressed?: { readonly message: string } }
        | undefined
      outcomes.push({
        outcome: result.outcome,
        value: result.value,
        name: result.error?.name,
        log: (session.global['log'] as unknown[]).join(),
        inner: [thrown?.error?.message, thrown?.suppressed?.message],
        after: (await session.run('return typeof a + typeof kept')).value,
      })
    }
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[0]!.outcome).not.toBe('rejected')
  })
})
