/**
 * keel's sweeps on generated corpora, with git's own look at the same tree as the peer.
 *
 * `npm run bench -- keel [10k|100k]…`; both by default.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openProject } from '../src/node/open.ts'
import { corpora, writeCorpus } from './corpus.ts'
import { measure, printTable, type Row } from './table.ts'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const targets: Readonly<Record<string, { readonly sweepMs: number; readonly checkMs: number; readonly firstMs: number }>> = {
  '10k': { sweepMs: 15, checkMs: 350, firstMs: 600 },
  '100k': { sweepMs: 60, checkMs: 1200, firstMs: 3000 },
}

export async function run(args: readonly string[]): Promise<void> {
  for (const name of args.length > 0 ? args : Object.keys(corpora)) await benchCorpus(name)
}

async function benchCorpus(name: string): Promise<void> {
  const size = corpora[name]
  const target = targets[name]
  if (size === undefined || target === undefined)
    throw new Error(`no corpus "${name}"; there are: ${Object.keys(corpora).join(', ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-bench-'))
  try {
    const project = join(folder, 'project')
    process.stderr.write(`writing ${size.documents.toLocaleString('en')} documents…\n`)
    const { edges, children } = writeCorpus(project, size)
    // Racy: a record is trusted only when the file is older than the read by the clock's grain.
    await new Promise(done => setTimeout(done, 100))
    const env = {
      ...process.env,
      HOME: join(folder, 'home'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
    }
    const check = (...more: string[]) => {
      const result = spawnSync(process.execPath, [program, 'keel', 'check', '--project', project, ...more], {
        env,
        encoding: 'utf8',
      })
      if (result.status !== 0)
        throw new Error(`keel check exited ${result.status}\n${result.stdout.slice(0, 2000)}\n${result.stderr}`)
    }
    const forget = () => rmSync(join(folder, 'cache'), { recursive: true, force: true })
    const git = (...gitArgs: string[]) => execFileSync('git', gitArgs, { cwd: project, stdio: 'ignore', env })

    const repeats = size.documents > 50_000 ? 5 : 11
    const first = await measure(repeats, () => {
      forget()
      check()
    })
    check()
    const warm = await measure(repeats, () => check())
    const opened = await openProject({ cwd: project, env, door: 'cli' })
    const keel = opened.keel()
    await keel.refresh({ kind: 'full' })
    const sweep = await measure(51, () => keel.refresh({ kind: 'known' }))
    const full = await measure(repeats, () => keel.refresh({ kind: 'full' }))
    await opened.close()
    const nodeStart = await measure(repeats, () => spawnSync(process.execPath, ['-e', '0']))
    const diffFiles = await measure(repeats, () => git('--no-optional-locks', 'diff-files', '--quiet'))
    const grep = await measure(repeats, () =>
      spawnSync('git', ['grep', '--no-index', '-lF', 'source', '--', '*.md'], { cwd: project, env, stdio: 'ignore' }),
    )

    const peer = (title: string, sample: { readonly medianMs: number }) => ({ name: title, medianMs: sample.medianMs })
    const rows: Row[] = [
      {
        what: 'turn-time sweep, in process, nothing moved',
        ...sweep,
        targetMs: target.sweepMs,
        peer: peer('git diff-files', diffFiles),
      },
      {
        what: '`outrigger keel check`, whole process, warm cache',
        ...warm,
        targetMs: target.checkMs,
        peer: peer('git diff-files', diffFiles),
      },
      {
        what: '`outrigger keel check`, first scan, no cache, warm disk',
        ...first,
        targetMs: target.firstMs,
        peer: peer('git grep -lF', grep),
      },
      { what: 'full sweep, in process, warm', ...full },
      { what: 'node start alone', ...nodeStart },
    ]
    printTable(
      `keel: ${size.documents.toLocaleString('en')} documents, ${children.toLocaleString('en')} children, ${edges.toLocaleString('en')} edges`,
      rows,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
