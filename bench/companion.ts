/**
 * companion in a generated repository: a call that is not judged, judged calls, the start of a session, a verb
 * from nothing. `npm run bench -- companion [10k|100k]…`; `10k` by default.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCompanionEngine } from '../src/companion/engine.ts'
import { noState } from '../src/companion/judge/state.ts'
import { openProject } from '../src/node/open.ts'
import { operationsOf } from '../src/runtime/operations.ts'
import type { StepContext } from '../src/session/engine.ts'
import type { ToolFinished } from '../src/session/events.ts'
import { emptyFacts } from '../src/session/fold.ts'
import type { Caller } from '../src/session/operation.ts'
import { noWrites } from '../src/session/writes.ts'
import { machine, printTable, type Row } from './table.ts'

const sizes: Readonly<Record<string, { readonly files: number; readonly commits: number }>> = {
  '10k': { files: 10_000, commits: 2_000 },
  '100k': { files: 100_000, commits: 50_000 },
}

export async function run(args: readonly string[]): Promise<void> {
  console.log(machine())
  for (const name of args.length > 0 ? args : ['10k']) {
    const size = sizes[name]
    if (size === undefined) throw new Error(`no size "${name}"; there are: ${Object.keys(sizes).join(', ')}`)
    printTable(
      `companion, ${size.files.toLocaleString('en')} files, ${size.commits.toLocaleString('en')} commits`,
      await measureSize(size),
    )
  }
}

/** A repository of modules with a source, a test and every tenth a document; written by git alone, in seconds. */
export function generate(root: string, { files, commits }: { readonly files: number; readonly commits: number }): void {
  mkdirSync(root, { recursive: true })
  const git = (words: readonly string[], input?: string) => {
    const result = spawnSync('git', words, { cwd: root, ...(input !== undefined && { input }), maxBuffer: 1 << 30 })
    if (result.status !== 0) throw new Error(`git ${words[0]} failed: ${result.stderr}`)
  }
  git(['init', '-q', '-b', 'main'])
  const modules = Math.floor(files / 2.1)
  const pathOf = (n: number) => `src/area${n % 97}/module${n}.ts`
  const testOf = (n: number) => `tests/area${n % 97}/module${n}.test.ts`
  const parts: string[] = []
  const file = (path: string, text: string) => parts.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  const start = Math.floor(Date.now() / 1_000) - commits * 60
  const commit = (n: number) =>
    parts.push(`commit refs/heads/main\ncommitter a <a@example.org> ${start + n * 60} +0000\ndata 1\nc\n`)
  commit(0)
  file('package.json', '{"name":"generated"}')
  file('CHANGELOG.md', '## Unreleased')
  for (let n = 0; n < modules; n++) {
    const body = Array.from(
      { length: 20 },
      (_, line) => `export function part${n}x${line}(value: number): number {\n  return value + ${line}\n}`,
    ).join('\n')
    file(
      pathOf(n),
      `import { part${(n + 1) % modules}x1 } from '../area${((n + 1) % modules) % 97}/module${(n + 1) % modules}.ts'\n${body}`,
    )
    file(testOf(n), `import { part${n}x1 } from '../../src/area${n % 97}/module${n}.ts'\n`)
    if (n % 10 === 0) file(`docs/area${n % 97}/module${n}.md`, `The module ${pathOf(n)} has \`part${n}x3\`.`)
  }
  for (let at = 1; at <= commits; at++) {
    const n = (at * 7919) % Math.min(modules, 400)
    commit(at)
    file(pathOf(n), `export const revision${at} = ${at}`)
    if (at % 3 !== 0) file(testOf(n), `import { revision${at} } from '../../src/area${n % 97}/module${n}.ts'`)
    if (at % 2 === 0) file('CHANGELOG.md', `## Unreleased\n- ${at}`)
  }
  git(['fast-import', '--quiet'], parts.join(''))
  git(['reset', '-q', '--hard', 'main'])
}

async function measureSize(size: { readonly files: number; readonly commits: number }): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-bench-'))
  try {
    const root = join(folder, 'project')
    process.stderr.write(`writing ${size.files.toLocaleString('en')} files…\n`)
    generate(root, size)
    const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), XDG_CONFIG_HOME: join(folder, 'config') }
    const open = () => openProject({ cwd: root, project: root, env, door: 'cli', isTerminal: false })
    const rows: Row[] = []
    const timed = async (what: string, targetMs: number, work: () => unknown): Promise<void> => {
      const from = performance.now()
      await work()
      const ms = performance.now() - from
      rows.push({ what, medianMs: ms, worstMs: ms, targetMs })
    }
    const ask = async () => {
      const project = await open()
      const operation = operationsOf(project).find(each => each.name === 'companion.for')!
      const caller: Caller = {
        door: 'cli',
        actor: { kind: 'agent', basis: 'stated' },
        signal: new AbortController().signal,
        progress() {},
      }
      await operation.run(operation.decode({ paths: ['src/area1/module1.ts'] }), caller)
      await project.close()
    }
    await timed('`for` from nothing', 3_000, ask)
    await timed('`for` with the cache', 3_000, ask)

    const project = await open()
    const engine = createCompanionEngine(project.companion())
    const base = { session: 's', project: root, at: 0 }
    const facts = emptyFacts('s', root, 0)
    let ids = 0
    const context: StepContext = {
      chars: 10_000,
      newId: () => String(++ids),
      busy: new Set(),
      carries: new Set(['add-context']),
      writes: noWrites,
      peers: { toldInTurn: () => [], edgesOf: () => [], outline: async () => [] },
    }
    await timed('start of a session, until the host goes on', 150, () =>
      engine.handle(noState, { ...base, kind: 'session-started', source: 'startup' }, facts, context),
    )
    await project.companion().knowledge.ready()
    const call = (tool: string, written: readonly string[], n: number): ToolFinished => ({
      ...base,
      kind: 'tool-finished',
      turn: 1,
      call: `c${n}`,
      tool,
      input: {},
      ok: true,
      output: '',
      ...(written.length > 0 && { written }),
    })
    let state = noState
    const step = async (event: ToolFinished): Promise<number> => {
      const from = performance.now()
      const next = await engine.handle(state, event, facts, context)
      const ms = performance.now() - from
      state = next.state
      return ms
    }
    const idle: number[] = []
    for (let n = 0; n < 20_000; n++) idle.push(await step(call('read', [], n)))
    rows.push(rowOf('a call that is not judged', 0.05, idle))
    const judged: number[] = []
    const paths = [...project.companion().knowledge.tree.paths()].filter(path => path.startsWith('src/')).slice(0, 2_000)
    const some = paths.length > 0 ? paths : ['src/area1/module1.ts']
    for (let n = 0; n < 2_000; n++) {
      judged.push(await step(call('edit', [some[(n * 31) % some.length]!], 100_000 + n)))
      if (n % 20 === 0) await new Promise(done => setImmediate(done))
    }
    rows.push(rowOf('a judged call, 99th of 100', 5, judged.slice(200)))
    await project.close()
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The 99th of 100, and the worst. */
function rowOf(what: string, targetMs: number, times: readonly number[]): Row {
  const sorted = [...times].sort((a, b) => a - b)
  return { what, medianMs: sorted[Math.floor(sorted.length * 0.99)]!, worstMs: sorted.at(-1)!, targetMs }
}
