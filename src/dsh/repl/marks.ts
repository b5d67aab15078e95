/**
 * Which cell a result in the host's log is of. The host keeps private metadata of a tool's result with its session and gives it to no model; it is how a
 * session that was resumed, rewound or forked finds the names that its conversation knows.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ToolDispatchExecution } from '@deepseek-ai/dsh-tools'
import type { Json } from '../../ports/json.ts'
import type { ReplSession } from '../../repl/types.ts'

export interface CellMark {
  /** Name of the session of the REPL. */
  readonly session: string
  readonly cell: number
  readonly parent: number
  /** What the cell is recognised by. */
  readonly node: string
}

export interface Marks {
  /** Before its result is put together. */
  set(exec: ToolDispatchExecution, mark: CellMark): void
  /** A failure with its mark: the tool's own projection is asked for a success only. */
  mark<T>(exec: ToolDispatchExecution, result: T): T
  /** Has the tool give the mark with a success. Where the host does not let that be, resuming goes by the store alone. */
  project(ctx: Context, agent: Agent): void
}

interface Projected {
  presentationMeta?: (args: unknown, value: unknown) => unknown
}

export function createMarks(): Marks {
  const marks = new WeakMap<object, CellMark>()
  const projected = new WeakSet<object>()
  return {
    set: (exec, mark) => {
      marks.set(exec, mark)
      if (typeof exec.arguments === 'object' && exec.arguments !== null) marks.set(exec.arguments, mark)
    },
    mark: (exec, result) => {
      const mark = marks.get(exec)
      // The host takes another object for a success of nobody, and drops what the tool gave with it.
      if (mark === undefined || (result as { isError?: unknown } | null)?.isError !== true) return result
      const { meta } = result as { meta?: object }
      return { ...result, meta: { ...meta, ...privately(mark) } }
    },
    project: (ctx, agent) => {
      const output = ctx.tools.get('run_code', agent)?.output as Projected | undefined
      if (output === undefined || projected.has(output) || Object.isFrozen(output)) return
      projected.add(output)
      const own = output.presentationMeta
      output.presentationMeta = (args, value) => {
        const before = own?.call(output, args, value) ?? {}
        // The projection knows the call by its arguments only.
        const mark = typeof args === 'object' && args !== null ? marks.get(args) : undefined
        return mark === undefined || typeof before !== 'object' ? before : { ...before, ...privately(mark) }
      }
    },
  }
}

const privately = ({ session, cell, parent, node }: CellMark): { readonly outrigger: Json } => ({
  outrigger: { v: 1, repl: { session, cell, parent, node } },
})

/** The newest on the session's branch; what is of no known form is passed over. */
export function newestMark(events: readonly { readonly type: string; readonly data: unknown }[]): CellMark | undefined {
  for (let at = events.length - 1; at >= 0; at--) {
    const { type, data } = events[at]!
    if (type !== 'tool/result') continue
    const { outrigger } = ((data as { meta?: unknown } | null)?.meta ?? {}) as { outrigger?: { v?: unknown; repl?: unknown } }
    if (outrigger?.v !== 1) continue
    const { session, cell, parent, node } = (outrigger.repl ?? {}) as { readonly [key: string]: unknown }
    if (typeof session === 'string' && typeof cell === 'number' && typeof parent === 'number' && typeof node === 'string')
      return { session, cell, parent, node }
  }
  return undefined
}

/** Make the cell that the conversation knows the head. */
export async function align(cells: ReplSession, mark: CellMark | undefined): Promise<void> {
  if (mark === undefined || mark.session !== cells.name || cells.head === mark.cell) return
  if (cells.node(mark.cell)?.node === mark.node) await cells.restore({ cell: mark.cell })
}
