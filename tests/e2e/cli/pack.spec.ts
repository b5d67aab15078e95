/** The worked examples of pack on the built program: a row is what is typed, and what the document and the files say. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { buildProgram, type Program } from '../../support/cli/program.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 4 })

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

// biome-ignore lint/suspicious/noExplicitAny: a row names the fields that matter
type Document = any

interface Answer {
  readonly code: number | null
  readonly out: string
  readonly json: Document
}

interface Row {
  readonly root: string
  /** `outrigger pack …  --json --session s-1` where the verb knows a session. */
  pack(args: string, stdin?: string, env?: Readonly<Record<string, string>>): Promise<Answer>
  capture(stream: string, text: string, more?: string): Promise<Document>
  read(path: string): string
  write(path: string, text: string): void
  git(...args: readonly string[]): string
}

const fixed = { OUTRIGGER_NOW: '2026-11-30T10:00:00.000Z', OUTRIGGER_SEED: '1' }
const gitFixed = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}

function row(id: string, what: string, check: (row: Row) => Promise<void>): void {
  it.concurrent(`${id}: ${what}`, async () => {
    const root = program.folder()
    const git = (...args: readonly string[]): string =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', env: { ...program.env, ...gitFixed } })
    git('init', '-q', '-b', 'main')
    const pack: Row['pack'] = async (args, stdin = '', env = {}) => {
      const words = args.match(/"[^"]*"|\S+/g)!.map(word => word.replace(/^"|"$/g, ''))
      const { code, out } = await program.run(root, ['pack', ...words, '--json'], { stdin, env: { ...fixed, ...env } })
      return { code, out, json: out.startsWith('{') && out.trim().split('\n').length === 1 ? JSON.parse(out) : undefined }
    }
    await check({
      root,
      pack,
      git,
      async capture(stream, text, more = '--session s-1') {
        const { json } = await pack(`capture ${stream} - ${more}`, text)
        return json
      },
      read: path => readFileSync(join(root, path), 'utf8'),
      write: (path, text) => {
        execFileSync('mkdir', ['-p', join(root, path, '..')])
        writeFileSync(join(root, path), text)
      },
    })
  })
}

const ledger =
  'Ledger chosen.\n\n<!-- ckpt\ndecision: invoices go through the new ledger — the old one rounds cents\nopen: port the 2019 importer\nreasoning: the importer is the last reader of the old table\n-->\n'

row('1, 2, 3', 'a checkpoint is filed once and becomes a state', async ({ pack, read }) => {
  const first = await pack('capture billing - --turn 4 --session s-1', ledger)
  expect(first.json).toMatchObject({
    schema: 'outrigger.pack.capture/1',
    captured: [
      {
        id: 'c01',
        key: 'a6daf8fbc56f',
        duplicate: false,
        clauses: [
          { id: 'c01.1', section: 'decisions' },
          { id: 'c01.2', section: 'next' },
          { id: 'c01.3', section: null },
        ],
      },
    ],
    seam: { level: 'simple' },
  })
  const journal = read('.outrigger/pack/billing/journal.md')
  const body = ledger.slice(ledger.indexOf('<!--')).trimEnd()
  expect(journal).toBe(
    `# pack journal: billing\n\n<!-- append-only; code adds entries; look one up with: outrigger pack show billing c01 -->\n\n### c01 2026-11-30T10:00:00.000Z s-1 key=a6daf8fbc56f len=176\n${body}\n\n`,
  )
  const saved = await pack('save billing --session s-1')
  expect(saved.json).toMatchObject({
    revision: 1,
    outcome: 'ok',
    cursor: 'c01',
    lines: { live: 2, shown: 2 },
    fidelity: { score: 100 },
  })
  expect(read('.outrigger/pack/billing/state.md')).toBe(
    'stream: billing\nsaved: 2026-11-30T10:00:00.000Z s-1\nstatus: unknown\nprevious_session: none\ngoal: unknown\njournal: .outrigger/pack/billing/journal.md\njournal_cursor: c01\nrevision: 1\nformat: outrigger-pack/2\n\nfrontier:\n- git: main @ none, clean\nread_first:\nread_if_needed:\ndeliverable: none\ndecisions:\n- invoices go through the new ledger — the old one rounds cents (c01.1)\nlearnings:\ndiscarded:\nin_progress:\nnext:\n- port the 2019 importer (c01.2)\nunknowns:\n- nothing is on record here; check a fact before relying on it\nstale:\n',
  )
  const again = await pack('capture billing - --turn 4 --session s-1', ledger)
  expect(again.json.captured[0]).toMatchObject({ id: 'c01', duplicate: true })
  expect(read('.outrigger/pack/billing/journal.md')).toBe(journal)
  expect((await pack('save billing --session s-1')).json).toMatchObject({ unchanged: true, revision: 1 })
})

