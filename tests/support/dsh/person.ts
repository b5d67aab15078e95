/** The real host with a scripted person in it (`person-row/index.js` lists the steps). */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findHost, hostEnvironment, run } from '../../../src/demo/host.ts'
import { type ModelRequest, type Script, startScriptedModel } from '../../../src/demo/scripted-model.ts'

const row = join(dirname(fileURLToPath(import.meta.url)), 'person-row')

export interface PersonRun {
  readonly code: number | string
  readonly report: readonly Readonly<Record<string, unknown>>[]
  readonly requests: readonly ModelRequest[]
  readonly unscripted: readonly ModelRequest[]
  readonly stdout: string
  readonly stderr: string
}

/**
 * One host process that does the person's steps.
 *
 * @param options.killWhen - asked at each model request; a true answer ends the process with SIGKILL.
 */
export async function runPerson(options: {
  readonly home: string
  readonly cwd: string
  /** `web` runs without a browser. */
  readonly profile?: 'headless' | 'web'
  readonly script: readonly object[]
  readonly turns?: Script
  readonly env?: Readonly<Record<string, string>>
  readonly patches?: readonly string[]
  killWhen?(request: ModelRequest): boolean
}): Promise<PersonRun> {
  const profile = options.profile ?? 'headless'
  const installed = join(options.home, 'profiles', profile, 'node_modules', 'demo-person')
  if (!existsSync(installed)) {
    mkdirSync(dirname(installed), { recursive: true })
    cpSync(row, installed, { recursive: true })
  }
  let pid: number | undefined
  const model = await startScriptedModel({
    turns: options.turns ?? [],
    onRequest: request => {
      if (pid !== undefined && options.killWhen?.(request) === true) process.kill(pid, 'SIGKILL')
    },
  })
  const reportFile = join(options.home, `person-${Date.now()}.jsonl`)
  const patches = [join(row, 'person.patch.yml'), ...(options.patches ?? [])].flatMap(patch => ['--patch', patch])
  const app = profile === 'web' ? ['--no-open', '--host', '127.0.0.1', '--port', '0'] : []
  const ran = await run(process.execPath, [findHost(), '--profile', profile, ...patches, ...app], {
    cwd: options.cwd,
    env: hostEnvironment(options.home, model.url, {
      DEMO_PERSON_SCRIPT: JSON.stringify(options.script),
      DEMO_PERSON_REPORT: reportFile,
      ...options.env,
    }),
    timeoutMs: 90_000,
    onStart: started => {
      pid = started
    },
  })
  await model.close()
  const lines = existsSync(reportFile) ? readFileSync(reportFile, 'utf8').split('\n').filter(Boolean) : []
  return { ...ran, report: lines.map(line => JSON.parse(line)), requests: model.requests, unscripted: model.unscripted }
}
