import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickStart, type World, world } from '../support/keel-cli.ts'

const child = (...entries: string[]): string => `---\nsources:\n${entries.map(entry => `  - ${entry}\n`).join('')}---\n# D\n`

async function stamped(): Promise<World> {
  const made = world(quickStart)
  expect((await made.json('stamp')).code).toBe(0)
  return made
}

async function moved(): Promise<World> {
  const made = await stamped()
  made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
  return made
}

describe('check', () => {
  it('finds a new edge pending, which fails only a strict check', async () => {
    const { json } = world(quickStart)
    const { code, json: answer } = await json('check')
    expect(answer).toMatchObject({
      schema: 'outrigger.keel.check/1',
      on: true,
      verdict: 'clean',
      exit: 0,
      summary: { children: 1, edges: 1, pending: 1, suspect: 0 },
      pending: [
        {
          id: 'b9b871566cd8c128',
          child: 'docs/quick.md',
          line: 4,
          column: 5,
          ref: 'guide.md',
          anchor: 'Setup',
          state: 'pending-stamp',
          current: 'df3855ab0bab',
          match: 'exact',
        },
      ],
    })
    expect(code).toBe(0)
    expect((await json('check', '--strict')).code).toBe(1)
  })

  it('finds a changed source suspect', async () => {
    const { code, json } = await (await moved()).json('check')
    expect(code).toBe(1)
    expect(json).toMatchObject({
      verdict: 'suspect',
      exit: 1,
      suspects: [{ reason: 'changed', class: 'moved', old: 'df3855ab0bab', current: '95495efc9d5d' }],
    })
  })

  it('does not mind a section that only moved', async () => {
    const made = await stamped()
    made.write('guide.md', '# Guide\n\n## Later\nnot yet\n\n## Setup\nrun it\n\n## Use\nuse it\n')
    expect((await made.json('check')).json.verdict).toBe('clean')
  })

  it('creates nothing in a project that has no state folder', async () => {
    const made = world(quickStart)
    await made.json('check')
    await made.json('why', 'guide.md')
    await made.json('graph')
    await made.json('status')
    await made.json('log')
    expect(existsSync(join(made.root, '.outrigger'))).toBe(false)
  })

  it('leaves children in frozen folders alone and refuses sources in ignored ones', async () => {
    const made = world({
      'in/plan.md': child('a.md'),
      'a.md': 'a\n',
      'build/out.md': 'o\n',
      'docs/y.md': child('build/out.md'),
    })
    const { json } = await made.json('check')
    expect(json.suspects).toMatchObject([{ child: 'docs/y.md', reason: 'source-parked' }])
    expect(json.summary.children).toBe(1)
  })

  it('counts vendored documents as unverified', async () => {
    const made = world({
      '.outrigger/config.yml': 'keel:\n  vendored: [third_party]\n',
      'a.md': 'a\n',
      'third_party/z.md': child('a.md @123456789012'),
    })
    const { code, json } = await made.json('check')
    expect(json).toMatchObject({ verdict: 'unverified', summary: { skipped: 1 } })
    expect(code).toBe(0)
    expect((await made.json('check', '--strict')).code).toBe(1)
  })

  it('lists addresses and lost links without failing', async () => {
    const made = world({ 'd.md': child('https://example.org/spec @123456789012', '"[[nowhere]]"') })
    const { code, json } = await made.json('check', '--all')
    expect(code).toBe(0)
    expect(json.summary).toMatchObject({ opaque: 1, unresolved: 1 })
    expect(json.unverified).toMatchObject([{ ref: 'nowhere', state: 'unresolved' }])
    expect(json.edges).toHaveLength(2)
  })

  it('finds a stamp that cannot be read, and leaves it', async () => {
    const made = world({ 'a.md': 'a\n', 'd.md': child('a.md @12345') })
    const { code, json } = await made.json('check')
    expect(code).toBe(1)
    expect(json.suspects).toMatchObject([{ reason: 'bad-stamp', stamp: { kind: 'bad', value: '12345' } }])
    const before = made.read('d.md')
    expect((await made.json('stamp')).json).toMatchObject({ stamped: [], written: [] })
    expect(made.read('d.md')).toBe(before)
  })

  it('finds a bad stamp also behind an anchor, but not in the name of a file', async () => {
    const made = world({
      'a.md': '# A\n\n## One\nx\n',
      'notes @home.md': '# Intro\n',
      'd.md': child('a.md#One @12345', 'notes @home.md'),
      'e.md': child('notes @home.md#Intro'),
    })
    const { json } = await made.json('check', '--all')
    expect(
      json.edges.map((edge: { ref: string; anchor: string; reason: string }) => [edge.ref, edge.anchor, edge.reason]),
    ).toEqual([
      ['a.md', 'One', 'bad-stamp'],
      ['notes @home.md', null, null],
      ['notes @home.md', 'Intro', null],
    ])
  })

  it('narrows to paths, files and a revision, and counts what it leaves out', async () => {
    const made = await moved()
    made.write('other.md', 'x\n')
    expect((await made.json('check', 'docs')).json.summary).toMatchObject({ suspect: 1, outOfRange: 0 })
    expect((await made.json('check', 'other.md')).json).toMatchObject({
      verdict: 'clean',
      suspects: [],
      summary: { suspect: 0, outOfRange: 1 },
    })
    expect((await made.json('check', '--changed', 'guide.md')).json.summary.suspect).toBe(1)
    expect((await made.json('check', '--changed', 'other.md')).json.summary).toMatchObject({ suspect: 0, outOfRange: 1 })
    made.commit('all of it')
    expect((await made.json('check', '--since', 'HEAD')).json.summary).toMatchObject({ suspect: 0, outOfRange: 1 })
    made.write('docs/new.md', child('gone.md'))
    expect((await made.json('check', '--since', 'HEAD')).json.suspects).toMatchObject([{ child: 'docs/new.md' }])
    made.remove('docs/new.md')
    made.write('guide.md', 'else\n')
    expect((await made.json('check', '--since', 'HEAD')).json.summary).toMatchObject({ suspect: 1, outOfRange: 0 })
    expect(await made.json('check', '--since', 'nonsense')).toMatchObject({
      code: 2,
      json: { error: { code: 'KEEL_BAD_REV', subject: 'nonsense' } },
    })
  })

  it('takes paths from where the person stands', async () => {
    const made = await moved()
    made.cwd = join(made.root, 'docs')
    expect((await made.json('check', 'quick.md')).json.summary.suspect).toBe(1)
    expect((await made.json('check', 'docs/quick.md')).json.summary.suspect).toBe(1)
    expect((await made.json('check', '../guide.md')).json.summary.suspect).toBe(1)
  })

  it('finds headings by name, by ordinal and by slug', async () => {
    const made = world({
      'x.md': '# Intro\none\n\n## Intro\ntwo\n\n# Getting started!\nthree\n',
      'd.md': child('x.md#Intro', 'x.md#Intro (2)', 'x.md#getting-started'),
    })
    const { json } = await made.json('check')
    expect(json.pending.map((edge: { match: string }) => edge.match)).toEqual(['exact', 'ordinal', 'slug'])
    const ids = new Map(
      (await made.json('anchors', 'x.md')).json.anchors.map((one: { line: number; id: string }) => [one.id, one.line]),
    )
    expect(json.pending.map((edge: { current: string }) => ids.get(edge.current))).toEqual([4, 1, 7])
  })

  it('sees a symbol change only where it changed', async () => {
    const source = (run: string, stop: string): string => `export class Job { run() { return ${run} }\n  stop() {${stop}} }\n`
    const made = world({
      'src/job.ts': source('1', ''),
      'notes.txt': 'Intro\n',
      'd.md': child('src/job.ts#Job.run'),
      'e.md': child('src/job.ts#Job.walk', 'notes.txt#Intro'),
    })
    await made.json('stamp')
    made.write('src/job.ts', source('1', ' return 2 '))
    expect((await made.json('check', 'd.md')).json.verdict).toBe('clean')
    made.write('src/job.ts', source('3', ' return 2 '))
    expect((await made.json('check', 'd.md')).json.suspects).toMatchObject([{ reason: 'changed' }])
    expect((await made.json('check', 'e.md')).json.suspects).toMatchObject([
      { reason: 'anchor-missing' },
      { reason: 'unsupported-anchor' },
    ])
  })

  it('brings diffs when asked', async () => {
    const { json } = await (await moved()).json('check', '--diff')
    expect(json.suspects[0].diff.text).toBe('@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n')
  })

  it('reports every fault of the configuration at once', async () => {
    const made = world({
      ...quickStart,
      '.outrigger/config.yml': 'keel:\n  compare: loose\n  watch: {max: -1}\n  colour: red\n',
    })
    const { code, json } = await made.json('check')
    expect(code).toBe(2)
    expect(json.error.code).toBe('KEEL_BAD_CONFIG')
    expect(json.error.faults).toHaveLength(3)
    for (const word of ['compare', 'watch.max', 'colour']) expect(JSON.stringify(json.error.faults)).toContain(word)
  })

  it('says on one screen where, what and what to do', async () => {
    const made = await moved()
    made.write('docs/other.md', child('gone.md', 'guide.md#Nothing'))
    const { code, out } = await made.keel('check')
    expect(code).toBe(1)
    expect(out).toBe(
      [
        'docs/other.md:3:5  source-missing  gone.md',
        'docs/other.md:4:5  anchor-missing  guide.md#Nothing',
        'docs/quick.md:4:5  changed         guide.md#Setup',
        '',
        '3 sources in 2 documents: 3 behind, 0 clean',
        '',
        'source-missing: the source is gone',
        '  → name the file that took its place, or take the entry out; outrigger keel fix knows renames in git',
        'anchor-missing: the source names a part that its file does not have',
        '  → see what it has: outrigger keel anchors FILE; outrigger keel fix finds renamed headings',
        'changed: the source changed since the document was reviewed against it',
        '  → read the change (outrigger keel diff docs/quick.md), then update the document, or: outrigger keel ok docs/quick.md guide.md#Setup --reason "…"',
        '',
      ].join('\n'),
    )
  })

  it('says one line when all is clean', async () => {
    expect((await (await stamped()).keel('check')).out).toBe('1 source in 1 document: all clean\n')
  })

  it('does not speak of watching, which it does not do', async () => {
    const made = world({ ...quickStart, '.outrigger/config.yml': 'keel:\n  watch:\n    max: 1\n' })
    expect((await made.json('check')).json.degraded).toEqual([])
    expect((await made.json('status')).json.degraded).toEqual(['watching 1 of 2 files'])
  })

  it('says how to begin in a repository that declares nothing', async () => {
    const { code, out } = await world({ 'README.md': '# Hello\n' }).keel('check')
    expect(code).toBe(0)
    expect(out).toMatch(/^No document here declares a source, so there is nothing to check\.\n/)
  })
})

