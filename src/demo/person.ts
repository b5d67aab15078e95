/** Runs the real host with a scripted person in it: headless takes no slash commands and leaves at the first idle moment. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PersonStep } from '../dsh/demo-person.ts'
import { hostEnvironment, type Ran, run } from './host.ts'

export interface PersonRun extends Ran {
  /** What the person saw, a line a step. */
  readonly report: readonly Readonly<Record<string, unknown>>[]
  readonly wallMs: number
}

/** The headless app's own driver goes off: it would start a session of its own. */
const headless = `- id: headless-startup
  disabled: true
- id: headless-runner
  disabled: true
`
const row = `- insert:
    - { id: demo-person, name: outrigger/dsh/demo-person }
`
const patches = { headless: `${headless}${row}`, web: row }
const webOptions = ['--no-open', '--host', '127.0.0.1', '--port', '0']

export async function runWithPerson(options: {
  readonly host: string
  readonly home: string
  readonly cwd: string
  readonly modelUrl: string
  readonly script: readonly PersonStep[]
  readonly env?: Readonly<Record<string, string>>
  /** `web`: with the page's server, and nobody who opens it; only there a session is one that a person could look at. */
  readonly profile?: 'headless' | 'web'
}): Promise<PersonRun> {
  const { host, home, cwd, modelUrl, script, env, profile = 'headless' } = options
  const patchFile = join(home, 'person.patch.yml')
  writeFileSync(patchFile, patches[profile])
  const reportFile = join(home, 'person.jsonl')
  const began = performance.now()
  const ran = await run(
    process.execPath,
    [host, '--profile', profile, '--patch', patchFile, ...(profile === 'web' ? webOptions : [])],
    {
      cwd,
      env: hostEnvironment(home, modelUrl, {
        DEMO_PERSON_SCRIPT: JSON.stringify(script),
        DEMO_PERSON_REPORT: reportFile,
        ...env,
      }),
    },
  )
  const lines = existsSync(reportFile) ? readFileSync(reportFile, 'utf8').split('\n').filter(Boolean) : []
  const report = lines.map(line => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return { ...ran, report, wallMs: Math.round(performance.now() - began) }
}
