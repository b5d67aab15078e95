/**
 * The REPL: round trips of cells through a session with its worker and its journal on disk, beside DSH's stock code runtime, which starts a fresh worker
 * thread for each program and keeps no state. Recovery is from the death of the worker to the answer of the next cell.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import WorkerThreadCodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread'
import { createFindMatches } from '../src/node/find-matches.ts'
import { openProject } from '../src/node/open.ts'
import { openRepl } from '../src/node/repl.ts'
import { decodeEditRequest, editSource, isRefused } from '../src/repl/edit/index.ts'
import type { ReplSession, RunOptions } from '../src/repl/types.ts'
import type { Project } from '../src/runtime/project.ts'
import { measure, printTable, type Row, type Sample } from './table.ts'

const functions = Array.from(
  { length: 1_400 },
  (_, i) => `function work${i}(a: number, b = ${i}): number { const sum = a + b; return sum * ${i} }`,
).join('\n')
const big = `${functions}\nreturn work7(1)`
const objects = 'return Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: "row " + i }))'
const integers = 'return Array.from({ length: 100_000 }, (_, i) => i)'
const callsOfTools = 'let sum = 0; for (let i = 0; i < 20; i++) sum += await tools.echo({ n: i }); return sum'
const peerName = 'stock DSH runtime'

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'outrigger-bench-repl-'))
  mkdirSync(join(root, '.git'))
  mkdirSync(join(root, '.outrigger', 'state'), { recursive: true })
  const project = await openProject({ cwd: root, env: process.env, door: 'cli', isTerminal: false })
  const stock = createStock()
  try {
    printTable('REPL, a session with its journal', [
      ...(await cellRows(project, stock)),
      await coldRow(project, stock),
      await loopRow(project, stock),
      ...editRows(),
      ...(await recoveryRows(project)),
    ])
    await printMemory(project)
  } finally {
    await project.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

let sessions = 0
const openOne = (project: Project): Promise<ReplSession> => openRepl(project, { session: `bench-${++sessions}` })

const withTools: RunOptions = {
  tools: [{ name: 'echo' }],
  call: async ({ arguments: args }) => ({ ok: true, value: (args as { readonly n: number }).n }),
}

/** Fails when the cell does: a bench of refusals would be quick. */
async function cell(session: ReplSession, code: string, options?: RunOptions): Promise<void> {
  const result = await session.run(code, options)
  if (!result.ok) throw new Error(`${code.slice(0, 60)}: ${result.error?.message}`)
}

async function cellRows(project: Project, stock: Stock): Promise<readonly Row[]> {
  const session = await openOne(project)
  const rows: Row[] = []
  // The stock runtime takes seconds for the long lists.
  const add = async (what: string, code: string, repeats: number, targetMs?: number, peerRepeats = 5): Promise<void> => {
    const own = await measure(repeats, () => cell(session, code, withTools), Math.min(repeats, 30))
    const peer = peerRepeats > 0 ? await measure(peerRepeats, () => stock.run(code), 0) : undefined
    rows.push({
      what,
      ...own,
      ...(targetMs !== undefined && { targetMs }),
      ...(peer !== undefined && { peer: { name: peerName, medianMs: peer.medianMs } }),
    })
  }
  try {
    await add('trivial cell, `return 1`', 'return 1', 300, 0.3)
    await add('declare and await', 'const value = await Promise.resolve(1); return value', 300, 0.5)
    await add('20 calls of a tool, one after another', callsOfTools, 30)
    await add('100 KB cell, 1,400 functions', big, 15, 40)
    await add('return 20,000 small objects', objects, 9, 60, 2)
    await add('return 100,000 integers', integers, 9, 25, 2)
    await cell(session, Array.from({ length: 1_000 }, (_, i) => `let live${i} = ${i}`).join('\n'))
    await add('trivial cell, 2,400 names alive', 'return 1', 100, undefined, 0)
  } finally {
    await session.close()
  }
  return rows
}

/** From opening a new session to the answer of its first cell; the worker starts in between. */
async function coldRow(project: Project, stock: Stock): Promise<Row> {
  const open: ReplSession[] = []
  const own = await measure(7, async () => {
    const session = await openOne(project)
    open.push(session)
    await cell(session, 'return 1')
  })
  await Promise.all(open.map(session => session.close()))
  const peer = await measure(7, () => stock.run('return 1'))
  return { what: 'first cell of a cold session', ...own, targetMs: 70, peer: { name: peerName, medianMs: peer.medianMs } }
}