row('4', 'separators in code spans and keywords of any case', async ({ capture }) => {
  const { captured } = await capture('s4', '<!-- ckpt Decision: pipe form `a | b` — shorter · OPEN: name it; refs: docs/a.md -->')
  expect(captured[0].clauses).toEqual([
    { id: 'c01.1', keyword: 'decision', section: 'decisions', text: 'pipe form `a | b` — shorter' },
    { id: 'c01.2', keyword: 'open', section: 'next', text: 'name it' },
    { id: 'c01.3', keyword: 'refs', section: 'read_if_needed', text: 'docs/a.md' },
  ])
})

row('5', 'an example in code is left alone', async ({ capture }) => {
  const document = await capture('s5', '~~~\n<!-- ckpt open: x -->\n~~~\n')
  expect(document).toMatchObject({ captured: [], ignored: [{ line: 2, reason: 'in-code' }] })
})

row('6', 'a line that reads as a header becomes no entry', async ({ capture, pack, read }) => {
  await capture('s6', '<!-- ckpt\nopen: x\n### plan\n-->\n')
  expect(read('.outrigger/pack/s6/journal.md')).toContain('\n\\### plan\n')
  const { json } = await pack('show s6 c01')
  expect(json.entries).toHaveLength(1)
  expect(json.entries[0].text).toContain('\n### plan\n')
})

row('7, 8', 'one retirement takes one line, and says what it did not understand', async ({ capture, pack }) => {
  await capture('s7', '<!-- ckpt\nopen: first\nopen: second\n-->')
  await capture('s7', '<!-- ckpt\nretire_done: c01\n-->')
  const first = await pack('save s7 --session s-1')
  expect(first.json).toMatchObject({
    rejected: [{ entry: 'c02', key: 'retire_done', token: 'c01', why: 'ambiguous' }],
    lines: { live: 2 },
  })
  await capture('s7', '<!-- ckpt\nretire_done: c01.2, ch7 — test is green\n-->')
  const second = await pack('save s7 --session s-1')
  expect(second.json).toMatchObject({
    retired: [{ id: 'c01.2', key: 'retire_done', by: 'trailer', reason: 'test is green' }],
    rejected: [{ token: 'ch7', why: 'not-an-id' }],
    lines: { live: 1 },
  })
})

row('9', 'a reply is understood however it is written', async ({ capture, pack, read }) => {
  await capture('s9', '<!-- ckpt assumption: disk is local -->')
  await pack('save s9 --session s-1')
  const reply =
    '**GATE: ok**\n\n1. lost\nnext:\n1. ship it\n2) tell\n   the team\nretire_answered: c01 — measured\nunknowns:\n* load above 1k'
  const { json } = await pack('save s9 --session s-1 --designation -', reply)
  expect(json).toMatchObject({
    designation: 'applied',
    retired: [{ id: 'c01', key: 'retire_answered', by: 'model', reason: 'measured' }],
  })
  const { json: shown } = await pack('show s9 c02')
  expect(shown.entries[0]).toMatchObject({ kind: 'designation' })
  expect(shown.entries[0].lines.map((line: Document) => `${line.id} ${line.section} ${line.text}`)).toEqual([
    'c02.1 next ship it',
    'c02.2 next tell the team',
    'c02.3 unknowns load above 1k',
  ])
  expect(read('.outrigger/pack/s9/state.md')).toContain('- tell the team (c02.2)')
})

row('10', 'a blocked gate leaves the state of code', async ({ capture, pack, root }) => {
  await capture('s10', '<!-- ckpt open: x -->')
  const { json, code } = await pack('save s10 --designation -', 'GATE: blocked - comparing all drafts')
  expect(code).toBe(0)
  expect(json).toMatchObject({
    outcome: 'degraded',
    notes: ['model-blocked'],
    reason: 'comparing all drafts',
    designation: 'blocked',
  })
  expect(existsSync(join(root, '.outrigger/pack/s10/state.md'))).toBe(true)
})

row('11', 'what does not fit is named', async ({ pack, read }) => {
  const rows = Array.from({ length: 30 }, (_, i) => {
    return JSON.stringify({
      answer: `<!-- ckpt learning: fact number ${i + 1} ${'x'.repeat(100)} -->`,
      session: 's-1',
      turn: i + 1,
    })
  })
  expect((await pack('capture big --jsonl -', rows.join('\n'))).out.trim().split('\n')).toHaveLength(30)
  const { json } = await pack('save big --max-chars 2000')
  const state = read('.outrigger/pack/big/state.md')
  expect(json).toMatchObject({ outcome: 'degraded', notes: ['cut'], dropped: ['c01-c19'], fidelity: { lines: 36, score: 55 } })
  expect(state.endsWith('- overflow: 19 lines left out to fit: c01-c19; see one with: outrigger pack show big <id>\n')).toBe(true)
  expect(state.length).toBeLessThanOrEqual(2000)
})

