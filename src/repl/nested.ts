/** `code.run`: a program of a program, in a fresh worker that knows no names of the session. */
import type { Json } from '../ports/json.ts'
import { type CallAnswer, type CellRequest, Kernel, type KernelOptions } from './kernel.ts'
import { failureText } from './render.ts'
import { noStreak, resultOf } from './result.ts'
import type { ReplConfig } from './types.ts'

export interface NestedRun {
  readonly code: string
  readonly kernel: KernelOptions
  readonly config: ReplConfig
  readonly namespaces: CellRequest['namespaces']
  readonly signal: AbortSignal
  call: CellRequest['call']
}

/** Answers `{ logs, result? }`, or the text of what failed. */
export async function runNested({ code, kernel: options, config, namespaces, signal, call }: NestedRun): Promise<CallAnswer> {
  const kernel = new Kernel(options)
  try {
    const { computeMs, wallMs } = config
    const report = await kernel.run({ cell: 1, source: code, echo: 'return', computeMs, wallMs, namespaces, call, signal })
    const result = resultOf(report, {
      cell: 1,
      source: code,
      config,
      recovery: undefined,
      queuedMs: 0,
      streak: noStreak,
      isTimeFixed: false,
      limits: { computeMs, wallMs },
    })
    if (result.error !== undefined) return { ok: false, message: failureText(result.error, 1) }
    const logs = result.logs.map(entry => entry.text)
    const given: Json | undefined = result.valueKind === 'json' ? result.value : result.preview
    return { ok: true, value: { logs, ...(given !== undefined && { result: given }) } }
  } finally {
    await kernel.end()
  }
}