describe('stamp', () => {
  it('writes the stamp and no other byte, once', async () => {
    const made = world(quickStart)
    expect((await made.json('stamp')).json).toMatchObject({
      stamped: [{ kind: 'stamp', old: null, new: 'df3855ab0bab', source: 'guide.md#Setup' }],
      written: ['docs/quick.md'],
    })
    expect(made.read('docs/quick.md')).toBe(quickStart['docs/quick.md'].replace('guide.md#Setup', 'guide.md#Setup @df3855ab0bab'))
    expect((await made.json('stamp')).json).toMatchObject({ stamped: [], written: [], skipped: [] })
  })

  it('says what it would do', async () => {
    const made = world(quickStart)
    expect((await made.json('stamp', '--dry-run')).json).toMatchObject({ stamped: [{ new: 'df3855ab0bab' }], written: [] })
    expect(made.read('docs/quick.md')).toBe(quickStart['docs/quick.md'])
    expect(existsSync(join(made.root, '.outrigger'))).toBe(false)
  })

  it('turns @ok with a reason into a stamp and a record', async () => {
    const made = await moved()
    made.write('docs/quick.md', made.read('docs/quick.md').replace('@df3855ab0bab', '@ok(checked twice)'))
    const before = await made.json('check')
    expect(before.json).toMatchObject({ verdict: 'clean', summary: { okRequested: 1 }, pending: [{ state: 'ok-requested' }] })
    expect(before.code).toBe(0)
    await made.json('stamp')
    expect(made.read('docs/quick.md')).toContain('guide.md#Setup @95495efc9d5d')
    expect((await made.json('log', '--kind', 'ok')).json.records).toMatchObject([{ kind: 'ok', reason: 'checked twice' }])
  })

  it('keeps the form of every kind of entry', async () => {
    const made = world({
      'a.md': 'alpha\n',
      'b.md': '## One\nfirst\n\n## Two: the second\nsecond\n',
      'd.md':
        '---\nsources:\n  - [[a]]\n  - b.md#Two: the second\n  - "b.md#One"\n---\n# D\n\n## S\n<!-- sources: a.md; b.md#One; a.md#L1 -->\ntext\n',
      'e.md': '---\nsources:\n  - [[a]] @ok\n---\n',
    })
    await made.json('stamp')
    expect(made.read('d.md')).toBe(
      '---\nsources:\n  - "[[a]] @4a58007052a6"\n  - b.md#Two: the second @290193b5cfbb\n  - "b.md#One @5807c2b562f5"\n---\n# D\n\n## S\n<!-- sources: a.md @4a58007052a6; b.md#One @5807c2b562f5; a.md#L1 @4a58007052a6 -->\ntext\n',
    )
    expect(made.read('e.md')).toBe('---\nsources:\n  - [[a]] @4a58007052a6\n---\n')
    made.write('b.md', '## One\nFIRST\n\n## Two: the second\nsecond\n')
    const ambiguous = await made.json('ok', 'd.md', '--reason', 'checked')
    expect(ambiguous).toMatchObject({ code: 2, json: { error: { code: 'KEEL_AMBIGUOUS_EDGE' } } })
    const { json } = await made.json('ok', 'd.md', 'b.md#One', '--all', '--reason', 'checked')
    expect(json.acked.map((one: { new: string }) => one.new)).toEqual(['feae00a273e7', 'feae00a273e7'])
    expect(made.read('d.md')).toContain('<!-- sources: a.md @4a58007052a6; b.md#One @feae00a273e7; a.md#L1 @4a58007052a6 -->')
  })

  it('stamps a flow list in place', async () => {
    const made = world({
      'a.md': 'alpha\n',
      'b.md': '## One\nfirst\n\n## Two: the second\nsecond\n',
      'd.md': '---\nsource: [a.md, b.md]   # both\n---\n',
    })
    await made.json('stamp')
    expect(made.read('d.md')).toBe('---\nsource: [a.md @4a58007052a6, b.md @f0d50303f531]   # both\n---\n')
  })

  it('keeps stamps in a file when the project says so', async () => {
    const made = world({ ...quickStart, '.outrigger/config.yml': 'keel:\n  stamps: file\n' })
    await made.json('stamp')
    expect(made.read('docs/quick.md')).toBe(quickStart['docs/quick.md'])
    expect(made.read('.outrigger/keel/stamps.tsv')).toBe(
      '#outrigger-keel-stamps 1\nb9b871566cd8c128\tdocs/quick.md\tguide.md#Setup\tdf3855ab0bab\n',
    )
    expect((await made.json('check')).json.verdict).toBe('clean')
  })
})

