/**
 * `kill -9` at random moments of stamping: `npm run bench -- keel-crash [rounds=500]`.
 *
 * Each round starts the built program on a project whose children all wait for a stamp, kills it after a random delay, and looks at the world: every document
 * holds either its old bytes or its fully stamped ones, nothing acknowledged by the journal is missing from a document that was written, no lock
 * is left that keeps the next run from finishing, and the next run ends with everything stamped.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const children = 24

export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-crash-'))
  const env = {
    ...process.env,
    HOME: join(folder, 'home'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
  }
  const project = join(folder, 'project')
  let killed = 0
  let partial = 0
  let faults = 0
  /** How long a whole run takes here; kills fall where it writes, not only where it starts. */
  let wholeMs = 0
  const fault = (round: number, what: string) => {
    faults++
    console.error(`round ${round}: ${what}`)
  }
  try {
    for (let round = 0; round < rounds; round++) {
      rmSync(project, { recursive: true, force: true })
      mkdirSync(join(project, '.git'), { recursive: true })
      mkdirSync(join(project, 'docs'))
      writeFileSync(join(project, 'source.md'), `# Source\n\nround ${round}\n`)
      const before = new Map<string, string>()
      for (let n = 0; n < children; n++) {
        const text = `---\ntitle: ${n}\nsources:\n  - source.md\n---\n# Child ${n}\n\n${'text '.repeat(200)}\n`
        before.set(`child-${n}.md`, text)
        writeFileSync(join(project, 'docs', `child-${n}.md`), text)
      }
      const started = performance.now()
      const child = spawn(process.execPath, [program, 'keel', 'stamp', '--project', project, '--json'], { env, stdio: 'ignore' })
      const timer = wholeMs === 0 ? undefined : setTimeout(() => child.kill('SIGKILL'), wholeMs * (0.3 + 0.8 * Math.random()))
      const signal = await new Promise<NodeJS.Signals | null>(done => child.on('exit', (_code, name) => done(name)))
      clearTimeout(timer)
      if (signal === 'SIGKILL') killed++
      else wholeMs = performance.now() - started

      let stamped = 0
      for (const [name, text] of before) {
        const now = readFileSync(join(project, 'docs', name), 'utf8')
        if (now === text) continue
        if (now.replace(/ @[0-9a-f]{12}\n/, '\n') !== text) fault(round, `${name} is neither old nor new`)
        else stamped++
      }
      if (signal === 'SIGKILL' && stamped > 0 && stamped < children) partial++

      const next = spawnSync(process.execPath, [program, 'keel', 'stamp', '--project', project, '--json'], {
        env,
        encoding: 'utf8',
      })
      if (next.status !== 0) fault(round, `the next run exited ${next.status}: ${next.stdout.slice(0, 300)}`)
      for (const name of before.keys())
        if (!/ @[0-9a-f]{12}\n/.test(readFileSync(join(project, 'docs', name), 'utf8')))
          fault(round, `${name} has no stamp after the next run`)
      const strays = readdirSync(join(project, 'docs')).filter(name => !before.has(name))
      if (strays.length > 1) fault(round, `temporary files left: ${strays.join(', ')}`)
      if (process.stderr.isTTY || round % 50 === 49)
        process.stderr.write(`round ${round + 1} of ${rounds}: ${killed} killed, ${partial} in the middle, ${faults} faults\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`keel-crash: ${rounds} rounds, ${killed} killed, ${partial} of them between two documents, ${faults} faults`)
  if (faults > 0) process.exitCode = 1
}
