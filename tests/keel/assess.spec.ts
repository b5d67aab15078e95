import { describe, expect, it } from 'vitest'
import { assessEdge, type EdgeFacts, type Place, type TargetView } from '../../src/keel/assess.ts'
import type { Entry, EntryStamp, Hex12, SliceIds, Suggestion } from '../../src/keel/types.ts'

const id = (text: string) => text.padEnd(12, '0') as Hex12
const ids = (norm: string): SliceIds => ({ norm: id(norm), raw: id(`${norm}1`), lf: id(`${norm}2`), tail: [id(`${norm}3`)] })
const found = (norm: string, namesakes: { anchor: string; ids: SliceIds }[] = []): TargetView => ({
  kind: 'found',
  match: 'exact',
  heading: 'One',
  span: { start: 0, end: 9 },
  firstLine: 1,
  lastLine: 2,
  binary: false,
  ids: ids(norm),
  namesakes,
})
const hex = (text: string): EntryStamp => ({ kind: 'hex', value: id(text) })
const none: EntryStamp = { kind: 'none' }
const entry = (stamp: EntryStamp): Entry => ({
  kind: 'path',
  text: 'a.md#One',
  ref: 'a.md',
  anchor: 'One',
  stamp,
  scope: { type: 'file' },
  style: 'plain',
  span: { start: 0, end: 8 },
  stampSpan: null,
  stampAt: 8,
  line: 3,
  column: 5,
  ordinal: 0,
  repeats: [],
})
const file: Place = { kind: 'file', ref: 'a.md', anchor: 'One', target: 'a.md', match: null }
const at = <K extends Place['kind']>(kind: K, target: string | null = 'a.md') =>
  ({ kind, ref: 'a.md', anchor: 'One', target }) as unknown as Place
const moved: Suggestion = { ref: 'b.md', anchor: 'One', basis: 'content', score: 1 }

function facts(given: Partial<EdgeFacts> & { readonly stamp?: EntryStamp }): EdgeFacts {
  const { stamp = hex('a'), ...rest } = given
  return {
    id: '0123456789abcdef',
    child: 'd.md',
    entry: entry(stamp),
    outside: [],
    place: file,
    isVendored: false,
    isParked: false,
    view: found('a'),
    known: null,
    indexId: null,
    movedLines: null,
    suggest: null,
    policy: null,
    isStale: false,
    ...rest,
  }
}

const conflict: EntryStamp = { kind: 'conflict', values: [id('a'), id('b')] }
const bad: EntryStamp = { kind: 'bad', value: '12' }
const ok: EntryStamp = { kind: 'ok', value: null, reason: null }

describe('the state of an edge is the first that applies', () => {
  it.each<[string, Partial<EdgeFacts> & { stamp?: EntryStamp }]>([
    ['skipped', { isVendored: true, stamp: conflict, place: at('opaque') }],
    ['opaque', { place: at('opaque'), stamp: conflict }],
    ['conflict', { stamp: conflict, place: at('unresolved') }],
    ['unresolved', { place: at('unresolved'), stamp: none, isParked: true }],
    ['ambiguous', { place: at('ambiguous'), isParked: true }],
    ['source-parked', { isParked: true, place: at('missing') }],
    ['source-moved', { place: at('missing'), suggest: moved }],
    ['source-missing', { place: at('missing'), suggest: { ...moved, basis: 'git' } }],
    ['source-missing', { place: at('missing') }],
    ['source-not-file', { place: at('not-file') }],
    ['unreadable', { place: at('unreadable'), stamp: bad }],
    ['unknown', { view: { kind: 'unknown' }, stamp: bad }],
    ['unreadable', { view: { kind: 'unreadable', why: 'x' }, stamp: bad }],
    ['unsupported-anchor', { view: { kind: 'unsupported' }, stamp: bad }],
    ['anchor-missing', { view: { kind: 'missing' }, stamp: bad }],
    ['bad-stamp', { stamp: bad, known: id('b') }],
    ['stamp-removed', { stamp: none, known: id('b') }],
    ['pending-stamp', { stamp: none, known: id('a') }],
    ['pending-stamp', { stamp: none, known: id('a2') }],
    ['pending-stamp', { stamp: none }],
    ['ok-requested', { stamp: ok }],
    ['needs-reason', { stamp: ok, policy: 'needs-reason' }],
    ['needs-person', { policy: 'needs-person' }],
    ['clean', {}],
    ['clean', { stamp: hex('a1') }],
    ['anchor-moved', { stamp: hex('b'), view: found('a', [{ anchor: 'One (2)', ids: ids('b') }]) }],
    ['anchor-moved', { stamp: hex('b'), movedLines: 'L3-L4' }],
    ['changed', { stamp: hex('b') }],
  ])('%s', (state, given) => {
    const edge = assessEdge(facts(given), 'normalized')
    expect(edge.reason ?? edge.state).toBe(state)
  })

  it('a stamp in the document counts before those beside it; of several beside it the one that holds', () => {
    const beside = (outside: readonly Hex12[], stamp: EntryStamp = none) => {
      const edge = assessEdge(facts({ stamp, outside }), 'normalized')
      return [edge.reason ?? edge.state, edge.stamp.value]
    }
    expect(beside([id('a')])).toEqual(['clean', id('a')])
    expect(beside([id('b')])).toEqual(['changed', id('b')])
    expect(beside([id('b'), id('a')])).toEqual(['clean', id('a')])
    expect(beside([id('b'), id('c')])).toEqual(['conflict', null])
    expect(beside([id('a'), id('a1')])).toEqual(['conflict', null])
    expect(beside([id('a')], hex('b'))).toEqual(['changed', id('b')])
  })

  it('where every byte counts, only the bytes and the index do', () => {
    const state = (stamp: EntryStamp, rest: Partial<EdgeFacts> = {}) => {
      const edge = assessEdge(facts({ stamp, ...rest }), 'exact')
      return [edge.reason ?? edge.state, edge.form, edge.current]
    }
    expect(state(hex('a'))).toEqual(['changed', null, id('a1')])
    expect(state(hex('a1'))).toEqual(['clean', 'raw', id('a1')])
    const whole: Place = { kind: 'file', ref: 'a.md', anchor: null, target: 'a.md', match: null }
    expect(state(hex('c'), { place: whole, indexId: `${id('c')}ffff` })).toEqual(['clean', 'index', id('a1')])
    expect(state(hex('c'), { indexId: `${id('c')}ffff` })).toEqual(['changed', null, id('a1')])
  })
})
