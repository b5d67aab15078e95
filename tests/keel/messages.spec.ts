import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  caps,
  countedMessage,
  guide,
  item,
  promptMessage,
  remindMessage,
  stampedMessage,
  startMessage,
  stopMessage,
  type Told,
  toolMessage,
} from '../../src/keel/messages.ts'
import type { Edge, EdgeDiff, Hex12 } from '../../src/keel/types.ts'

const base: Edge = {
  id: '0123456789abcdef',
  child: 'docs/quick.md',
  line: 4,
  column: 5,
  scope: { type: 'file' },
  kind: 'path',
  ref: 'guide.md',
  anchor: 'Setup',
  target: 'guide.md',
  stamp: { kind: 'hex', value: 'df3855ab0bab' },
  state: 'suspect',
  reason: 'changed',
  class: 'moved',
  current: '95495efc9d5d' as Hex12,
  old: 'df3855ab0bab' as Hex12,
  form: null,
  match: 'exact',
  heading: 'Setup',
  suggest: null,
  chain: [],
}
const edge = (more: Partial<Edge> = {}): Edge => ({ ...base, ...more })
const diff = (text: string): EdgeDiff => ({ status: 'ok', why: null, text, basis: 'baseline' })
const many = (count: number, text = 'x\n'): Told[] =>
  Array.from({ length: count }, (_, index) => ({
    edge: edge({ child: `d${index}.md`, target: `t${index}`, ref: `t${index}`, anchor: null }),
    diff: diff(text),
  }))
const all = { chars: 10_000, hasAckTool: true }

describe('a line of a message', () => {
  it.each<[string, Partial<Edge>, string]>([
    ['a change', {}, '- docs/quick.md <- guide.md#Setup: changed'],
    [
      'an entry of a section',
      { scope: { type: 'section', heading: 'How to', level: 2, line: 9 }, anchor: null },
      '- docs/quick.md § How to <- guide.md: changed',
    ],
    ['a link', { kind: 'wikilink', ref: 'note' }, '- docs/quick.md <- [[note]]#Setup: changed'],
    [
      'a moved source',
      { reason: 'source-moved', suggest: { ref: 'new.md', anchor: 'Setup', basis: 'content', score: 1 } },
      '- docs/quick.md <- guide.md#Setup: source-moved (now new.md#Setup)',
    ],
    [
      'a missing heading',
      { reason: 'anchor-missing', suggest: { ref: 'guide.md', anchor: 'Set-up', basis: 'similar', score: 0.7 } },
      '- docs/quick.md <- guide.md#Setup: anchor-missing (perhaps #Set-up)',
    ],
    [
      'a bad stamp',
      { reason: 'bad-stamp', stamp: { kind: 'bad', value: '123' } },
      '- docs/quick.md <- guide.md#Setup: bad-stamp (stamp "@123" cannot be read)',
    ],
    ['two stamps', { reason: 'conflict' }, '- docs/quick.md <- guide.md#Setup: conflict (two stamps after a merge)'],
    [
      'a stamp taken out',
      { reason: 'stamp-removed' },
      '- docs/quick.md <- guide.md#Setup: stamp-removed (its stamp was taken out)',
    ],
    [
      'an unreadable source',
      { state: 'unreadable', reason: null, class: 'unverified' },
      '- docs/quick.md <- guide.md#Setup: unreadable, cannot be checked',
    ],
    [
      'a name that tries to be more',
      { child: 'a\n- b.md <- c: fine', anchor: null },
      '- a\\n- b.md <- c: fine <- guide.md: changed',
    ],
  ])('tells %s', (_, more, text) => {
    expect(item(edge(more))).toBe(text)
  })

  it('cuts long names in the middle', () => {
    const line = item(edge({ child: `${'a'.repeat(200)}.md`, ref: 'b'.repeat(300), anchor: null }))
    expect(line.length).toBeLessThan(270)
    expect(line).toMatch(/^- a+…a+\.md <- b+…b+: changed$/)
  })
})