/** A worker that was killed after so many cells, each with a name; without copies every cell runs again. */
async function recoveryRows(project: Project): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const checkpoint of ['auto', 'off'] as const) {
    for (const cells of [10, 100, 1_000]) {
      const session = await openRepl(project, { session: `bench-${++sessions}`, override: { checkpoint } })
      for (let i = 0; i < cells; i++) await cell(session, `const list${i} = [${i}]`)
      // Copies are made between cells, of many names at once when nobody has come for a while.
      await new Promise(resolve => setTimeout(resolve, 300 + cells))
      const own = await measure(3, async () => {
        session.kill9()
        await cell(session, `return list${cells - 1}[0]`)
      })
      await session.close()
      rows.push({ what: `killed after ${cells} cells, ${checkpoint === 'auto' ? 'with' : 'without'} copies: next cell`, ...own })
    }
  }
  return rows
}

/** What passes after the budget until the next cell has answered. */
async function loopRow(project: Project, stock: Stock): Promise<Row> {
  const budgetMs = 500
  const session = await openOne(project)
  await cell(session, 'return 1')
  const after = (sample: Sample): Sample => ({ medianMs: sample.medianMs - budgetMs, worstMs: sample.worstMs - budgetMs })
  const own = await measure(5, async () => {
    const looped = await session.run('while (true) {}', { computeMs: budgetMs })
    if (looped.outcome !== 'timeout') throw new Error(`the loop ended as ${looped.outcome}`)
    await cell(session, 'return 1')
  })
  await session.close()
  const limited = createStock(budgetMs)
  const peer = await measure(5, async () => {
    await limited.run('while (true) {}')
    await stock.run('return 1')
  })
  return {
    what: 'infinite loop, after its budget of 500 ms, to the next answer',
    ...after(own),
    targetMs: 60,
    peer: { name: peerName, medianMs: after(peer).medianMs },
  }
}

function editRows(): readonly Row[] {
  const findMatches = createFindMatches()
  const time = (what: string, fields: Readonly<Record<string, unknown>>, targetMs: number): Row => {
    const request = decodeEditRequest(fields)
    if (isRefused(request)) throw new Error(request.error.message)
    const times = Array.from({ length: 60 }, () => {
      const began = performance.now()
      const edited = editSource(big, request, findMatches)
      if (isRefused(edited)) throw new Error(edited.error.message)
      return performance.now() - began
    })
      .slice(20)
      .sort((a, b) => a - b)
    return { what, medianMs: times[20]!, worstMs: times.at(-1)!, targetMs }
  }
  return [
    time('edit of 100 KB, one exact text', { edits: [{ old_string: 'return work7(1)', new_string: 'return work8(1)' }] }, 0.05),
    time(
      'edit of 100 KB, 1,400 matches of a pattern',
      { regex_edits: [{ pattern: 'const sum', flags: 'g', replacement: 'const total', expected_matches: 1_400 }] },
      2,
    ),
  ]
}

async function printMemory(project: Project): Promise<void> {
  const session = await openOne(project)
  await cell(session, 'return 1')
  await new Promise(done => setTimeout(done, 1_000))
  const { worker } = await session.state()
  console.log(`\nmemory of an idle session: ${worker?.rssMb ?? 'unknown'} MB in a process of its own (target: at most 60 MB)`)
  await session.close()
}

interface Stock {
  run(program: string): Promise<void>
}

function createStock(computeMs = 60_000): Stock {
  const limits = { computeMs, maxWallMs: 600_000, maxOutputBytes: 64 * 1024 * 1024, maxOldGenerationSizeMb: 512 }
  const runtime = new WorkerThreadCodeRuntime(new Context(), limits)
  const echo = async (args: unknown): Promise<number> => (args as { readonly n: number }).n
  const errorClass = { name: 'ToolCallError', memberNameProperty: 'toolName' }
  return {
    run: async program => {
      const result = await runtime.run({ program, bindings: [{ global: 'tools', functions: { echo }, errorClass }] })
      if (result.error !== undefined && result.error.kind !== 'timeout') throw new Error(result.error.message)
    },
  }
}
