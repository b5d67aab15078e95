import { describe, expect, it } from 'vitest'
import type { Edge, KeelProject } from '../../src/keel/types.ts'
import { type KeelWorld, keelWorld } from '../support/keel-world.ts'

const guide = '# Guide\n\n## Setup\nrun it\n\n## Use\nuse it\n'
const quick = '---\ntitle: Quick start\nsources:\n  - guide.md#Setup\n---\n# Quick start\nRun it.\n'

function guideWorld(): KeelWorld {
  return keelWorld({ 'guide.md': guide, 'docs/quick.md': quick })
}

async function stampedWorld(): Promise<KeelWorld> {
  const world = guideWorld()
  await world.stamp()
  return world
}

async function movedWorld(): Promise<KeelWorld> {
  const world = await stampedWorld()
  world.edit('guide.md', 'run it', 'run it twice')
  return world
}

async function acknowledge(keel: KeelProject, edges: readonly Edge[], reason: string) {
  return keel.boundary({
    acks: edges.map(edge => ({
      edge: edge.id,
      content: edge.current!,
      kind: 'ok',
      reason,
      who: { kind: 'person', name: 'Ada' },
      evidence: null,
    })),
    onlyAcks: true,
    onBusy: 'refuse',
    who: { kind: 'person', name: 'Ada' },
    byAgent: false,
  })
}