row('14', 'a title names a stream', async ({ pack }) => {
  const names = await Promise.all(['Billing v2', 'Café', '請求', 'plain-name'].map(title => pack(`name "${title}"`)))
  expect(names.map(({ json }) => json.stream)).toEqual(['billing-v2-1c41', 'cafe-7347', 's-779fdc96', 'plain-name'])
})

row('15', 'a device of Windows is no stream', async ({ pack }) => {
  const { code, json } = await pack('capture Con -', 'x')
  expect([code, json.error.code]).toEqual([2, 'PACK_RESERVED_STREAM'])
})

row('16', 'secrets are masked, examples are not', async ({ pack }) => {
  const { json } = await pack(
    'redact -',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a shell
    'glpat-abcDEF123456_78901234 x-api-key: 0123456789abcdef https://user:pw@example.org token=${TOKEN} password=xxxxxxxxxxxx',
  )
  expect(json.text).toBe(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a shell
    '[masked:gitlab-token] x-api-key: [masked:auth-header] https://user:[masked:url-password]@example.org token=${TOKEN} password=xxxxxxxxxxxx',
  )
})

row('17', 'a checkpoint that is still written is hidden, one that never ended is shown', async ({ pack }) => {
  const text = 'Body\n\n<!-- ckpt decision: a — b'
  expect((await pack('screen -', text)).json).toMatchObject({ text: 'Body', unclosed: true })
  expect((await pack('screen - --final', text)).json).toMatchObject({ text, unclosed: true })
})

row('18', 'notes that somebody changed wait for the person', async ({ capture, pack, read, write }) => {
  await capture('s18', '<!-- ckpt open: x -->')
  await pack('save s18')
  write('.outrigger/pack/s18/state.md', read('.outrigger/pack/s18/state.md').replace('- x (c01)', '- y (c01)'))
  const untrusted = await pack('load s18')
  expect(untrusted).toMatchObject({
    code: 1,
    json: { trust: { level: 'changed' }, text: null, changes: ['-- x (c01)', '+- y (c01)'] },
  })
  const trusted = await pack('load s18 --trust')
  expect(trusted).toMatchObject({ code: 0, json: { trust: { level: 'own' } } })
  expect(trusted.json.text).toContain('- y (c01)')
  expect((await pack('save s18')).json).toMatchObject({ notes: ['hand-edited'] })
  expect(read('.outrigger/pack/s18/state.md')).toContain('- y (c01)')
  expect(read('.outrigger/pack/s18/journal.md')).toContain('kind=hand')
})

row('19', 'a revision that moved is not written over', async ({ capture, pack }) => {
  await capture('s19', '<!-- ckpt open: x -->')
  await pack('save s19')
  const { code, json } = await pack('save s19 --expect-revision 0')
  expect([code, json.error.code]).toEqual([4, 'PACK_REVISION_MOVED'])
})

row('20', 'an id is exact', async ({ capture, pack }) => {
  await capture('s20', '<!-- ckpt open: x -->')
  const { code, json } = await pack('show s20 c01 c05')
  expect(code).toBe(1)
  expect([json.entries.map((entry: Document) => entry.id), json.missing]).toEqual([['c01'], ['c05']])
})

row('21', 'seams', async ({ capture }) => {
  const of = async (body: string) => (await capture('s21', `<!-- ckpt\n${body}\n-->`)).seam
  expect(await of('learning: T9 closed, T10 next')).toEqual({ level: 'strong', task: 'T9' })
  expect(await of('open: closing T9 when CI is green')).toEqual({ level: 'none', task: null })
  expect(await of('pivot: another way\nlearning: #41 done')).toEqual({ level: 'strong', task: '#41' })
})

