/** What a kernel reports of a cell, as the answer that leaves the program. */
import type { Json } from '../ports/json.ts'
import { classOfCell } from './cell-class.ts'
import type { CellReport } from './kernel.ts'
import { count, lossMessage, outputOmitted, thirdTime, unsettledCall, valueOverLimit, warningOf } from './messages.ts'
import type { CellError, CellPosition, Outcome, Recovery, ReplConfig, RunResult, Timing, ValueKind, Warning } from './types.ts'
import { jsonOf } from './values/json.ts'
import { printBounded } from './values/notation.ts'
import { parseGraph } from './values/parse.ts'
import { readJson, shownGraph } from './values/read-json.ts'

export interface ResultContext {
  readonly cell: number
  readonly source: string
  readonly config: ReplConfig
  readonly recovery: Recovery | undefined
  readonly queuedMs: number
  /** The failures before this one, newest last; for the third in a row. */
  readonly streak: FailureStreak
  readonly isTimeFixed: boolean
  readonly limits: { readonly computeMs: number; readonly wallMs: number }
}

export interface FailureStreak {
  readonly key: string
  readonly times: number
}

export interface Value {
  readonly valueKind: ValueKind
  readonly value?: Json
  readonly preview?: string
  readonly handle?: string
}

/** Members of these are answered by the engine and are no calls of the host. */
const ownNamespaces: ReadonlySet<string> = new Set(['capabilities', 'repl'])

export const isOwnCall = (name: string): boolean => ownNamespaces.has(name.split('.')[0]!)

export function resultOf(report: CellReport, context: ResultContext): RunResult {
  const { done } = report
  const { cell, source } = context
  const outcome = outcomeOf(report)
  const error = outcome === 'ok' ? undefined : errorOf(report, outcome, context)
  const shown = shownValue(report, context)
  const calls = report.calls
    .filter(call => !isOwnCall(call.name))
    .map(({ call, name, outcome: how }) => ({ call, name, outcome: how }))
  const { names } = done ?? { names: { added: [], changed: [], removed: [] } }
  const lost = report.loss !== undefined
  return {
    ok: outcome === 'ok',
    cell,
    outcome,
    ...shown,
    logs: report.logs,
    ...(report.logsOmittedBytes > 0 && { logsOmittedBytes: report.logsOmittedBytes }),
    ...(error !== undefined && { error: withFrame(error, source) }),
    warnings: warningsOf(report, context, error),
    ...(report.late.length > 0 && { late: report.late }),
    ...(calls.length > 0 && { calls }),
    bindings: lost
      ? { added: [], changed: [], removed: [] }
      : { added: names.added.map(each => each.name), changed: names.changed.map(each => each.name), removed: names.removed },
    durability: { ...classOfCell(done, report.effects), atRisk: [] },
    ...(context.recovery !== undefined && { recovery: context.recovery }),
    ...(done !== undefined && done.rewrites.length > 0 && { rewrites: done.rewrites }),
    timing: timingOf(report, context),
  }
}

export function outcomeOf({ done, stopped, loss }: CellReport): Outcome {
  if (done !== undefined && done.outcome !== 'interrupted' && done.outcome !== 'abandoned') return done.outcome
  if (stopped === 'compute' || stopped === 'wall') return loss === undefined || loss.cause === 'timeout' ? 'timeout' : 'exited'
  if (done !== undefined) return 'aborted'
  if (stopped === 'cancel' && loss?.cause === 'timeout') return 'aborted'
  return 'exited'
}

function errorOf(report: CellReport, outcome: Outcome, context: ResultContext): CellError {
  const { done, loss } = report
  const { rejection, failure } = done ?? {}
  if (rejection !== undefined) {
    const { code, name, message, position, help, edit } = rejection
    return {
      code,
      name,
      message,
      phase: 'parse',
      state: 'unchanged',
      position,
      ...(help.length > 0 && { help: help.slice(0, 3) }),
      ...(edit !== undefined && { edit: { ...edit, expected_target: context.cell } }),
    }
  }
  if (outcome === 'rejected' || outcome === 'threw') {
    const { code, name, message, position, frames, causes, tool } = failure ?? {
      code: 'OUT-K001',
      name: 'Error',
      message: 'the cell ended without saying how',
      position: undefined,
      frames: [],
      causes: undefined,
      tool: undefined,
    }
    const help = helpFor(name, message)
    return {
      code: code ?? (outcome === 'rejected' ? 'OUT-C001' : 'OUT-X001'),
      name,
      message,
      phase: outcome === 'rejected' ? (done?.phase === 'link' ? 'link' : 'parse') : 'run',
      state: outcome === 'rejected' ? 'unchanged' : 'partial',
      ...(position !== undefined && { position }),
      ...(frames.length > 0 && { frames }),
      ...(tool !== undefined && { tool }),
      ...(causes !== undefined && { causes }),
      ...(help !== undefined && { help: [help] }),
    }
  }
  const place =
    loss === undefined ? ({ state: 'partial', worker: 'kept' } as const) : ({ state: 'rolled-back', worker: 'replaced' } as const)
  const after = loss === undefined ? 'Names set before stay.' : 'The worker was replaced.'
  if (outcome === 'timeout') {
    const compute = report.stopped === 'compute'
    const what = compute
      ? `Stopped after ${count(context.limits.computeMs)} ms of computing.`
      : `Stopped after ${count(context.limits.wallMs)} ms of waiting.`
    return { code: compute ? 'OUT-T001' : 'OUT-T002', name: 'Timeout', message: `${what} ${after}`, phase: 'kernel', ...place }
  }
  if (outcome === 'aborted')
    return { code: 'OUT-A001', name: 'Cancelled', message: `Cancelled. ${after}`, phase: 'kernel', ...place }
  const memory = loss?.cause === 'memory'
  const message = loss === undefined ? 'The worker ended.' : lossMessage(loss, context.config)
  return {
    code: memory ? 'OUT-K002' : 'OUT-K001',
    name: memory ? 'OutOfMemory' : 'WorkerExit',
    message,
    phase: 'kernel',
    ...place,
    ...(loss?.detail !== undefined && { detail: loss.detail }),
  }
}

