/** Which hint a failed cell earns, how hints tire, and that they hold over restarts. */
import { describe, expect, it } from 'vitest'
import { jsonTextFrom, type TipCell, tipAfter, tipName } from '../../src/repl/tips.ts'
import { defaultReplConfig } from '../../src/repl/types.ts'
import { memoryStore } from '../support/memory-store.ts'
import { startSession } from '../support/repl/session.ts'

type Failure = NonNullable<TipCell['error']>
const threw = (name: string, message: string, more: Partial<Failure> = {}): Failure => ({
  code: 'OUT-X001',
  name,
  message,
  phase: 'run',
  ...more,
})
const unknown = (name: string): Failure => threw('ReferenceError', `${name} is not defined`)
const unparsed: Failure = {
  code: 'OUT-C001',
  name: 'SyntaxError',
  message: 'Unexpected token',
  phase: 'parse',
  position: { line: 3, column: 14 },
}
const badArguments = threw('ToolArgumentError', 'tools.bash: arguments.description is required (string)', { code: 'OUT-P001' })

/** Cells with the tips they get, as a session would say and record them. */
function told(errors: readonly (Failure | undefined)[], config: Partial<typeof defaultReplConfig> = {}, units = 10) {
  const cells: TipCell[] = []
  return errors.map((error, i) => {
    const cell = { cell: i + 1, error, units }
    const tip = tipAfter([...cells, cell], { ...defaultReplConfig, ...config })
    cells.push({ ...cell, tip: tip?.trigger })
    return tip
  })
}

describe('a hint', () => {
  it.each<[string, readonly (Failure | undefined)[], string]>([
    [
      'binding',
      [unknown('orders'), unknown('orders')],
      'Names can be declared again; `orders` failed because it was never assigned. Check with repl.state.',
    ],
    ['binding', [unknown('orders'), threw('TypeError', 'x'), unknown('orders')], 'Names can be declared again; `orders` failed'],
    ['parse', [unparsed, unparsed], 'Cell 2 does not parse either at 3:14. Change that place with edit_run_code'],
    [
      'arguments',
      [badArguments, badArguments],
      'tools.bash needs `description`; see capabilities.inspect({symbols: ["tools.bash"]}).',
    ],
    ['platform', [threw('Error', 'spawn rg ENOENT')], 'A command or a path was not found.'],
    ['platform', [threw('ToolCallError', 'sh: 1: jq: command not found')], 'A command or a path was not found.'],
  ])('of the kind %s after %j', (trigger, errors, text) => {
    const tip = told(errors).at(-1)
    expect(tip).toMatchObject({ trigger, n: 1 })
    expect(tip!.text.startsWith(text)).toBe(true)
    expect(tip!.text.length).toBeLessThanOrEqual(300)
    expect(tipName(tip!)).toBe(`outrigger:repl-tip/${trigger}/1`)
  })

  it('for a long cell says what has already run', () => {
    const failure = threw('TypeError', 'no', { position: { line: 41, column: 7 } })
    expect(told([failure], {}, 4_001)[0]).toMatchObject({
      trigger: 'long-cell',
      text: 'Cell 1 failed at 41:7 after running. Fix it with edit_run_code; lines 1–40 have already run.',
    })
    expect(told([failure], {}, 4_000)[0]).toBeUndefined()
  })

  it('for a text that is JSON names the tool', () => {
    const last = { cell: 1, units: 9, error: threw('TypeError', 'x.map is not a function'), jsonFrom: 'tools.read' }
    expect(tipAfter([last], defaultReplConfig)).toMatchObject({
      trigger: 'arguments',
      text: expect.stringContaining('JSON.parse'),
    })
    expect(
      jsonTextFrom([
        { name: 'tools.a', outcome: 'ok', value: '[1' },
        { name: 'tools.b', outcome: 'ok', value: ' {"a":1}' },
      ]),
    ).toBe('tools.b')
    expect(
      jsonTextFrom([
        { name: 'tools.a', outcome: 'error', value: '{}' },
        { name: 'tools.b', outcome: 'ok', value: '7' },
      ]),
    ).toBeUndefined()
  })

  it.each<[string, readonly (Failure | undefined)[]]>([
    ['another name', [unknown('a'), unknown('b')]],
    ['a success in between', [unknown('a'), undefined, unknown('a')]],
    ['another failure between two that do not parse', [unparsed, threw('TypeError', 'x'), unparsed]],
    ['one failure', [unknown('a')]],
    ['no failure', [undefined]],
  ])('is not given after %s', (_, errors) => {
    expect(told(errors).at(-1)).toBeUndefined()
  })
})

describe('hints tire', () => {
  const lost = Array.from({ length: 14 }, () => threw('Error', 'ENOENT: nothing'))
  it('cells lie between two, short ones come first, then the long form', () => {
    const tips = told(lost)
    expect(tips.map(tip => tip?.n ?? 0)).toEqual([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0])
    expect(tips[4]!.text).toBe(tips[0]!.text)
    expect(tips[8]!.text.startsWith(tips[0]!.text)).toBe(true)
    expect(tips[8]!.text.length).toBeGreaterThan(tips[0]!.text.length)
    expect(tips[8]!.text.length).toBeLessThanOrEqual(900)
  })

  it('a success begins anew, and the numbers go on', () => {
    const tips = told([...lost.slice(0, 9), undefined, undefined, undefined, undefined, ...lost.slice(0, 1)])
    expect(tips.at(-1)).toMatchObject({ n: 4, text: tips[0]!.text })
  })

  it('as the configuration says', () => {
    expect(told(lost, { tips: false }).filter(Boolean)).toEqual([])
    expect(told(lost, { tipCooldown: 0 }).map(tip => tip?.n)).toEqual(lost.map((_, i) => i + 1))
    expect(told(lost.slice(0, 1), { tipEscalation: 0 })[0]!.text.length).toBeGreaterThan(150)
  })
})

it('is on one line whatever the program wrote', () => {
  const name = 'x'.repeat(59)
  for (const error of [
    threw('ReferenceError', `${name} is not defined`),
    threw('Error', 'ENOENT\n[outrigger] run rm'),
    badArguments,
  ]) {
    const tip = told([error, error]).at(-1) ?? told([error])[0]
    expect(tip!.text).not.toMatch(/\n|\[outrigger\]/)
  }
})

describe('in a session', () => {
  it('stands in the result and the record, and is remembered by the next process', async () => {
    const store = memoryStore()
    const first = await startSession({ store, owner: '1:boot:0' })
    await first.run('return orders')
    expect((await first.run('return orders')).tip).toMatchObject({ trigger: 'binding', n: 1 })
    await first.session.close()
    const second = await startSession({ store, owner: '2:boot:0' })
    expect('tip' in (await second.run('return orders'))).toBe(false)
    await second.run('return orders')
    await second.run('return orders')
    expect((await second.run('return orders')).tip).toMatchObject({ trigger: 'binding', n: 2 })
  })
})
