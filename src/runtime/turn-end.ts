/** The end of a turn: when the agent is asked whether it may stop, and the one hold that all engines share. */
import type { Action, ActionOf, EngineName, FailureReason } from '../session/actions.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import { inEngineOrder, joinTexts } from './compose.ts'
import type { Turns } from './turns.ts'

const holdChars = 10_000

/** A door or a log that knows only the end of a turn: the question that it did not ask. */
export function unaskedEnding(turns: Turns, event: SessionEvent): EventOf<'turn-ending'> | undefined {
  if (event.kind !== 'turn-ended' || event.agent !== undefined || event.reason !== 'completed') return undefined
  if (turns.asked === event.turn) return undefined
  const { session, project, at, turn, turnId, answer } = event
  return { kind: 'turn-ending', session, project, at, turn, answer, again: false, ...(turnId !== undefined && { turnId }) }
}

/** Whose words a part of the one hold is. */
export interface HoldPart {
  readonly engine: EngineName
  readonly text: string
}

export interface Held {
  readonly text: string | null
  /** The text's parts in order; together they may be longer than it. */
  readonly parts: readonly HoldPart[]
  readonly refused: readonly { readonly action: Action; readonly reason: FailureReason }[]
}

/** @param reason - why nothing can be held now. */
export function mergeHolds(holds: readonly ActionOf<'hold-stop'>[], reason: FailureReason | undefined): Held {
  if (reason !== undefined) return { text: null, parts: [], refused: holds.map(action => ({ action, reason })) }
  const parts = inEngineOrder(holds)
  if (parts.length === 0) return { text: null, parts: [], refused: [] }
  return {
    text: joinTexts(parts.map(part => part.text)).slice(0, holdChars),
    parts: parts.map(({ engine, text }) => ({ engine, text })),
    refused: [],
  }
}

/** A hold that came too late is said at the next moment that carries context. */
export function lateHold(hold: ActionOf<'hold-stop'>): ActionOf<'add-context'> {
  const { id, engine, text } = hold
  return { kind: 'add-context', id, engine, text, summary: text.split('\n', 1)[0]!.slice(0, 120) }
}