function helpFor(name: string, message: string): string | undefined {
  if (name === 'TypeError' && message === 'Assignment to constant variable.')
    return 'A constant is changed by declaring it again: const name = …'
  return undefined
}

function withFrame(error: CellError, source: string): CellError {
  const { position } = error
  if (position === undefined) return error
  const line = source.split(/\r\n|[\n\r\u2028\u2029]/)[position.line - 1]
  if (line === undefined) return error
  const { position: _, frames, ...rest } = error
  return { ...rest, position, frame: frameOf(line, position), ...(frames !== undefined && { frames }) }
}

/** A line as long as an editor is wide, around the column. */
function frameOf(line: string, { line: number, column }: CellPosition): { readonly text: string; readonly column: number } {
  const text = number === 1 ? line.replace(/^\ufeff/, '') : line
  if (text.length <= 200) return { text, column }
  let start = Math.max(0, Math.min(column - 100, text.length - 200))
  if (/[\udc00-\udfff]/.test(text.charAt(start))) start++
  return { text: text.slice(start, start + 200), column: column - start }
}

function shownValue(report: CellReport, context: ResultContext): Value {
  const about = report.done?.value
  if (about === undefined || report.value === undefined) return { valueKind: 'none' }
  const short = about.kind === 'json' ? readJson(report.value) : undefined
  const graph = short === undefined ? parseGraph(report.value) : shownGraph(short.value)
  const { text, cut } = printBounded(graph, { maxChars: context.config.previewChars })
  const json = about.kind === 'json' && !about.echoed ? (short ?? jsonOf(graph)) : undefined
  const valueKind = about.kind === 'json' && !about.echoed && json === undefined ? 'graph' : about.kind
  return {
    valueKind,
    ...(json !== undefined && { value: json.value }),
    preview: text,
    ...((cut || valueKind !== 'json' || about.over !== undefined) && { handle: `v${context.cell}` }),
  }
}

function warningsOf(report: CellReport, context: ResultContext, error: CellError | undefined): readonly Warning[] {
  const warnings: Warning[] = report.problems.map(problem => warningOf(problem, context.cell))
  for (const { name, outcome } of report.calls) {
    if (outcome === 'unsettled' && !isOwnCall(name))
      warnings.push({ code: 'OUT-W103', message: unsettledCall(name), cell: context.cell })
  }
  const over = report.done?.value?.over
  if (over !== undefined) warnings.push({ code: 'OUT-O001', message: valueOverLimit(over), cell: context.cell })
  if (report.logsOmittedBytes > 0)
    warnings.push({ code: 'OUT-O002', message: outputOmitted(report.logsOmittedBytes), cell: context.cell })
  if (error !== undefined && nextStreak(context.streak, error).times === 3)
    warnings.push({ code: 'OUT-W104', message: thirdTime, cell: context.cell })
  return warnings
}

export const noStreak: FailureStreak = { key: '', times: 0 }

/** Failures in a row with the same code, name and message. */
export function nextStreak(before: FailureStreak, error: CellError | undefined): FailureStreak {
  if (error === undefined) return noStreak
  const key = JSON.stringify([error.code, error.name, error.message])
  return { key, times: key === before.key ? before.times + 1 : 1 }
}

function timingOf(report: CellReport, { queuedMs, isTimeFixed }: ResultContext): Timing {
  if (isTimeFixed) return { queuedMs: 0, compileMs: 0, computeMs: 0, wallMs: 0 }
  const round = (ms: number): number => Math.round(Math.max(0, ms) * 1_000) / 1_000
  return {
    queuedMs: round(queuedMs),
    compileMs: round(report.done?.compileMs ?? 0),
    computeMs: round(report.computeMs),
    wallMs: round(report.wallMs),
  }
}