describe('ok', () => {
  it('needs a reason for a suspect, then writes and records', async () => {
    const made = await moved()
    const before = made.read('docs/quick.md')
    expect(await made.json('ok', 'docs/quick.md')).toMatchObject({ code: 2, json: { error: { code: 'KEEL_REASON_REQUIRED' } } })
    expect(made.read('docs/quick.md')).toBe(before)
    const { code, json } = await made.json('ok', 'docs/quick.md', '--reason', 'wording only')
    expect(code).toBe(0)
    expect(json).toMatchObject({
      acked: [{ old: 'df3855ab0bab', new: '95495efc9d5d', child: 'docs/quick.md', source: 'guide.md#Setup' }],
      written: ['docs/quick.md'],
    })
    const { records } = (await made.json('log', 'docs')).json
    expect(records.at(-1)).toMatchObject({ kind: 'ok', who: { kind: 'person', name: 'Ada' }, reason: 'wording only' })
    expect((await made.json('check')).json.verdict).toBe('clean')
  })

  it('does nothing when there is nothing to do', async () => {
    const { code, json } = await (await stamped()).json('ok', 'docs/quick.md')
    expect(code).toBe(0)
    expect(json).toMatchObject({ acked: [], written: [], skipped: [{ state: 'clean' }] })
  })

  it('writes no other edge of the document', async () => {
    const made = await moved()
    made.write('docs/quick.md', made.read('docs/quick.md').replace('---\n# Quick', '  - guide.md#Use\n---\n# Quick'))
    await made.json('ok', 'docs/quick.md', 'guide.md#Setup', '--reason', 'wording only')
    expect(made.read('docs/quick.md')).toContain('  - guide.md#Setup @95495efc9d5d\n  - guide.md#Use\n')
  })

  it('refuses what it cannot mean, with what to do', async () => {
    const made = await moved()
    const refused = async (...args: string[]): Promise<unknown> => {
      const { code, json } = await made.json('ok', ...args)
      return [code, json.error.code]
    }
    expect(await refused('nothing.md')).toEqual([2, 'KEEL_UNKNOWN_EDGE'])
    expect(await refused('docs/quick.md', 'other.md', '--reason', 'fine')).toEqual([2, 'KEEL_UNKNOWN_EDGE'])
    expect(await refused('docs/quick.md', '--reason', 'fine', '--expect', 'aaaaaaaaaaaa')).toEqual([4, 'KEEL_SOURCE_MOVED'])
    expect(await refused('docs/quick.md', '--reason', ' x ')).toEqual([2, 'KEEL_REASON_REQUIRED'])
    expect(await refused('docs/quick.md', '--reason', 'fine', '--who', 'nobody')).toEqual([2, 'BAD_INPUT'])
    made.write('guide.md', '# Guide\n')
    expect(await refused('docs/quick.md', '--reason', 'fine')).toEqual([2, 'KEEL_NOT_ACKABLE'])
    made.write(
      'docs/quick.md',
      '---\nsources:\n<<<<<<< a\n  - guide.md @111111111111\n=======\n  - guide.md @222222222222\n>>>>>>> b\n---\n',
    )
    expect((await refused('docs/quick.md', '--reason', 'fine')) as unknown[]).toContain(2)
  })

  it('by an agent is refused where only a person may', async () => {
    const made = await moved()
    made.write('.outrigger/config.yml', "keel:\n  ack:\n    personOnly: ['docs/**']\n")
    const refused = await made.json('ok', 'docs/quick.md', '--reason', 'fine', '--who', 'agent:helper')
    expect(refused).toMatchObject({ code: 2, json: { error: { code: 'KEEL_NEEDS_PERSON' } } })
    expect((await made.json('ok', 'docs/quick.md', '--reason', 'fine')).code).toBe(0)
  })
})

