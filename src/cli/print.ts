/** How documents, texts and errors reach the person or the script. */
import { errorDocument, OutriggerError, type Position } from '../errors.ts'
import type { Voice } from '../session/voice.ts'
import type { Io, Sink } from './io.ts'

export function schemaOf(name: string): string {
  return `outrigger.${name}/1`
}

/** The JSON document of an answer, on one line. */
export function printDocument(name: string, output: unknown): string {
  return `${JSON.stringify({ schema: schemaOf(name), ...(output as Record<string, unknown>) })}\n`
}

/** A text ends with exactly one line end; an empty one prints nothing. */
export function printText(text: string): string {
  const trimmed = text.replace(/\n+$/, '')
  return trimmed === '' ? '' : `${trimmed}\n`
}

/**
 * Report what went wrong: one document on stdout for a script, else text on stderr.
 *
 * @returns the exit code.
 */
export function reportError(error: unknown, io: Io, json: boolean): number {
  const isOurs = !(error instanceof OutriggerError)
  if (json) io.stdout.write(`${JSON.stringify(errorDocument(error))}\n`)
  else io.stderr.write(errorText(error, canColour(io.stderr, io.env)))
  const stack = error instanceof Error ? error.stack : undefined
  if (isOurs && io.env['OUTRIGGER_DEBUG'] === '1' && stack !== undefined) io.stderr.write(`${stack}\n`)
  return isOurs ? 70 : error.exit
}

export function errorText(error: unknown, colour = false, voice: Voice = 'terminal'): string {
  const { error: fields } = errorDocument(error, voice)
  const { code, message, hint } = fields as { code: string; message: string; hint?: string }
  const lines = [`${colour ? `\u001b[31m${code}\u001b[39m` : code}: ${message}`]
  if (error instanceof OutriggerError) {
    const { position, faults = [] } = error
    if (position !== undefined && faults.length === 0) lines.push(`  at ${place(position)}`)
    // A message that is also shown on one line, among others, names its faults itself.
    for (const fault of faults.filter(one => !message.includes(one.message))) {
      const where = fault.position === undefined ? '' : `${place(fault.position)} `
      lines.push(`  ${where}${fault.key}: ${fault.message}`)
    }
  }
  if (hint !== undefined) lines.push(`  hint: ${hint}`)
  return `${lines.join('\n')}\n`
}

function place(position: Position): string {
  return `${position.file}:${position.line}:${position.column}`
}

function canColour(sink: Sink, env: Io['env']): boolean {
  const isRefused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== ''
  return sink.isTerminal && !isRefused && env['TERM'] !== 'dumb'
}
