/** One operation on the command line: decode, run, print, exit code. */
import { resolve } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Project } from '../runtime/project.ts'
import type { AnyOperation, Caller } from '../session/operation.ts'
import { type Globals, parseVerb, requireFields } from './arguments.ts'
import { usageOf } from './help.ts'
import type { Io } from './io.ts'
import { printDocument, printText } from './print.ts'
import { createProgress } from './progress.ts'
import { linesOfStdin } from './stdin.ts'
import { engines } from './words.ts'

/** Verbs that a bad configuration must not stop: they tell about it, or write it. */
const worksWithoutConfig: readonly string[] = ['doctor', 'init']

export async function runOperation(
  operation: AnyOperation,
  words: string,
  args: readonly string[],
  before: Globals,
  io: Io,
  project: Project,
  help: () => Promise<number>,
): Promise<number> {
  const { globals, input: given } = parseVerb(operation, words, args, before)
  if (globals.help) return help()
  requireFields(operation, given, usageOf(operation))
  const input: unknown = operation.decode(await withStdin(operation, given, io))
  if (!worksWithoutConfig.includes(operation.name)) checkConfig(operation, project, io)

  const progress = createProgress(io.stderr, globals.quiet)
  const caller: Caller = {
    door: 'cli',
    actor: project.actor(textOf(input, 'who')),
    cwd: io.cwd,
    stdin: io.stdin,
    signal: io.signal,
    progress: progress.report,
  }
  try {
    if (operation.stream !== undefined) return await runStream(operation, input, caller, globals, io, progress.clear)
    const output: unknown = await operation.run(input, caller)
    progress.clear()
    await printAnswer(operation, output, input, globals, io, project)
    return operation.exitCode?.(output, input) ?? 0
  } finally {
    progress.clear()
  }
}

async function runStream(
  operation: AnyOperation,
  input: unknown,
  caller: Caller,
  globals: Globals,
  io: Io,
  beforePrint: () => void,
): Promise<number> {
  let code: 0 | 1 = 0
  let isEmpty = true
  const out = inPieces(io)
  try {
    for await (const output of operation.stream!(input, caller)) {
      beforePrint()
      isEmpty = false
      out.write(globals.json ? printDocument(operation.name, output) : printText(operation.render(output, input)))
      if (operation.exitCode?.(output, input) === 1) code = 1
      if (out.isFull()) await out.flush()
      if (io.signal.aborted) break
    }
    if (isEmpty && !globals.json && operation.nothing !== undefined && !io.signal.aborted) {
      beforePrint()
      out.write(printText(operation.nothing))
    }
  } finally {
    await out.flush()
  }
  return code
}

const maxPiece = 64 * 1024

/** Many short lines are written together; what there is goes out before anything is waited for. */
function inPieces(io: Io): { write(text: string): void; isFull(): boolean; flush(): Promise<void> } {
  let held = ''
  let isWaiting = false
  const send = (): void => {
    isWaiting = false
    if (held !== '') io.stdout.write(held)
    held = ''
  }
  return {
    write: text => {
      held += text
      if (isWaiting) return
      isWaiting = true
      setImmediate(send)
    },
    isFull: () => held.length >= maxPiece,
    flush: async () => {
      send()
      await io.stdout.ready?.()
    },
  }
}

/**
 * With `--out` the form that was asked for goes to the file. Standard output has the document for a
 * script, and the name of the file for a person.
 */
async function printAnswer(
  operation: AnyOperation,
  output: unknown,
  input: unknown,
  globals: Globals,
  io: Io,
  project: Project,
): Promise<void> {
  const asked = globals.json ? printDocument(operation.name, output) : undefined
  const text = (): string => printText(operation.render(output, input))
  const form = textOf(input, 'format')
  const other = form === undefined ? undefined : operation.formats?.[form]
  const answer = asked ?? (other === undefined ? text() : printText(other(output, input)))
  const out = textOf(input, 'out')
  if (out === undefined) {
    io.stdout.write(answer)
    return
  }
  await project.files.replace(resolve(io.cwd, out), new TextEncoder().encode(answer))
  // A form for machines goes to the file; who looks at the job's log still reads what was found. A drawing has no other text.
  const hasText = other !== undefined && operation.input.properties['format']?.enum?.includes('text') === true
  io.stdout.write(asked ?? `${hasText ? text() : ''}written: ${out}\n`)
}

/** Throws the fault of the configuration that this verb needs; the other faults are one line each on stderr. */
function checkConfig(operation: AnyOperation, project: Project, io: Io): void {
  const engine = operation.name.split('.')[0]!
  const lines = project.config.check(engines.includes(engine) ? (engine as 'keel') : undefined)
  for (const line of lines) io.stderr.write(`outrigger: ${line}\n`)
}

/** A list that was given as `-` alone is read from standard input, one item a line. */
async function withStdin(
  operation: AnyOperation,
  given: Readonly<Record<string, unknown>>,
  io: Io,
): Promise<Readonly<Record<string, unknown>>> {
  const fromStdin = Object.entries(given).filter(
    ([name, value]) =>
      operation.input.properties[name]!.type === 'array' && Array.isArray(value) && value.length === 1 && value[0] === '-',
  )
  if (fromStdin.length === 0) return given
  if (fromStdin.length > 1) {
    const names = fromStdin.map(([name]) => name).join(' and ')
    throw new OutriggerError('CLI_USAGE', `${names} cannot both be read from stdin`, { hint: 'give - once' })
  }
  return { ...given, [fromStdin[0]![0]]: await linesOfStdin(io) }
}

function textOf(input: unknown, field: string): string | undefined {
  const value = (input as Readonly<Record<string, unknown>>)[field]
  return typeof value === 'string' ? value : undefined
}
