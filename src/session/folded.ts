/** Everything that the events of one session add up to, folded in one place. */
import { foldWork, noWork, type Work } from './busy.ts'
import { type Calls, completeTool, foldCalls, joinCall, noCalls } from './calls.ts'
import type { SessionEvent } from './events.ts'
import type { SessionFacts } from './facts.ts'
import { emptyFacts, type FoldOptions, fold } from './fold.ts'
import { foldWrites, noWrites, type Writes } from './writes.ts'

export interface Folded {
  readonly facts: SessionFacts
  readonly calls: Calls
  readonly writes: Writes
  readonly work: Work
}

export const emptyFolded = (session: string, project: string, at: number): Folded => ({
  facts: emptyFacts(session, project, at),
  calls: noCalls,
  writes: noWrites,
  work: noWork,
})

/** One event more. The event comes back complete: a tool call with our names and with what was done inside it. */
export function foldEvent<E extends SessionEvent>(
  folded: Folded,
  event: E,
  options: FoldOptions = {},
): { readonly folded: Folded; readonly event: E } {
  let calls = foldCalls(folded.calls, event)
  let complete: SessionEvent = event
  if (event.kind === 'tool-finished') ({ calls, event: complete } = joinCall(calls, completeTool(event)))
  return {
    folded: {
      facts: fold(folded.facts, complete, options),
      calls,
      writes: foldWrites(folded.writes, complete, folded.facts.turn?.turn ?? null),
      work: foldWork(folded.work, complete),
    },
    event: complete as E,
  }
}
