/**
 * `outrigger demo` and `npm start`: every engine at work in a session of the real host, with a scripted
 * model, in throwaway folders. Nothing of the machine's is read or written, nothing leaves it.
 */
import { showCompanion } from './companion.ts'
import { showKeel } from './keel.ts'
import { type Check, createNarrator, type Narrator } from './narrate.ts'
import { showNext } from './next.ts'
import { showPack } from './pack.ts'
import { showRepl } from './repl.ts'
import { type Stage, setStage } from './stage.ts'

/** A part comes with its engine. */
const parts: readonly { readonly name: string; run(stage: Stage): Promise<void> }[] = [
  { name: 'keel', run: showKeel },
  { name: 'repl', run: showRepl },
  { name: 'companion', run: showCompanion },
  { name: 'pack', run: showPack },
  { name: 'next', run: showNext },
]

interface PartReport {
  readonly name: string
  readonly ok: boolean
  readonly ms: number
  readonly checks: readonly Check[]
}

/**
 * @param options.quiet - only the checks that failed.
 * @returns the exit code: 1 when a part does not show what it promises.
 */
export async function runDemo(options: { readonly json: boolean; readonly quiet: boolean }): Promise<number> {
  const isSilent = options.json || options.quiet
  const write = (text: string): void => {
    if (!isSilent) process.stdout.write(text)
  }
  const colour = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === ''
  write('Outrigger rides beside a coding agent. This runs the real DSH host against a scripted model on loopback,\n')
  write('in throwaway folders: no key, no network, nothing of yours is touched. A moment: the bundle is packed and installed.\n')

  const narrator = createNarrator(write, colour)
  const stage = await setStage(narrator)
  const reports: PartReport[] = []
  try {
    for (const part of parts) reports.push(await report(part, stage, narrator))
  } finally {
    stage.clear()
  }

  const failed = reports.flatMap(part => part.checks.filter(check => !check.ok))
  const ok = failed.length === 0
  if (options.json) process.stdout.write(`${JSON.stringify({ schema: 'outrigger.demo/1', ok, parts: reports })}\n`)
  for (const check of options.quiet ? failed : []) process.stderr.write(`not shown: ${check.text}\n`)
  const count = reports.reduce((sum, part) => sum + part.checks.length, 0)
  write(ok ? `\nAll ${count} checks hold.\n` : `\n${failed.length} of ${count} checks do not hold.\n`)
  return ok ? 0 : 1
}

async function report(part: (typeof parts)[number], stage: Stage, narrator: Narrator): Promise<PartReport> {
  const began = performance.now()
  const before = narrator.checks.length
  await part.run(stage)
  const checks = narrator.checks.slice(before)
  return { name: part.name, ok: checks.every(check => check.ok), ms: Math.round(performance.now() - began), checks }
}
