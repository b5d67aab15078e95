/**
 * `kill -9` while notes are captured and saved: `npm run bench -- pack-crash [rounds=500]`.
 *
 * Each round starts two processes of the built program on one stream, one that captures checkpoints line by line and one that saves, kills both after
 * random delays, and looks at the world: everything that was acknowledged is in the journal and whole, the state is the old or the new one, and the
 * next capture and save work, on a stream that is still its writer's own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openProject } from '../src/node/open.ts'
import { readJournal } from '../src/pack/journal.ts'
import { parseState } from '../src/pack/state-file.ts'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const perProject = 25

export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-pack-crash-'))
  const env = { ...process.env, HOME: join(folder, 'home') }
  const root = join(folder, 'project')
  const journal = join(root, '.outrigger/pack/m/journal.md')
  const state = join(root, '.outrigger/pack/m/state.md')
  const acknowledged = new Map<string, string>()
  const counts = { killed: 0, acknowledged: 0, torn: 0, faults: 0 }
  const fault = (round: number, what: string): void => {
    counts.faults++
    console.error(`round ${round}: ${what}`)
  }

  try {
    for (let round = 0; round < rounds; round++) {
      if (round % perProject === 0) {
        rmSync(root, { recursive: true, force: true })
        mkdirSync(join(root, '.git'), { recursive: true })
        acknowledged.clear()
      }
      const start = (...words: readonly string[]): ChildProcess =>
        spawn(process.execPath, [program, 'pack', ...words, '--json', '--project', root], {
          env,
          stdio: ['pipe', 'pipe', 'ignore'],
        })
      const capture = start('capture', 'm', '--jsonl', '-')
      const save = start('save', 'm', '--session', `s-${round}`)
      let out = ''
      let begun = (): void => undefined
      const begins = new Promise<void>(done => {
        begun = done
      })
      capture.stdin!.on('error', () => undefined)
      for (let turn = 1; turn <= 400; turn++) {
        capture.stdin!.write(
          `${JSON.stringify({ answer: `<!-- ckpt\ndecision: round ${round} — turn ${turn}\nopen: ${'é'.repeat(turn)}\n-->`, session: `s-${round}`, turn })}\n`,
        )
      }
      capture.stdout!.setEncoding('utf8').on('data', (piece: string) => {
        out += piece
        begun()
      })
      const ends = [capture, save].map(
        child => new Promise<string | null>(done => child.on('close', (_code, name) => done(name))),
      )
      await Promise.race([begins, ...ends])
      const kill = (child: ChildProcess): void => void setTimeout(() => child.kill('SIGKILL'), Math.random() * 60)
      kill(capture)
      kill(save)
      const signals = await Promise.all(ends)
      counts.killed += signals.filter(name => name === 'SIGKILL').length
      for (const row of out.split('\n').slice(0, -1)) {
        const { id, key } = (JSON.parse(row) as { captured: { id: string; key: string }[] }).captured[0]!
        acknowledged.set(key, id)
        counts.acknowledged++
      }

      if (existsSync(journal)) {
        const reader = readJournal()
        reader.push(readFileSync(journal))
        const { entries } = reader.end()
        counts.torn += entries.filter(entry => entry.state === 'torn').length > 0 ? 1 : 0
        const whole = new Map(entries.filter(entry => entry.state === 'intact').map(entry => [entry.key, entry.id]))
        for (const [key, id] of acknowledged)
          if (whole.get(key) !== id) fault(round, `${id} was acknowledged and is ${whole.get(key) ?? 'gone'}`)
      } else if (acknowledged.size > 0) fault(round, 'the journal is gone')
      if (existsSync(state)) {
        const text = readFileSync(state, 'utf8')
        if (parseState(text)?.revision === null || !text.endsWith('\n')) fault(round, 'the state is half a state')
      }

      const project = await openProject({ cwd: root, env, door: 'cli', isTerminal: false })
      try {
        const pack = project.pack()
        const { captured } = await pack.capture('m', {
          texts: ['<!-- ckpt open: after the kill -->'],
          session: 'after',
          turn: round,
        })
        acknowledged.set(captured[0]!.key, captured[0]!.id)
        await pack.save({ stream: 'm', session: 'after' })
        const loaded = await pack.load({ stream: 'm' })
        if (loaded.text === null) fault(round, `the notes are ${loaded.trust.level}: ${JSON.stringify(loaded.changes)}`)
        const { ok, findings } = await pack.verify('m')
        if (!ok) fault(round, JSON.stringify(findings))
      } catch (error) {
        fault(round, String(error))
      } finally {
        await project.close()
      }
      const strays = readdirSync(join(root, '.outrigger/pack/m')).filter(
        name => !['journal.md', 'state.md', 'status.md', 'history'].includes(name),
      )
      if (strays.length > 1) fault(round, `temporary files left: ${strays.join(', ')}`)
      if (round % 50 === 49) process.stderr.write(`round ${round + 1} of ${rounds}: ${JSON.stringify(counts)}\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(
    `pack-crash: ${rounds} rounds, ${counts.killed} processes killed, ${counts.acknowledged} captures acknowledged, ${counts.torn} rounds with a torn entry, ${counts.faults} faults`,
  )
  if (counts.faults > 0) process.exitCode = 1
}