const log = (command: string, content: string, isError: boolean): string =>
  [
    {
      type: 'user',
      sessionId: 'cc-1',
      cwd: '/nowhere',
      timestamp: '2026-11-30T11:00:00.000Z',
      uuid: 'u1',
      message: { role: 'user', content: 'go' },
    },
    {
      type: 'assistant',
      sessionId: 'cc-1',
      timestamp: '2026-11-30T11:00:01.000Z',
      message: { id: 'm1', role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command } }] },
    },
    {
      type: 'user',
      sessionId: 'cc-1',
      timestamp: '2026-11-30T11:00:02.000Z',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', is_error: isError, content }] },
    },
    {
      type: 'assistant',
      sessionId: 'cc-1',
      timestamp: '2026-11-30T11:00:03.000Z',
      message: { id: 'm2', role: 'assistant', content: [{ type: 'text', text: 'Seen.\n\n<!-- ckpt open: fix it -->' }] },
    },
  ]
    .map(line => JSON.stringify(line))
    .join('\n')

row('23, 24', 'tests of a log stand in the frontier', async ({ capture, pack, read, write }) => {
  await capture('s23', '<!-- ckpt open: x -->')
  write('failed.jsonl', log('npm test 2>&1', 'Exit code 1\nno', true))
  await pack('save s23 --log failed.jsonl')
  expect(read('.outrigger/pack/s23/state.md')).toContain('- test: npm test 2>&1 → exit 1 at 2026-11-30T11:00:0')
  write('piped.jsonl', log('npm test | tail -5', 'fine', false))
  await pack('save s23 --log piped.jsonl')
  expect(read('.outrigger/pack/s23/state.md')).toContain('- test: npm test | tail -5 → exit unknown at')
})

row('25', 'an open item of another session is to be checked', async ({ capture, pack, read }) => {
  await capture('s25', '<!-- ckpt open: x -->')
  await pack('save s25 --session s-2')
  expect(read('.outrigger/pack/s25/state.md')).toContain('- x [verify] (c01)')
})

row('26', 'a log that is imported twice is filed once', async ({ pack, write }) => {
  write('log.jsonl', log('ls', 'x', false))
  const first = await pack('import log.jsonl --stream s26')
  expect(first.json).toMatchObject({ captured: ['c01'], duplicates: 0, turns: 1, format: 'claude-code' })
  expect((await pack('import log.jsonl --stream s26')).json).toMatchObject({ captured: [], duplicates: 1 })
})

row('27', 'files of the older tool are taken over and stay', async ({ pack, read, write }) => {
  const journal = '### c01 2026-01-01T00:00:00.000Z a\n<!-- ckpt decision: x — y · open: z -->\n'
  const state = 'stream: p\nsaved: 2026-01-01T00:00:00.000Z a\njournal_cursor: c01\n\ndecisions:\n- x — y (c01)\nnext:\n'
  write('journal/p.md', journal)
  write('pack-p-llm.md', state)
  const { json } = await pack('save p --session s-1')
  expect(json).toMatchObject({
    migrated: ['journal/p.md', 'pack-p-llm.md'],
    notes: ['migrated'],
    retired: [{ id: 'c01.2', key: 'retire_done', by: 'migration', reason: 'not in the older state' }],
    lines: { live: 1 },
  })
  expect([read('journal/p.md'), read('pack-p-llm.md')]).toEqual([journal, state])
  expect(read('.outrigger/pack/p/state.md')).toContain('previous_session: a\n')
  const { json: shown } = await pack('show p c01')
  expect(shown.entries[0].lines.map((line: Document) => line.state)).toEqual(['live', 'retired'])
  expect((await pack('load p')).code).toBe(0)
})

row('28', 'two branches that took one number keep both', async ({ capture, pack, git }) => {
  for (let i = 1; i <= 7; i++) await capture('m', `<!-- ckpt open: item ${i} -->`, `--session s-1 --turn ${i}`)
  git('add', '-A')
  git('commit', '-qm', 'base')
  git('checkout', '-qb', 'other')
  await pack('capture m - --session s-1 --turn 8', '<!-- ckpt open: on the branch -->')
  git('commit', '-qam', 'other')
  git('checkout', '-q', 'main')
  await pack('capture m - --session s-2 --turn 8', '<!-- ckpt open: on main -->', { OUTRIGGER_NOW: '2026-11-30T10:05:00.000Z' })
  git('commit', '-qam', 'main')
  git('merge', '-q', 'other', '-m', 'merge')
  const { json } = await pack('verify m')
  expect(json).toMatchObject({ ok: true, findings: [{ code: 'merged-id', severity: 'warning' }, { code: 'state-behind' }] })
  const { json: all } = await pack('show m')
  const ids = all.entries.map((entry: Document) => entry.id)
  expect(ids).toHaveLength(9)
  expect(ids[8]).toMatch(/^c08~[0-9a-f]{4}$/)
  expect(all.entries[7].text).toContain('on the branch')
  const next = await capture('m', '<!-- ckpt open: after -->', '--session s-1 --turn 9')
  expect(next.captured[0].id).toBe('c09')
})
