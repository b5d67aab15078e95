/** Cells of a session of the real host that is killed, resumed by another process, and forked. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Script } from '../../../src/demo/scripted-model.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { runPerson } from '../../support/dsh/person.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

let prepared: PreparedHome
let work: string

beforeAll(async () => {
  prepared = await prepareHome()
  work = temporaryFolder('e2e-repl-resume')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

const cell = (code: string) => ({ calls: [{ name: 'run_code', args: { description: 'a cell of the test', code } }] })

interface Told {
  readonly message: { readonly content: readonly { readonly content: readonly { readonly text: string }[] }[] }
  readonly meta?: unknown
}

const resultsOf = (report: readonly Readonly<Record<string, unknown>>[]): readonly Told[] =>
  report.find(line => line['event'] === 'results')!['results'] as readonly Told[]
const textOf = ({ message }: Told): string => message.content[0]!.content[0]!.text

it('goes on with its names after a kill, and a fork has those of its cell', async () => {
  const root = join(work, 'project')
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(join(root, '.outrigger', 'state'), { recursive: true })
  const home = prepared.copy()
  const person = (script: readonly object[], turns: Script) =>
    runPerson({ home, cwd: root, script, turns, env: { DSH_TOOLS_MODE: 'code' } })
  const effect = 'import { appendFileSync, readFileSync } from "node:fs"; appendFileSync("log.txt", "x")'

  const first = await person(
    [{ say: 'Begin.' }, { kill: true }],
    [cell(`${effect}; const n = new Map([["k", 1]])`), { text: 'done' }],
  )
  expect(first.code).toBe('SIGKILL')

  const second = await person(
    [{ resume: 'latest' }, { say: 'Go on.' }, { results: true }],
    [
      cell('return [n.get("k"), readFileSync("log.txt", "utf8")]'),
      cell('n.set("k", 2); throw new Error("no")'),
      { text: 'done' },
    ],
  )
  const [result, failure] = resultsOf(second.report)
  expect(textOf(result!)).toBe('[\n  1,\n  "x"\n]')
  expect(result!.meta).toMatchObject({ outrigger: { v: 1, repl: { cell: 2, parent: 1 } } })
  expect(failure!.meta).toMatchObject({ outrigger: { v: 1, repl: { cell: 3, parent: 2 } } })
  expect(readFileSync(join(root, 'log.txt'), 'utf8')).toBe('x')

  const third = await person(
    [{ resume: 'latest' }, { fork: true }, { say: 'In the copy.' }, { results: true }],
    [cell('return n.get("k")'), { text: 'done' }],
  )
  const [forked] = resultsOf(third.report)
  expect(textOf(forked!)).toBe('2')

  for (const request of [...first.requests, ...second.requests, ...third.requests]) {
    expect(JSON.stringify(request.body)).not.toContain('"outrigger"')
    expect(JSON.stringify(request.body)).not.toContain('"node"')
  }
})
