/**
 * next-step without a model: what it adds to a turn, beside the same turn without it; one event, its local tier on a large answer, simulated lines a
 * second, memory. `npm run bench -- next`.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNextEngine } from '../src/next-step/engine.ts'
import { candidatesOf, foldTool, noTurnWork } from '../src/next-step/local.ts'
import { createSimulator } from '../src/next-step/simulate.ts'
import { defaultNextConfig } from '../src/next-step/types.ts'
import { openProject } from '../src/node/open.ts'
import { systemTimers } from '../src/node/timers.ts'
import { nextEngineOf } from '../src/runtime/next.ts'
import { createOutrigger, type HandledEvent, type Outrigger } from '../src/runtime/outrigger.ts'
import { createScratchStore } from '../src/runtime/scratch-store.ts'
import { createVirtualTime } from '../src/runtime/virtual-time.ts'
import { doorKinds } from '../src/session/door-kinds.ts'
import type { AnyEngine } from '../src/session/engine.ts'
import type { ToolFinished } from '../src/session/events.ts'
import { measure, printTable, type Row } from './table.ts'

const tools = 8

/** A turn of an agent that edits, has a failing check, and is done. */
function turnOf(session: string, root: string, turn: number): readonly HandledEvent[] {
  const base = { session, project: root, at: turn * 10_000 }
  const call = (n: number): ToolFinished => ({
    ...base,
    kind: 'tool-finished',
    turn,
    call: `${turn}-${n}`,
    tool: n === tools - 1 ? 'bash' : 'edit',
    input: n === tools - 1 ? { command: 'npm test' } : { file_path: `src/file${n}.ts` },
    ok: n !== tools - 1,
    output: n === tools - 1 ? 'not ok 3 - parses dates\n' : 'done',
    ...(n !== tools - 1 && { written: [`src/file${n}.ts`] }),
  })
  return [
    { ...base, kind: 'person-spoke', text: 'Make the parser read dates.' },
    { ...base, kind: 'turn-started', turn, by: 'person' },
    ...Array.from({ length: tools }, (_, n) => call(n)),
    { ...base, kind: 'turn-ending', turn, answer: 'I changed the parser.', again: false },
    { ...base, kind: 'turn-ended', turn, reason: 'completed', answer: 'I changed the parser.' },
  ] as readonly HandledEvent[]
}

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'outrigger-bench-next-'))
  mkdirSync(join(root, '.git'))
  const project = await openProject({
    cwd: root,
    env: { ...process.env, HOME: root, XDG_CONFIG_HOME: join(root, 'config') },
    door: 'cli',
    isTerminal: false,
  })
  const runtimeOf = (engines: readonly AnyEngine[]): Outrigger =>
    createOutrigger({
      root,
      store: () => project.sessionStore(),
      clock: project.clock,
      timers: systemTimers,
      engines,
      ledger: project.ledger,
      door: { name: 'dsh', carries: new Set(doorKinds), contextAt: new Set() },
      deliver() {},
    })
  try {
    const perTurn = async (session: string, engines: readonly AnyEngine[]): Promise<{ medianMs: number; worstMs: number }> => {
      const outrigger = runtimeOf(engines)
      let turn = 0
      return measure(
        60,
        async () => {
          for (const event of turnOf(session, root, ++turn)) await outrigger.handle(event)
          await outrigger.idle()
        },
        10,
      )
    }
    const without = await perTurn('without', [])
    const withNext = await perTurn('with', [nextEngineOf(project)])
    printTable('next-step, no model', [
      {
        what: `a turn of ${tools + 4} events, ${tools} calls, in the runtime with its store on disk`,
        ...withNext,
        peer: { name: 'without next', medianMs: without.medianMs },
      },
      ...(await eventRows()),
      await localRow(),
      ...(await simulateRows()),
    ])
    await printMemory()
  } finally {
    await project.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

const inMemory = (engines: readonly AnyEngine[]): Outrigger => {
  const time = createVirtualTime(1_000)
  const store = createScratchStore(time.clock)
  return createOutrigger({
    root: '/p',
    store: async () => store,
    clock: time.clock,
    timers: time.timers,
    engines,
    ledger: { write: async () => {} },
    door: { name: 'dsh', carries: new Set(doorKinds), contextAt: new Set() },
    deliver() {},
  })
}

function engineInMemory(): AnyEngine {
  const time = createVirtualTime(1_000)
  const store = createScratchStore(time.clock)
  return createNextEngine({
    config: () => ({ ...defaultNextConfig, local: true }),
    clock: time.clock,
    store: async () => store,
    owner: () => '1:boot:1',
    isAlive: () => true,
  })
}

/** The 99th of 100 of single events, the runtime around the engine included. */
async function eventRows(): Promise<readonly Row[]> {
  const outrigger = inMemory([engineInMemory()])
  const times: number[] = []
  for (let turn = 1; turn <= 400; turn++) {
    for (const event of turnOf('s', '/p', turn)) {
      const from = performance.now()
      await outrigger.handle(event)
      times.push(performance.now() - from)
    }
  }
  const sorted = times.slice(1_000).sort((a, b) => a - b)
  return [
    {
      what: 'one event without I/O, 99th of 100',
      medianMs: sorted[Math.floor(sorted.length * 0.99)]!,
      worstMs: sorted.at(-1)!,
      targetMs: 2,
    },
  ]
}

async function localRow(): Promise<Row> {
  const work = turnOf('s', '/p', 1)
    .filter((event): event is ToolFinished => event.kind === 'tool-finished')
    .reduce(foldTool, noTurnWork)
  const answer = `${'A line of the answer, with `code` and words. 1. one\n'.repeat(4_000)}Next steps:\n- Write the notes\n- Run the tests\n`
  const context = { maxChars: 200, said: null, declined: [] }
  const sample = await measure(40, () => candidatesOf({ work, todos: [], answer }, context), 5)
  return { what: `local tier, an answer of ${Math.round(answer.length / 1_000)} KB`, ...sample, targetMs: 5 }
}

async function simulateRows(): Promise<readonly Row[]> {
  const lines: string[] = []
  for (let turn = 1; lines.length < 20_000; turn++)
    for (const { at, project: _, ...event } of turnOf('s1', '/p', turn) as readonly (HandledEvent & {
      at: number
      project: string
    })[])
      lines.push(JSON.stringify({ clock: at, ...event }))
  const sample = await measure(3, () => {
    const simulator = createSimulator({ showInput: false })
    for (const line of lines) simulator.hear(line)
  })
  return [{ what: `simulate, ${lines.length.toLocaleString('en')} lines`, ...sample, targetMs: 1_000 }]
}

/** What must live while memory is looked at. */
const held: Outrigger[] = []

async function printMemory(): Promise<void> {
  const sessions = 500
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  held.push(inMemory([engineInMemory()]))
  for (let n = 0; n < sessions; n++) for (const event of turnOf(`s${n}`, '/p', 1)) await held[0]!.handle(event)
  collect()
  const kilobytes = (process.memoryUsage().heapUsed - before) / sessions / 1_024
  console.log(`\nmemory of a live session after a turn, its records in memory too: ${kilobytes.toFixed(1)} KB (target 64 KB)`)
}
