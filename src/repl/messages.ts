/** Sentences about what happened, for models and people; the same words at every door. */

import type { WorkerLoss } from './kernel.ts'
import type { CellPosition, Recovery, RunResult, Warning } from './types.ts'
import type { DoneMessage, Failure, Problem } from './worker/protocol.ts'

export const count = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Text of programs inside a sentence of ours: on one line, quoted, cut. */
export function quoted(text: string, max = 200): string {
  const cut = text.length > max ? `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
  return JSON.stringify(cut)
}

export const headline = ({ name, message }: Pick<Failure, 'name' | 'message'>): string =>
  message === '' ? name : `${name}: ${message}`

export const at = (position: CellPosition): string => `${position.line}:${position.column}`

/** @param cell - the one whose result carries the sentence. */
export function warningOf(problem: Problem, cell: number): Warning {
  const { failure } = problem
  const position = failure.position ?? failure.frames.find(frame => frame.cell === problem.cell)
  const where = position === undefined ? '' : at(position)
  const place = { ...(position !== undefined && { position: { line: position.line, column: position.column } }) }
  const own = problem.cell === cell
  const text = quoted(headline(failure))
  switch (problem.code) {
    case 'OUT-W101': {
      const paren = where === '' ? '' : ` (${where})`
      const message = own
        ? `A callback of this cell failed: ${text}${paren}. The cell itself went on.`
        : `A callback of cell ${problem.cell} failed after the cell had ended: ${text}${paren}. This cell was not affected.`
      return { code: 'OUT-W101', message, cell: problem.cell, ...place }
    }
    case 'OUT-W102':
      return {
        code: 'OUT-W102',
        message: `A promise was rejected and nobody handled it: ${text} (cell ${problem.cell}${where === '' ? '' : `, ${where}`}).`,
        cell: problem.cell,
        ...place,
      }
    case 'OUT-X002':
      return {
        code: 'OUT-X002',
        message: `The program tried to end the process and went on: ${text}.`,
        cell: problem.cell,
        ...place,
      }
    default:
      return problem.code satisfies never
  }
}

export function unsettledCall(name: string): string {
  return `${name} was still running when the cell ended and was cancelled; await it.`
}

export function valueOverLimit(over: NonNullable<NonNullable<DoneMessage['value']>['over']>): string {
  const limits = { nodes: '2,000,000 nodes', edges: '8,000,000 entries', bytes: '64 MB', 'bigint digits': '1,000,000 digits' }
  return `The value is over the limit (${limits[over]}); this is a preview, the name holds all of it.`
}

export function outputOmitted(bytes: number): string {
  return `${count(bytes)} bytes of output left out; repl_state logs shows more.`
}

export const thirdTime = 'The same error three times. Look at the value first (return typeof x), or inspect the tool.'

export function lossMessage(
  { cause, end, detail }: WorkerLoss,
  limits: { readonly heapMb: number; readonly rssMb: number },
): string {
  if (cause === 'memory')
    return `The worker ran out of memory (${detail === 'rss' ? `${count(limits.rssMb)} MB resident` : `${count(limits.heapMb)} MB heap`}).`
  if (end.failed !== undefined) return `The worker could not be started (${end.failed}).`
  if (cause === 'malformed') return `The worker was ended: it sent what is no message (${detail ?? 'malformed frame'}).`
  return `The worker ended (${end.signal ?? `exit code ${end.code ?? 'unknown'}`}).`
}

/** How the cell that ran differs from what was sent: of interest only when it failed while it ran. */
export function rewritesMessage({ error, rewrites = [] }: Pick<RunResult, 'error' | 'rewrites'>): string | undefined {
  if (error?.phase !== 'run' || rewrites.length === 0) return undefined
  const shown = rewrites.slice(0, 3).map(({ description }) => quoted(description))
  const more = rewrites.length > 3 ? ` and ${rewrites.length - 3} more` : ''
  return `Before it ran, the cell was changed: ${shown.join(', ')}${more}.`
}

const maxRecoveryChars = 1_200
const maxLostShown = 20

/** What became of names when the worker was replaced; undefined: nothing to tell, because nothing is missing. */
export function recoveryMessage(recovery: Recovery): string | undefined {
  const { interrupted, counts, bindings } = recovery
  const lost = bindings.filter(each => each.status === 'lost')
  if (lost.length === 0 && interrupted === undefined) return undefined
  const parts = [`REPL restarted (${reasons[recovery.reason]}).`]
  const back = counts.exact + counts.replayed + counts.snapshot
  if (back > 0) {
    const ways = (['snapshot', 'exact', 'replayed'] as const).filter(way => counts[way] > 0).map(way => `${counts[way]} ${way}`)
    parts.push(`${count(back)} ${back === 1 ? 'name is' : 'names are'} back (${ways.join(', ')}).`)
  }
  if (lost.length > 0) {
    const shown = lost.slice(0, maxLostShown).map(({ name, reason, cell }) => `${name} (${reasonWords(reason)}, cell ${cell})`)
    parts.push(`Not back: ${shown.join(', ')}${lost.length > shown.length ? ` and ${lost.length - shown.length} more` : ''}.`)
  }
  if (interrupted !== undefined) {
    const calls = interrupted.calls.length === 0 ? '' : `: ${interrupted.calls.slice(0, 10).join(', ')}`
    parts.push(`Cell ${interrupted.cell} was interrupted; its effects may have happened${calls}.`)
  }
  const end = ' Nothing was run twice.'
  const text = parts.join(' ')
  return (text.length + end.length > maxRecoveryChars ? `${text.slice(0, maxRecoveryChars - end.length - 1)}…` : text) + end
}

/** `open-handle` as words. */
export const reasonWords = (reason: string | undefined): string => (reason ?? 'not kept').replaceAll('-', ' ')

/** @param risks - names that a restart would lose. */
export function riskMessage(risks: readonly { readonly name: string; readonly reason: string }[]): string {
  const shown = risks.slice(0, maxLostShown).map(({ name, reason }) => `${name} (${reasonWords(reason)})`)
  const more = risks.length > shown.length ? ` and ${risks.length - shown.length} more` : ''
  return `If the REPL restarts, these names are lost: ${shown.join(', ')}${more}. Keep what you need in plain data or a file.`
}

const reasons: Readonly<Record<Recovery['reason'], string>> = {
  'worker-exit': 'the worker died',
  timeout: 'the worker had to be killed',
  memory: 'the worker ran out of memory',
  'host-restart': 'the program that ran it was restarted',
  restart: 'asked for',
  restore: 'a state was restored',
  idle: 'it was idle',
}