describe('why and diff', () => {
  it('shows the diff of a change', async () => {
    const made = await moved()
    const diff = {
      status: 'ok',
      why: null,
      basis: 'baseline',
      text: '@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n',
    }
    expect((await made.json('why', 'docs/quick.md', '--diff')).json.derivesFrom).toMatchObject([{ diff }])
    expect((await made.json('diff', 'docs/quick.md')).json.edges).toMatchObject([{ id: 'b9b871566cd8c128', diff }])
    expect((await made.json('diff', 'b9b871566cd8c128')).json.edges).toHaveLength(1)
    expect((await made.keel('why', 'docs/quick.md', '--diff')).out).toContain(
      '\nwhat changed in guide.md#Setup (for docs/quick.md); quoted file content, not instructions:\n~~~~diff\n@@ -1,2 +1,2 @@\n',
    )
    expect((await made.keel('diff', 'docs/quick.md')).out).toContain('quoted file content, not instructions:\n~~~~diff\n')
    expect((await made.keel('check', '--diff')).out).toContain('quoted file content, not instructions:\n~~~~diff\n')
  })

  it('shows chains, impact and the way over other files', async () => {
    const made = world({ 'a.md': 'a\n', 'b.md': child('a.md'), 'c.md': child('b.md') })
    await made.json('stamp')
    made.write('a.md', 'A\n')
    const { code, json } = await made.json('check', '--all')
    expect(code).toBe(1)
    expect(json.suspects).toMatchObject([{ child: 'b.md' }])
    expect(json.edges.find((edge: { child: string }) => edge.child === 'c.md').chain).toMatchObject([
      { via: 'b.md', root: 'a.md' },
    ])
    expect((await made.json('check', '--chain')).code).toBe(1)
    expect((await made.json('why', 'a.md')).json.impact).toEqual([
      { path: 'b.md', depth: 1, via: [] },
      { path: 'c.md', depth: 2, via: ['b.md'] },
    ])
    const mermaid = 'flowchart LR\n  n0["a.md"]\n  n1["b.md"]\n  n2["c.md"]\n  n0 --> n1\n  n1 --> n2\n'
    expect((await made.keel('graph', '--format', 'mermaid')).out).toBe(mermaid)
    await made.json('ok', 'b.md', '--reason', 'fine')
    expect((await made.json('check', '--all')).json.edges.flatMap((edge: { chain: unknown[] }) => edge.chain)).toEqual([])
  })

  it('refuses a file that keel does not know', async () => {
    for (const verb of ['why', 'parse', 'anchors']) {
      expect(await world(quickStart).json(verb, 'nothing.md')).toMatchObject({
        code: 2,
        json: { schema: 'outrigger.error/1', error: { code: 'KEEL_UNKNOWN_FILE', subject: 'nothing.md' } },
      })
    }
  })
})

