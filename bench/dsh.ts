/**
 * What Outrigger adds in DSH: milliseconds to a tool call and to a session's start, characters to the model's
 * requests. The agent loop runs on the host's real packages in this process; the model is scripted.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
import * as core from '../src/dsh/core.ts'
import * as keel from '../src/dsh/keel.ts'
import { bootLoop, call, flat, say, text } from '../tests/support/dsh/in-process.ts'
import { measure, printTable, type Sample } from './table.ts'

const calls = 20
const repeats = 15
const documents = 200

const tools = {
  name: 'tools-of-the-bench',
  inject: ['tools'],
  apply: (ctx: Context): void => {
    for (const name of ['read', 'write'])
      ctx.tools.register(
        defineTool({
          name,
          description: name,
          parameters: { file_path: { type: 'string', required: true } },
          output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
          execute: async args => {
            if (name === 'write') writeFileSync(args.file_path, 'const unrelated = 1\n')
            return 'ok'
          },
        }),
      )
  },
}

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'outrigger-bench-'))
  try {
    fill(root)
    const rows = []
    const outrigger: Plugins = [
      [core, {}],
      [keel, {}],
    ]
    for (const tool of ['read', 'write']) {
      const without = await perCall(root, tool, [])
      const added = await perCall(root, tool, outrigger)
      rows.push({
        what: `${tool} call, added (${documents} documents)`,
        medianMs: added.ms - without.ms,
        worstMs: added.worstMs - without.ms,
        targetMs: 2,
      })
      console.log(`characters that ${calls} ${tool} calls add to the model's context: ${added.chars - without.chars}`)
    }
    rows.push({
      what: 'a session’s first turn, whole, warm',
      ...(await firstTurn(root, outrigger)),
      targetMs: 150,
    })
    rows.push({ what: 'the same without Outrigger', ...(await firstTurn(root, [])) })
    printTable('DSH', rows)
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

function fill(root: string): void {
  execFileSync('git', ['init', '-q', root])
  for (const folder of ['src', 'docs']) mkdirSync(join(root, folder))
  for (let i = 0; i < documents; i++) {
    writeFileSync(join(root, 'src', `m${i}.ts`), `export const value${i} = ${i}\n`)
    writeFileSync(join(root, 'docs', `m${i}.md`), `---\nsources:\n  - src/m${i}.ts#value${i}\n---\n# M${i}\n`)
  }
}

type Plugins = readonly (readonly [plugin: unknown, config: unknown])[]

/** What one call more costs a turn: the turn's own beginning and end, which are the same, are taken off. */
async function perCall(
  root: string,
  tool: string,
  plugins: Plugins,
): Promise<{ readonly ms: number; readonly worstMs: number; readonly chars: number }> {
  const few = await turn(root, tool, 1, plugins)
  const many = await turn(root, tool, 1 + calls, plugins)
  const ms = (many.sample.medianMs - few.sample.medianMs) / calls
  return { ms, worstMs: (many.sample.worstMs - few.sample.medianMs) / calls, chars: many.chars }
}

/**
 * A turn of some calls in a session of its own: the host freezes the whole history for each request, which would drown
 * what is measured. The first turn, which stamps, is not measured.
 */
async function turn(
  root: string,
  tool: string,
  count: number,
  plugins: Plugins,
): Promise<{ readonly sample: Sample; readonly chars: number }> {
  let chars = 0
  const times: number[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    const script = Array.from({ length: count }, () => call([tool, { file_path: join(root, 'src', 'other.ts') }]))
    const harness = await bootLoop({
      script: [text('hello'), ...script, text('done')],
      cwd: root,
      plugins: [[tools, {}], ...plugins],
    })
    const agent = await harness.create()
    await say(agent, 'hello')
    const began = performance.now()
    await say(agent, 'go')
    times.push(performance.now() - began)
    chars = flat(harness.adapter.requests.at(-1)).join('').length
    await harness.stop()
  }
  times.sort((a, b) => a - b)
  return { sample: { medianMs: times[Math.floor(times.length / 2)] ?? 0, worstMs: times.at(-1) ?? 0 }, chars }
}

async function firstTurn(root: string, plugins: Plugins): Promise<Sample> {
  return measure(5, async () => {
    const harness = await bootLoop({ script: [text('hello')], cwd: root, plugins: [[tools, {}], ...plugins] })
    await say(await harness.create(), 'hello')
    await harness.stop()
  })
}
