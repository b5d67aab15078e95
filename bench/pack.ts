/**
 * pack's times: `npm run bench -- pack`. Appends with their sync to journals of different sizes, fold and assembly of many clauses, and 8 processes that
 * capture at once with the built program.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openProject } from '../src/node/open.ts'
import { assemble, type LiveLine } from '../src/pack/assemble.ts'
import { fold, liveLines } from '../src/pack/fold.ts'
import { encodeEntry, preambleOf, readJournal, storedBody } from '../src/pack/journal.ts'
import { measure, printTable, type Row } from './table.ts'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

const entryText = (number: number, clauses: number): string =>
  encodeEntry(
    {
      time: '2026-11-30T10:00:00.000Z',
      session: 's-1',
      kind: 'ckpt',
      flags: [],
      key: number.toString(16).padStart(12, '0'),
      body: storedBody(
        `<!-- ckpt\n${Array.from({ length: clauses }, (_, at) => `open: item ${number} ${at}, with some words about what is left to do`).join('\n')}\n-->`,
      ),
    },
    number,
  )

const answer = (text: string): string =>
  `Done.\n\n<!-- ckpt\ndecision: ${text} — because it was measured\nopen: look at it again\n-->\n`

export async function run(args: readonly string[]): Promise<void> {
  const processes = Number(args[0] ?? 8)
  const each = Number(args[1] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-bench-pack-'))
  const rows: Row[] = []
  try {
    for (const megabytes of [0, 1, 50]) rows.push(await appendTo(join(folder, `append-${megabytes}`), megabytes))
    for (const clauses of [1_000, 10_000, 40_000]) rows.push(await foldOf(clauses))
    rows.push(await readOf(50))
    printTable('pack', rows)
    await manyWriters(join(folder, 'many'), processes, each)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function appendTo(root: string, megabytes: number): Promise<Row> {
  mkdirSync(join(root, '.git'), { recursive: true })
  const project = await openProject({ cwd: root, env: { ...process.env, HOME: root }, door: 'cli', isTerminal: false })
  const pack = project.pack()
  await pack.capture('m', { texts: [answer('first')], session: 's', turn: 0 })
  if (megabytes > 0) {
    const pieces = [preambleOf('m')]
    for (let size = 0, number = 1; size < megabytes * 1024 * 1024; number++) {
      const text = entryText(number, 3)
      size += text.length
      pieces.push(text)
    }
    writeFileSync(join(root, '.outrigger/pack/m/journal.md'), pieces.join(''))
    await pack.capture('m', { texts: [answer('reads it once')], session: 's', turn: 1 })
  }
  let turn = 2
  const sample = await measure(
    200,
    () => pack.capture('m', { texts: [answer(`number ${turn}`)], session: 's', turn: turn++ }),
    20,
  )
  await project.close()
  return { what: `append with sync, journal of ${megabytes} MiB`, ...sample, targetMs: 3 }
}

async function foldOf(clauses: number): Promise<Row> {
  const reader = readJournal()
  reader.push(Buffer.from(preambleOf('m') + Array.from({ length: clauses / 5 }, (_, at) => entryText(at + 1, 5)).join('')))
  const { entries } = reader.end()
  const sample = await measure(
    15,
    () => {
      const folded = fold(entries)
      assemble({
        stream: 'm',
        saved: '2026-11-30T10:00:00.000Z',
        session: 's-1',
        previousSession: 'none',
        scalars: folded.scalars,
        cursor: folded.cursor,
        revision: 1,
        frontier: { git: ['git: none'], test: [], ran: [], todo: [] },
        agents: [],
        lines: liveLines(folded) as readonly LiveLine[],
        markOf: () => '',
        maxChars: 8_000,
        maxTokens: 3_000,
        lineMax: 1_200,
      })
    },
    3,
  )
  const target = clauses === 10_000 ? { targetMs: 60 } : {}
  return { what: `fold and assemble, ${clauses.toLocaleString('en')} clauses`, ...sample, ...target }
}

async function readOf(megabytes: number): Promise<Row> {
  const pieces = [preambleOf('m')]
  for (let size = 0, number = 1; size < megabytes * 1024 * 1024; number++) {
    const text = entryText(number, 3)
    size += text.length
    pieces.push(text)
  }
  const bytes = Buffer.from(pieces.join(''))
  const chunk = 1024 * 1024
  const sample = await measure(3, () => {
    const reader = readJournal()
    for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk))
    reader.end()
  })
  return { what: `read a journal of ${megabytes} MiB`, ...sample }
}

/** Every capture is one line of standard input and one document, printed after its sync. */
async function manyWriters(root: string, processes: number, each: number): Promise<void> {
  mkdirSync(join(root, '.git'), { recursive: true })
  const start = performance.now()
  const outputs = await Promise.all(
    Array.from({ length: processes }, async (_, worker) => {
      const child = spawn(process.execPath, [program, 'pack', 'capture', 'm', '--jsonl', '-', '--json', '--project', root], {
        env: { ...process.env, HOME: root },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece))
      for (let turn = 1; turn <= each; turn++) {
        child.stdin.write(
          `${JSON.stringify({ answer: answer(`process ${worker} turn ${turn}`), session: `s-${worker}`, turn })}\n`,
        )
      }
      child.stdin.end()
      const code = await new Promise(done => child.on('close', done))
      return { code, documents: out.trim().split('\n').length }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  const path = join(root, '.outrigger/pack/m/journal.md')
  const reader = readJournal()
  reader.push(readFileSync(path))
  const { entries, end } = reader.end()
  const ids = new Set(entries.map(entry => entry.id))
  const intact = entries.filter(entry => entry.state === 'intact' && !entry.id.includes('~')).length
  const isWhole = outputs.every(one => one.code === 0 && one.documents === each) && end.kind === 'whole'
  console.log(
    `\n${processes} processes × ${each} captures: ${ids.size} entries of their own number, ${intact} intact, ${(statSync(path).size / 1024 / 1024).toFixed(1)} MiB, ${seconds.toFixed(1)} s`,
  )
  if (!isWhole || intact !== processes * each || ids.size !== processes * each) {
    console.error(`expected ${processes * each}: ${JSON.stringify(outputs)}, end ${end.kind}`)
    process.exitCode = 1
  }
}