describe('the worked examples', () => {
  it('W1: a new edge waits for its stamp', async () => {
    const [edge, ...others] = (await guideWorld().check()).edges
    expect(others).toEqual([])
    expect(edge).toMatchObject({
      id: 'b9b871566cd8c128',
      child: 'docs/quick.md',
      line: 4,
      column: 5,
      ref: 'guide.md',
      anchor: 'Setup',
      target: 'guide.md',
      state: 'pending-stamp',
      reason: null,
      current: 'df3855ab0bab',
      match: 'exact',
      heading: 'Setup',
    })
  })

  it('W2: a boundary stamps it and touches nothing else; a second one does nothing', async () => {
    const world = guideWorld()
    const first = await world.stamp()
    expect(first.stamped).toMatchObject([{ kind: 'stamp', old: null, new: 'df3855ab0bab', source: 'guide.md#Setup' }])
    expect(first.written).toEqual(['docs/quick.md'])
    expect(world.read('docs/quick.md')).toBe(quick.replace('#Setup\n', '#Setup @df3855ab0bab\n'))
    const second = await world.stamp()
    expect(second).toEqual({ stamped: [], written: [], skipped: [], busy: false })
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: clean'])
  })

  it('W3: an edit of the section makes it suspect', async () => {
    const [edge] = (await (await movedWorld()).check()).edges
    expect(edge).toMatchObject({
      state: 'suspect',
      reason: 'changed',
      class: 'moved',
      old: 'df3855ab0bab',
      current: '95495efc9d5d',
    })
  })

  it('W4: the diff comes from the copy kept with the stamp', async () => {
    const keel = await (await movedWorld()).open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(await keel.diff(edge!)).toEqual({
      status: 'ok',
      why: null,
      basis: 'baseline',
      text: '@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n',
    })
  })

  it('W5: an acknowledgement writes the stamp of the content it was given for', async () => {
    const world = await movedWorld()
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    const result = await acknowledge(keel, edges, 'wording only')
    expect(result.stamped).toMatchObject([{ kind: 'ok', old: 'df3855ab0bab', new: '95495efc9d5d' }])
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: clean'])
    expect((await world.journal()).at(-1)).toMatchObject({
      v: 1,
      kind: 'ok',
      child: 'docs/quick.md',
      source: 'guide.md#Setup',
      old: 'df3855ab0bab',
      new: '95495efc9d5d',
      who: { kind: 'person', name: 'Ada' },
      reason: 'wording only',
    })
  })

  it('does not write an acknowledgement of content that moved since', async () => {
    const world = await movedWorld()
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    world.edit('guide.md', 'run it twice', 'run it thrice')
    const result = await acknowledge(keel, edges, 'wording only')
    expect(result.stamped).toEqual([])
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: changed'])
  })

  it('W6: @ok with a reason is written as a stamp and recorded', async () => {
    const world = await movedWorld()
    world.edit('docs/quick.md', '@df3855ab0bab', '@ok(checked twice)')
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: ok-requested'])
    await world.stamp()
    expect(world.read('docs/quick.md')).toContain('  - guide.md#Setup @95495efc9d5d\n')
    expect((await world.journal()).at(-1)).toMatchObject({
      kind: 'ok',
      reason: 'checked twice',
      old: 'df3855ab0bab',
      who: { kind: 'hand' },
    })
  })

  it('W7: a section that moved within its file is still the same', async () => {
    const world = await stampedWorld()
    world.edit('guide.md', '## Setup', '## Later\nlater\n\n## Setup')
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: clean'])
  })

  const many =
    '---\nsources:\n  - [[a]]\n  - b.md#Two: the second\n  - "b.md#One"\n---\n\n## S\n\n<!-- sources: a.md; b.md#One; a.md#L1 -->\ntext\n'
  const two = { 'a.md': 'alpha\n', 'b.md': '## One\nfirst\n\n## Two: the second\nsecond\n' }

  it('W8: every form of entry is stamped in its place', async () => {
    const world = keelWorld({ ...two, 'd.md': many })
    await world.stamp()
    const text = world.read('d.md')
    for (const line of [
      '  - "[[a]] @4a58007052a6"\n',
      '  - b.md#Two: the second @290193b5cfbb\n',
      '  - "b.md#One @5807c2b562f5"\n',
      '<!-- sources: a.md @4a58007052a6; b.md#One @5807c2b562f5; a.md#L1 @4a58007052a6 -->\n',
    ]) {
      expect(text).toContain(line)
    }
  })

  it('W9: an unquoted wikilink that has a stamp keeps its form', async () => {
    const world = keelWorld({ ...two, 'd.md': '---\nsources:\n  - [[a]] @ok\n---\n' })
    await world.stamp()
    expect(world.read('d.md')).toBe('---\nsources:\n  - [[a]] @4a58007052a6\n---\n')
  })

  it('W10: a flow list with a comment', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'b.md': 'beta\n', 'd.md': '---\nsource: [a.md, b.md]   # both\n---\n' })
    await world.stamp()
    expect(world.read('d.md')).toMatch(/^---\nsource: \[a\.md @4a58007052a6, b\.md @[0-9a-f]{12}\] {3}# both\n---\n$/)
  })

  it('W11: an acknowledgement of one source leaves the other stamps alone', async () => {
    const world = keelWorld({ ...two, 'd.md': many })
    await world.stamp()
    world.edit('b.md', 'first', 'FIRST')
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    const meant = edges.filter(edge => edge.ref === 'b.md' && edge.anchor === 'One')
    const result = await acknowledge(keel, meant, 'checked')
    expect(result.stamped.map(one => one.new)).toEqual(['feae00a273e7', 'feae00a273e7'])
    expect(world.read('d.md').match(/@[0-9a-f]{12}/g)).toEqual([
      '@4a58007052a6',
      '@290193b5cfbb',
      '@feae00a273e7',
      '@4a58007052a6',
      '@feae00a273e7',
      '@4a58007052a6',
    ])
  })

  it('W12: namesakes, ordinals and slugs', async () => {
    const world = keelWorld({
      'x.md': '# Intro\none\n\n## Intro\ntwo\n\n# Getting started!\nthree\n',
      'd.md': '---\nsources:\n  - x.md#Intro\n  - x.md#Intro (2)\n  - x.md#getting-started\n---\n',
    })
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    expect(edges.map(edge => edge.match)).toEqual(['exact', 'ordinal', 'slug'])
    expect(edges.map(edge => edge.heading)).toEqual(['Intro', 'Intro', 'Getting started!'])
    expect(new Set(edges.map(edge => edge.current)).size).toBe(3)
  })

  it('W13: lines that moved are found, proposed and written, the stamp kept', async () => {
    const world = keelWorld({ 'n.txt': 'one\ntwo\nthree\nfour\n', 'd.md': '---\nsource: n.txt#L2-L3\n---\n' })
    await world.stamp()
    const stamp = /@[0-9a-f]{12}/.exec(world.read('d.md'))![0]
    world.write('n.txt', `zero\n${world.read('n.txt')}`)
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(edge).toMatchObject({ reason: 'anchor-moved', suggest: { ref: 'n.txt', anchor: 'L3-L4', basis: 'content' } })
    const proposals = await keel.fixes()
    expect(proposals).toMatchObject([
      { child: 'd.md', reason: 'anchor-moved', from: 'n.txt#L2-L3', to: 'n.txt#L3-L4', basis: 'content' },
    ])
    const fixed = await keel.applyFixes(proposals, { who: { kind: 'person' }, onBusy: 'refuse' })
    expect(fixed).toMatchObject({ proposals: [{ applied: true }], written: ['d.md'], skipped: [] })
    expect(world.read('d.md')).toBe(`---\nsource: n.txt#L3-L4 ${stamp}\n---\n`)
    expect(await world.states()).toEqual(['d.md <- n.txt#L3-L4: clean'])
    expect((await world.journal()).at(-1)).toMatchObject({ kind: 'fix', source: 'n.txt#L3-L4', evidence: { basis: 'content' } })
  })

  const job = 'export class Job { run() { return 1 }\n  stop() {} }\n'

  it('W14: a symbol is its own text only', async () => {
    const world = keelWorld({ 'src/job.ts': job, 'd.md': '---\nsource: src/job.ts#Job.run\n---\n' })
    await world.stamp()
    world.edit('src/job.ts', 'stop() {}', 'stop() { return 2 }')
    expect(await world.states()).toEqual(['d.md <- src/job.ts#Job.run: clean'])
    world.edit('src/job.ts', 'return 1', 'return 3')
    expect(await world.states()).toEqual(['d.md <- src/job.ts#Job.run: changed'])
  })

  it('W15: symbols and anchors that are not there', async () => {
    const world = keelWorld({
      'src/job.ts': job,
      'notes.txt': 'x\n',
      'd.md': '---\nsources:\n  - src/job.ts#Job.walk\n  - notes.txt#Intro\n---\n',
    })
    expect(await world.states()).toEqual([
      'd.md <- src/job.ts#Job.walk: anchor-missing',
      'd.md <- notes.txt#Intro: unsupported-anchor',
    ])
  })

  it('W16: frozen documents are no children, ignored sources are parked', async () => {
    const world = keelWorld({
      'in/plan.md': '---\nsource: ../a.md\n---\n',
      'a.md': 'alpha\n',
      'docs/y.md': '---\nsource: build/out.md\n---\n',
      'build/out.md': 'out\n',
    })
    expect(await world.states()).toEqual(['docs/y.md <- build/out.md: source-parked'])
  })

  it('W17: vendored documents are listed and skipped', async () => {
    const world = keelWorld({
      '.outrigger/config.yml': 'keel:\n  vendored: [third_party]\n',
      'a.md': 'alpha\n',
      'third_party/z.md': '---\nsource: a.md @123456789012\n---\n',
    })
    const [edge] = (await world.check()).edges
    expect(edge).toMatchObject({ state: 'skipped', class: 'unverified', reason: null })
  })

  it('W18: URLs are opaque, names without a document unresolved', async () => {
    const world = keelWorld({ 'd.md': '---\nsources:\n  - https://example.org/spec @123456789012\n  - "[[nowhere]]"\n---\n' })
    const { edges } = await world.check()
    expect(edges.map(edge => [edge.state, edge.class])).toEqual([
      ['opaque', null],
      ['unresolved', 'unverified'],
    ])
  })

  it('W19: a bad stamp is shown and not touched', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': '---\nsource: a.md @12345\n---\n' })
    const [edge] = (await world.check()).edges
    expect(edge).toMatchObject({ reason: 'bad-stamp', class: 'broken', old: null, stamp: { kind: 'bad', value: '12345' } })
    expect(await world.stamp()).toEqual({ stamped: [], written: [], skipped: [], busy: false })
    expect(world.read('d.md')).toBe('---\nsource: a.md @12345\n---\n')
  })

  it('W20: stamps beside the documents', async () => {
    const world = keelWorld({ 'guide.md': guide, 'docs/quick.md': quick, '.outrigger/config.yml': 'keel:\n  stamps: file\n' })
    const result = await world.stamp()
    expect(result.stamped).toMatchObject([{ kind: 'stamp', new: 'df3855ab0bab' }])
    expect(world.read('docs/quick.md')).toBe(quick)
    expect(world.read('.outrigger/keel/stamps.tsv')).toBe(
      '#outrigger-keel-stamps 1\nb9b871566cd8c128\tdocs/quick.md\tguide.md#Setup\tdf3855ab0bab\n',
    )
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: clean'])
    world.edit('guide.md', 'run it', 'run it twice')
    expect(await world.states()).toEqual(['docs/quick.md <- guide.md#Setup: changed'])
  })

  it('W21: chains show what lies behind a suspect, and end with its review', async () => {
    const world = keelWorld({
      'a.md': 'alpha\n',
      'b.md': '---\nsource: a.md\n---\nb\n',
      'c.md': '---\nsource: b.md\n---\nc\n',
    })
    await world.stamp()
    world.edit('a.md', 'alpha', 'ALPHA')
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    expect(edges.map(edge => [edge.child, edge.reason])).toEqual([
      ['b.md', 'changed'],
      ['c.md', null],
    ])
    expect(edges[1]!.chain).toEqual([{ via: 'b.md', root: 'a.md', edge: edges[0]!.id }])
    expect(keel.impact('a.md')).toEqual([
      { path: 'b.md', depth: 1, via: [] },
      { path: 'c.md', depth: 2, via: ['b.md'] },
    ])
    await acknowledge(keel, [edges[0]!], 'checked')
    const after = await world.check()
    expect(after.edges.map(edge => [edge.state, edge.chain])).toEqual([
      ['clean', []],
      ['clean', []],
    ])
  })
})