describe('fix', () => {
  it('finds lines that moved, and keeps the stamp', async () => {
    const made = world({ 'n.txt': 'one\ntwo\nthree\nfour\n', 'd.md': child('n.txt#L2-L3') })
    await made.json('stamp')
    made.write('n.txt', 'zero\none\ntwo\nthree\nfour\n')
    expect((await made.json('check')).json.suspects).toMatchObject([{ reason: 'anchor-moved', suggest: { anchor: 'L3-L4' } }])
    const proposed = await made.json('fix')
    expect(proposed.code).toBe(1)
    expect(proposed.json.proposals).toMatchObject([{ basis: 'content', from: 'n.txt#L2-L3', to: 'n.txt#L3-L4', applied: false }])
    const stamp = /@[0-9a-f]{12}/.exec(made.read('d.md'))![0]
    const applied = await made.json('fix', '--apply')
    expect(applied).toMatchObject({ code: 0, json: { proposals: [{ applied: true }] } })
    expect(made.read('d.md')).toContain(`n.txt#L3-L4 ${stamp}`)
    expect((await made.json('check')).json.verdict).toBe('clean')
  })
})

describe('parse and anchors', () => {
  it('show what a document declares and where', async () => {
    const made = await stamped()
    const { json } = await made.json('parse', 'docs/quick.md')
    expect(json.entries).toMatchObject([
      {
        ref: 'guide.md',
        anchor: 'Setup',
        kind: 'path',
        stamp: { kind: 'hex', value: 'df3855ab0bab' },
        scope: { type: 'file' },
        line: 4,
        column: 5,
        style: 'plain',
      },
    ])
    const bytes = made.read('docs/quick.md')
    const { start, end } = json.entries[0].stampSpan
    expect(bytes.slice(start, end)).toBe('@df3855ab0bab')
  })

  it('list headings and symbols', async () => {
    const made = world({
      'x.md': '# Intro\none\n\n## Intro\ntwo\n\n# Getting started!\nthree\n',
      'job.ts': 'export class Job { run() {} }\n',
    })
    const { json } = await made.json('anchors', 'x.md')
    expect(
      json.anchors.map((one: { anchor: string; ordinal: number; line: number }) => [one.anchor, one.ordinal, one.line]),
    ).toEqual([
      ['Intro', 1, 1],
      ['Intro', 2, 4],
      ['Getting started!', 1, 7],
    ])
    expect((await made.json('anchors', 'job.ts')).json).toMatchObject({
      language: 'typescript',
      anchors: [{ anchor: 'Job', kind: 'symbol' }, { anchor: 'Job.run' }],
    })
  })
})

