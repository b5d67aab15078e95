import { describe, expect, it } from 'vitest'
import { chooseEdges, dropAcks, isNamed, pendingAcks, recordAcks } from '../../src/keel/acks.ts'
import { isAlone, markLive, unmarkLive } from '../../src/keel/peers.ts'
import { checkReason, isPersonOnly } from '../../src/keel/policy.ts'
import type { Ack } from '../../src/keel/types.ts'
import { FakeKeel, fakeConfig, hex } from '../support/keel-fake.ts'
import { memoryStore } from '../support/memory-store.ts'

const ack = (edge: string, content: string, reason = 'fine'): Ack => ({
  edge,
  content: hex(content),
  kind: 'ok',
  reason,
  who: { kind: 'agent', session: 's' },
  evidence: null,
})

describe('acknowledgements that wait', () => {
  it('belong to their session; a newer one for an edge replaces the older', async () => {
    const store = memoryStore()
    await recordAcks(store, 's', [ack('a', 'one'), ack('b', 'one')])
    await recordAcks(store, 's', [ack('a', 'two')])
    await recordAcks(store, 't', [ack('a', 'three')])
    expect(await pendingAcks(store, 's')).toEqual([ack('b', 'one'), ack('a', 'two')])
    expect(await pendingAcks(store, 't')).toEqual([ack('a', 'three')])
  })

  it('that were given while others were dealt with stay', async () => {
    const store = memoryStore()
    await recordAcks(store, 's', [ack('a', 'one')])
    const seen = await pendingAcks(store, 's')
    await recordAcks(store, 's', [ack('a', 'two'), ack('b', 'one')])
    await dropAcks(store, 's', seen)
    expect(await pendingAcks(store, 's')).toEqual([ack('a', 'two'), ack('b', 'one')])
    await dropAcks(store, 's', await pendingAcks(store, 's'))
    expect(await store.list('keel/acks/')).toEqual([])
  })

  it('of many calls at once are all kept', async () => {
    const store = memoryStore()
    await Promise.all(Array.from({ length: 15 }, (_, index) => recordAcks(store, 's', [ack(`e${index}`, 'one')])))
    expect(await pendingAcks(store, 's')).toHaveLength(15)
  })

  it('that are damaged are left out', async () => {
    const store = memoryStore()
    for (const value of [null, 1, 'x', [], {}, { acks: 1 }, { acks: [null, {}, { ...ack('a', 'x'), content: '../x' }] }]) {
      const version = (await store.get('keel/acks/s'))?.version ?? 0
      await store.put('keel/acks/s', value as never, version)
      expect(await pendingAcks(store, 's')).toEqual([])
    }
  })
})

describe('the edges that are meant', () => {
  async function edges() {
    const keel = new FakeKeel()
    for (const source of ['a.md', 'b.md', 'note']) keel.source(source, 'now')
    keel.declare('d.md', 'a.md', 'old', { anchor: 'One' })
    keel.declare('d.md', 'b.md', 'now')
    keel.declare('d.md', 'note', 'old', { kind: 'wikilink' })
    keel.declare('d.md', 'gone.md', 'old')
    await keel.refresh({ kind: 'full' })
    return keel.edges()
  }

  it.each(['a.md', 'a.md#One', '[[note]]', 'note'])('are named as %s', async name => {
    expect((await edges()).filter(edge => isNamed(edge, name))).toHaveLength(1)
  })

  it('are the suspects that can be acknowledged', async () => {
    const all = await edges()
    expect(chooseEdges('d.md', all, undefined, true).acks.map(edge => edge.ref)).toEqual(['a.md', 'note'])
    expect(chooseEdges('d.md', all, undefined, true).skipped).toMatchObject([{ edge: { ref: 'gone.md' } }])
    expect(chooseEdges('d.md', all, 'a.md', false).acks).toHaveLength(1)
    expect(chooseEdges('d.md', all, 'b.md', false)).toMatchObject({ acks: [], skipped: [{ why: 'it is clean' }] })
    const id = all.find(edge => edge.ref === 'a.md')!.id
    expect(chooseEdges('d.md', all, id, false).acks).toHaveLength(1)
  })

  it.each<[string, string | undefined, string]>([
    ['several without a name', undefined, 'KEEL_AMBIGUOUS_EDGE'],
    ['one that is not there', 'x.md', 'KEEL_UNKNOWN_EDGE'],
    ['one without content', 'gone.md', 'KEEL_NOT_ACKABLE'],
  ])('are refused: %s', async (_, source, code) => {
    const all = await edges()
    expect(() => chooseEdges('d.md', all, source, false)).toThrowError(expect.objectContaining({ code }))
  })
})

describe('the policy', () => {
  it('knows the documents of persons by globs', () => {
    const ack = { ...fakeConfig.ack, personOnly: ['docs/**', '*.legal.md'] }
    expect(isPersonOnly({ ack }, 'docs/a/b.md')).toBe(true)
    expect(isPersonOnly({ ack }, 'docs/.hidden/b.md')).toBe(true)
    expect(isPersonOnly({ ack }, 'x.legal.md')).toBe(true)
    expect(isPersonOnly({ ack }, 'src/a.md')).toBe(false)
  })

  it('wants a reason of 3 to 500 characters', () => {
    expect(checkReason('  yes ', () => 'x')).toBe('yes')
    for (const bad of [undefined, '', '  ', ' ab ', 'x'.repeat(501)]) {
      expect(() => checkReason(bad, () => 'x')).toThrowError(expect.objectContaining({ code: 'KEEL_REASON_REQUIRED' }))
    }
  })
})

describe('sessions at work', () => {
  it('are seen for an hour after their last turn', async () => {
    const store = memoryStore()
    const hour = 60 * 60_000
    expect(await isAlone(store, 'a', 0)).toBe(true)
    await markLive(store, 'a', 10 * hour)
    await markLive(store, 'b', 10 * hour)
    expect(await isAlone(store, 'a', 10.5 * hour)).toBe(false)
    expect(await isAlone(store, 'a', 11 * hour)).toBe(true)
    await markLive(store, 'b', 11 * hour)
    expect(await isAlone(store, 'a', 11 * hour)).toBe(false)
    await unmarkLive(store, 'b')
    expect(await isAlone(store, 'a', 11 * hour)).toBe(true)
  })

  it('that were forgotten leave nothing behind', async () => {
    const store = memoryStore()
    await markLive(store, 'old', 0)
    await isAlone(store, 'a', 15 * 24 * 60 * 60_000)
    expect(await store.list('keel/live/')).toEqual([])
  })
})
