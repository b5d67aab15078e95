import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJournal, maxRecordBytes, readJournal } from '../../src/keel/journal.ts'
import type { JournalRecord } from '../../src/keel/types.ts'
import { nodeFiles } from '../../src/node/files.ts'
import { runModule, sourceUrl } from '../support/child-process.ts'
import { memoryFiles } from '../support/memory-files.ts'
import { temporaryFolder } from '../support/temporary.ts'

const record: JournalRecord = {
  v: 1,
  at: '2026-01-02T03:04:05.000Z',
  kind: 'ok',
  edge: '0123456789abcdef',
  child: 'd.md',
  source: 'a.md',
  old: null,
  new: '4a58007052a6',
  who: { kind: 'person', name: 'Ada' },
  reason: 'checked',
  evidence: null,
}
const same = (text: string) => text
const path = '/p/.outrigger/keel/journal.jsonl'

describe('the journal', () => {
  it('reads back what was added, masked', async () => {
    const files = memoryFiles({ '/p/x': '' })
    const journal = createJournal(files, '/p', text => text.replace('secret', '***'))
    expect(await journal.append([{ ...record, reason: 'a secret' }])).toBe(1)
    expect(journal.read()).toEqual({ records: [{ ...record, reason: 'a ***' }], legacy: [], unreadable: 0 })
  })

  it('the latest record of an edge is the one of the latest time, whatever a merge made of the order', () => {
    const older = { ...record, at: '2026-01-01T00:00:00.000Z', new: '111111111111' }
    const files = memoryFiles({ [path]: [record, older].map(one => `${JSON.stringify(one)}\n`).join('') })
    expect(createJournal(files, '/p', same).latest().get(record.edge)?.new).toBe('4a58007052a6')
  })

  it('a record is one line of at most 4 KiB, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.string({ unit: 'binary', maxLength: 3000 }),
        async (text, name) => {
          const files = memoryFiles({ '/p/x': '' })
          const journal = createJournal(files, '/p', same)
          await journal.append([
            { ...record, child: text.repeat(3), source: text, reason: text.slice(0, 500), who: { kind: 'agent', name } },
          ])
          const line = files.text(path)!
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(maxRecordBytes)
          expect(line.indexOf('\n')).toBe(line.length - 1)
          expect(journal.read().records).toMatchObject([{ edge: record.edge }])
        },
      ),
    )
  })

  it('counts lines that it cannot read and goes on', () => {
    fc.assert(
      fc.property(fc.uint8Array(), noise => {
        const good = Buffer.from(`\n${JSON.stringify(record)}\n`)
        const { records } = readJournal(Buffer.concat([noise, good, noise, good]))
        expect(records.length).toBe(2)
      }),
    )
    const { unreadable } = readJournal(Buffer.from('{}\nnull\n"x"\n{"v":1}\n<<<<<<<\n\n'))
    expect(unreadable).toBe(5)
  })

  it('shows the rows of an older journal', () => {
    const files = memoryFiles({ '/p/journal/keel.md': '# keel\n\n- 2024-05-01 d.md <- a.md ok: checked\n| --- |\ntext\n' })
    expect(createJournal(files, '/p', same).read().legacy).toEqual([
      { legacy: true, at: '2024-05-01', child: 'd.md', source: 'a.md', text: '2024-05-01 d.md <- a.md ok: checked' },
    ])
  })

  it('loses nothing to eight processes that write at once', async () => {
    const root = temporaryFolder()
    mkdirSync(join(root, '.outrigger/keel'), { recursive: true })
    writeFileSync(join(root, '.outrigger/keel/journal.jsonl'), '{"torn"')
    const program = `
      import { createJournal } from ${JSON.stringify(sourceUrl('keel/journal.ts'))}
      import { nodeFiles } from ${JSON.stringify(sourceUrl('node/files.ts'))}
      const journal = createJournal(nodeFiles(), process.argv[1], text => text)
      for (let at = 0; at < 40; at += 1) {
        const done = await journal.append([{ ...${JSON.stringify(record)}, reason: process.argv[2] + ' ' + at }])
        if (done !== 1) throw new Error('not written')
      }`
    const all = Array.from({ length: 8 }, (_, at) => runModule(program, [root, `p${at}`]))
    for (const one of all) expect([await one.ended, one.errors()]).toEqual([0, ''])
    const { records, unreadable } = createJournal(nodeFiles(), root, same).read()
    expect(unreadable).toBe(1)
    expect(new Set(records.map(one => one.reason)).size).toBe(320)
    expect(readFileSync(join(root, '.outrigger/keel/journal.jsonl'), 'utf8').endsWith('}\n')).toBe(true)
  })
})