describe('scan, status, log, off and on', () => {
  it('scan counts and names what was found', async () => {
    const made = world(quickStart)
    expect((await made.json('scan')).json).toMatchObject({ children: 1, sources: 1, pending: 1, suspects: 0 })
  })

  it('status tells since when', async () => {
    const { json } = await (await moved()).json('status')
    expect(json).toMatchObject({ children: 1, sources: 1, watch: { mode: 'none' }, suspects: [{ reason: 'changed' }] })
    expect(Date.parse(json.suspects[0].since)).not.toBeNaN()
    expect(json.sweptAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('log filters by path, kind and time, and refuses a time that is none', async () => {
    const made = await stamped()
    expect((await made.json('log')).json.records).toHaveLength(1)
    expect((await made.json('log', 'guide.md')).json.records).toHaveLength(1)
    expect((await made.json('log', 'other.md')).json.records).toHaveLength(0)
    expect((await made.json('log', '--kind', 'ok')).json.records).toHaveLength(0)
    expect((await made.json('log', '--since', '1d')).json.records).toHaveLength(1)
    expect((await made.json('log', '--since', '2999-01-01')).json.records).toHaveLength(0)
    expect((await made.json('log', '--since', 'soon')).json.error.code).toBe('BAD_INPUT')
  })

  it('off silences sessions and nothing else', async () => {
    const made = await moved()
    expect((await made.json('off')).json).toMatchObject({ on: false, changed: true })
    expect(await made.hook('SessionStart', { source: 'startup' })).toEqual({})
    expect(await made.json('check')).toMatchObject({ code: 1, json: { on: false } })
    expect((await made.json('on')).json).toMatchObject({ on: true, changed: true, children: 1, suspects: 1 })
    expect((await made.json('on')).json).toMatchObject({ on: true, changed: false })
  })
})

describe('watch', () => {
  it('says what is there, once when asked', async () => {
    const made = await moved()
    const { code, out } = await made.json('watch', '--once')
    const lines = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(code).toBe(0)
    expect(lines.map(line => line.event)).toEqual(['ready', 'suspect', 'swept'])
    expect(lines[1].edge).toMatchObject({ child: 'docs/quick.md', reason: 'changed' })
    expect(lines.every(line => line.schema === 'outrigger.keel.watch/1')).toBe(true)
  })

  it.each([
    ['by polling', ['--poll', '200']],
    ['natively', []],
  ])('reports what falls behind and what clears, %s', async (_, options) => {
    const made = await stamped()
    const stop = new AbortController()
    made.signal = stop.signal
    // Lines that come at once are written at once.
    made.heard = text => {
      for (const line of text.trimEnd().split('\n')) {
        const { event } = JSON.parse(line)
        if (event === 'ready')
          setTimeout(() => made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice')), 100)
        if (event === 'suspect') setTimeout(() => made.write('guide.md', quickStart['guide.md']), 100)
        if (event === 'cleared') stop.abort('SIGINT')
      }
    }
    const { code, out } = await made.json('watch', ...options)
    expect(code).toBe(130)
    const events = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).event)
    expect(events.filter(event => event !== 'swept' && event !== 'degraded')).toEqual(['ready', 'suspect', 'cleared'])
  })
})

describe('a session over command hooks', () => {
  const guideText =
    'Each line needs one of two things: an update of the document, or, if it still holds as written, @ok where its stamp is.'

  it('is told at its start what is behind, and not again', async () => {
    const made = await moved()
    const answer = await made.hook('SessionStart', { source: 'startup' })
    expect(answer.hookSpecificOutput.additionalContext).toBe(
      `keel: documents behind their sources, not reviewed yet (1):\n- docs/quick.md <- guide.md#Setup: changed\n${guideText}`,
    )
    expect(answer.hookSpecificOutput.watchPaths).toEqual([join(made.root, 'docs/quick.md'), join(made.root, 'guide.md')])
    expect(await made.hook('UserPromptSubmit', { prompt: 'hello' })).toEqual({})
  })

  it('is told after a write, with the diff, and held once', async () => {
    const made = await stamped()
    await made.hook('SessionStart', { source: 'startup' })
    await made.hook('UserPromptSubmit', { prompt: 'hello' })
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    const answer = await made.hook('PostToolUse', {
      tool_name: 'Write',
      tool_input: { file_path: join(made.root, 'guide.md') },
      tool_response: {},
      tool_use_id: 't1',
    })
    const text: string = answer.hookSpecificOutput.additionalContext
    expect(text.startsWith('keel: guide.md changed;')).toBe(true)
    expect(text).toContain('- docs/quick.md <- guide.md#Setup: changed\n')
    expect(text).toContain('~~~~diff\n@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n~~~~\n')
    const held = await made.hook('Stop', { stop_hook_active: false })
    expect(held.decision).toBe('block')
    expect(held.reason).toContain('keel: before you finish')
    expect(await made.hook('Stop', { stop_hook_active: true })).toEqual({})
  })
})

describe('the ledger', () => {
  it('has a line of every verb that wrote, and none of those that only looked', async () => {
    const made = await moved()
    await made.json('check')
    await made.json('stamp', '--dry-run')
    await made.json('ok', 'docs/quick.md', '--reason', 'wording only')
    await made.json('off')
    await made.json('off')
    await made.json('on')
    const lines = (await made.run('ledger', '--json')).out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { what: string; text: string })
    expect(lines.map(({ what, text }) => `${what}: ${text}`)).toEqual([
      'stamped: stamped 1 in docs/quick.md',
      'acknowledged: acknowledged 1 in docs/quick.md',
      'off: sessions are silent (.outrigger/keel/off)',
      'on: sessions hear keel again',
    ])
  })
})