describe('the messages', () => {
  const readme = readFileSync(new URL('../../src/keel/README.md', import.meta.url), 'utf8')
  const told: Told[] = [{ edge: edge(), diff: diff('@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n') }]

  it.each<[string, string]>([
    ['START', startMessage(told, all)],
    ['TOOL', toolMessage(['guide.md'], told, all)],
    ['PROMPT', promptMessage(told, all)],
    ['STOP', stopMessage(told, ['docs/new.md'], all).text],
    ['REMIND', remindMessage(5, [edge()], all)],
    ['STAMPED', stampedMessage(['docs/new.md', 'docs/other.md'])],
    ['COUNTED', countedMessage([{ child: 'docs/quick.md', source: 'guide.md#Setup', old: 'df3855ab0bab' }])],
    ['GUIDE', guide(true)],
    ['GUIDE without the tool', guide(false)],
  ])('%s stands in the README as it is said', (_, text) => {
    expect(readme).toContain(`\n${text}\n`)
  })

  it('name three files, then how many more', () => {
    expect(stampedMessage(['a', 'b', 'c', 'd', 'e'])).toContain('in a, b, c and 2 more. Only')
    expect(toolMessage(['a', 'b', 'c', 'd'], told, all)).toMatch(/^keel: a, b, c and 1 more changed;/)
  })

  it('list at most twenty documents', () => {
    const text = startMessage(many(25), all)
    expect(text.split('\n').filter(line => line.startsWith('- '))).toHaveLength(21)
    expect(text).toContain('(25):')
    expect(text).toContain('\n- and 5 more: keel_check lists them\n')
  })

  it('quote three diffs after a write, each up to its cap, and say what is left out', () => {
    const text = toolMessage(['t0'], many(5, 'long line\n'.repeat(1000)), all)
    expect(text.match(/^what changed in/gm)).toHaveLength(3)
    expect(text.match(/^… [\d]+ more characters$/gm)).toHaveLength(3)
  })

  it('quote the diff of one source once', () => {
    const same = [1, 2, 3].map(n => ({ edge: edge({ child: `d${n}.md` }), diff: diff('x\n') }))
    expect(promptMessage(same, all).match(/^what changed in/gm)).toHaveLength(1)
  })

  it('say when there is no room for a diff', () => {
    expect(promptMessage(many(3, 'y'.repeat(5000)), { ...all, chars: 900 })).toContain('diff left out (message limit)')
  })

  it('at the end of a turn name ten documents, each with its diff', () => {
    const { text, named } = stopMessage(many(14), [], all)
    expect(named).toHaveLength(10)
    expect(text.match(/^what changed in/gm)).toHaveLength(10)
    expect(text).toContain('\n- and 4 more: keel_check lists them\n')
  })

  it('with several old stamps say which is whose', () => {
    expect(
      countedMessage([
        { child: 'a.md', source: 's', old: '111111111111' },
        { child: 'b.md', source: 's', old: '222222222222' },
      ]),
    ).toBe(
      'keel took your edits as the review of: a.md <- s (@111111111111), b.md <- s (@222222222222). If one was not reviewed, put the stamp in brackets back on it.',
    )
  })

  const hostileName = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom('a\n~~~~', '~~~~', 'x'.repeat(400)))
  const hostileTold = fc.array(
    fc.record({
      child: hostileName,
      ref: hostileName,
      anchor: fc.option(hostileName),
      text: fc.string({ unit: 'binary', maxLength: 6000 }),
    }),
    { minLength: 1, maxLength: 40 },
  )

  it('stay under their caps and keep their own first lines, whatever files say', () => {
    fc.assert(
      fc.property(hostileTold, fc.integer({ min: 1400, max: 10_000 }), (given, chars) => {
        const told = given.map(({ text, ...more }) => ({ edge: edge({ ...more, target: more.child }), diff: diff(text) }))
        const options = { chars, hasAckTool: true }
        const texts = [
          startMessage(told, options),
          toolMessage([...new Set(given.map(one => one.ref))], told, options),
          promptMessage(told, options),
          stopMessage(
            told,
            given.map(one => one.child),
            options,
          ).text,
        ]
        for (const text of texts) {
          expect(text.length).toBeLessThanOrEqual(chars)
          expect(text.endsWith(guide(true))).toBe(true)
        }
        expect(
          remindMessage(
            1,
            told.map(one => one.edge),
            options,
          ).length,
        ).toBeLessThanOrEqual(caps.remind)
        expect(stampedMessage(given.map(one => one.child)).length).toBeLessThanOrEqual(caps.note)
        const counted = given.map(one => ({ child: one.child, source: one.ref, old: '123456789012' }))
        expect(countedMessage(counted).length).toBeLessThanOrEqual(caps.note)
        const outside = texts[2]!.replace(/^(~{4,})diff\n(?:[\s\S]*?\n)?\1\n/gm, '')
        for (const line of outside.split('\n')) {
          expect(line).toMatch(/^(keel: |- |what changed in |diff left out|Each line needs)/)
        }
      }),
      { numRuns: 300 },
    )
  })
})
