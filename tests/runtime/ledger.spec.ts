import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import { createLedger } from '../../src/runtime/ledger.ts'
import { createModes } from '../../src/runtime/modes.ts'
import type { LedgerEntry, LedgerFilter, LedgerRecord } from '../../src/runtime/project.ts'
import { mask } from '../../src/text/redact.ts'
import { fixedClock } from '../support/fixed-clock.ts'
import { memoryStore } from '../support/memory-store.ts'

const day = 24 * 60 * 60 * 1000
const entry = (more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  engine: 'keel',
  session: 's1',
  turn: 3,
  what: 'told',
  text: 'one line',
  ...more,
})

function setUp() {
  const clock = fixedClock('2026-03-15T10:00:00.000Z')
  const store = memoryStore({ clock })
  const modes = createModes()
  const ledger = createLedger({ store: async () => store, clock, modes, mask })
  const read = async (filter?: LedgerFilter): Promise<LedgerRecord[]> => {
    const found: LedgerRecord[] = []
    for await (const record of ledger.read(filter)) found.push(record)
    return found
  }
  return { clock, store, modes, ledger, read }
}

describe('the ledger', () => {
  it('keeps what was written, in the month of its time', async () => {
    const { store, ledger, read } = setUp()
    await ledger.write([entry(), entry({ reason: 'no-carrier', detail: { n: [1] }, at: Date.parse('2026-02-01T00:00:00Z') })])
    expect(await store.list('')).toEqual(['ledger/2026-02', 'ledger/2026-03'])
    expect(await read()).toEqual([
      {
        at: '2026-02-01T00:00:00.000Z',
        engine: 'keel',
        session: 's1',
        turn: 3,
        what: 'told',
        reason: 'no-carrier',
        text: 'one line',
        detail: { n: [1] },
      },
      { at: '2026-03-15T10:00:00.000Z', engine: 'keel', session: 's1', turn: 3, what: 'told', reason: null, text: 'one line' },
    ])
  })

  it('filters by engine, session and time', async () => {
    const { clock, ledger, read } = setUp()
    await ledger.write([
      entry({ text: 'a' }),
      entry({ text: 'b', engine: 'pack' }),
      entry({ text: 'c', session: null, turn: null }),
    ])
    clock.advance(40 * day)
    await ledger.write([entry({ text: 'd' })])
    const texts = async (filter: LedgerFilter) => (await read(filter)).map(record => record.text)
    expect(await texts({ engine: 'pack' })).toEqual(['b'])
    expect(await texts({ session: 's1' })).toEqual(['a', 'b', 'd'])
    expect(await texts({ since: clock.now() })).toEqual(['d'])
    expect(await texts({ since: clock.now() + 1 })).toEqual([])
    expect(await texts({ engine: 'keel', session: 's1', since: clock.now() - day })).toEqual(['d'])
  })

  it('masks secrets before they reach the store, keys and details too', async () => {
    const { store, ledger } = setUp()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await ledger.write([entry({ text: `used ${secret}`, detail: { list: [`x ${secret}`], [`k ${secret}`]: { deep: secret } } })])
    for await (const { record } of store.read('ledger/2026-03', 0)) expect(JSON.stringify(record)).not.toContain(secret)
  })

  it('removes months that ended more than 90 days ago, with the first write of a month', async () => {
    const { clock, store, ledger } = setUp()
    await ledger.write([entry()])
    clock.set(Date.parse('2026-06-29T00:00:00Z'))
    await ledger.write([entry()])
    expect(await store.list('ledger/')).toEqual(['ledger/2026-03', 'ledger/2026-06'])
    clock.set(Date.parse('2026-07-01T00:00:00Z'))
    await ledger.write([entry()])
    expect(await store.list('ledger/')).toEqual(['ledger/2026-06', 'ledger/2026-07'])
  })

  it('never throws: a store that cannot be written is a mode with its reason, until it can', async () => {
    const { store, modes, ledger, read } = setUp()
    store.failWith(new OutriggerError('STORE_UNAVAILABLE', 'no room'))
    await ledger.write([entry()])
    expect(modes.list()).toEqual([{ name: 'ledger: not written', why: 'no room' }])
    store.failWith(undefined)
    await ledger.write([entry({ text: 'later' })])
    expect(modes.list()).toEqual([])
    expect((await read()).map(record => record.text)).toEqual(['later'])
  })

  it('makes no store for nothing', async () => {
    const ledger = createLedger({
      store: () => Promise.reject(new Error('asked for')),
      clock: fixedClock(),
      modes: createModes(),
      mask,
    })
    await ledger.write([])
  })

  it.each([
    null,
    1,
    'x',
    [],
    {},
    { at: 'never', engine: 'keel', what: 'a', text: 'b' },
    { at: '2026-03-01T00:00:00Z', engine: 'other', what: 'a', text: 'b' },
  ])('leaves out a line of another shape: %j', async line => {
    const { store, ledger, read } = setUp()
    await store.append('ledger/2026-03', line)
    await ledger.write([entry()])
    expect(await read()).toHaveLength(1)
  })
})
