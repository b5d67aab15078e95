/**
 * The number of a turn, and which start or end was heard before. Turns count from 1 in a session and
 * never fall; a door's own number counts when it gives one. Pure.
 */
import type { EventOf, SessionEvent } from '../session/events.ts'

/** Turn number of an event whose door does not count. */
export const uncounted = 0

export interface Turns {
  /** Of the turn that is open, or of the last one. */
  readonly number: number
  readonly open: boolean
  /** Words opened it and its `turn-started` has not come yet. */
  readonly byWords: boolean
  /** The newest ids of turns that started and ended, as hosts gave them. */
  readonly startedIds: readonly string[]
  readonly endedIds: readonly string[]
  /** Last numbers as the door gave them, since the session started; `uncounted` for none. */
  readonly startedGiven: number
  readonly endedGiven: number
  /** Number of the last turn that ended. */
  readonly ended: number
  /** The agent was asked whether it may stop in this turn (its number). */
  readonly asked: number
  /** It was held in this turn (its number). */
  readonly held: number
  /** Answers of the open turn at which it was held, oldest first. */
  readonly heldAnswers: readonly string[]
}

export const noTurns: Turns = {
  number: 0,
  open: false,
  byWords: false,
  startedIds: [],
  endedIds: [],
  startedGiven: uncounted,
  endedGiven: uncounted,
  ended: 0,
  asked: 0,
  held: 0,
  heldAnswers: [],
}

const maxIds = 8

export interface Counted<E extends SessionEvent = SessionEvent> {
  readonly turns: Turns
  readonly event: E
  /** A start or end that was heard before. */
  readonly redelivered: boolean
  /** This event opened the turn. */
  readonly opened: boolean
}

export function countTurns<E extends SessionEvent>(turns: Turns, event: E): Counted<E> {
  if (event.agent !== undefined) return { turns, event, redelivered: false, opened: false }
  const counted = count(turns, event)
  return { redelivered: false, opened: false, ...counted, event: (counted.event ?? event) as E }
}

type Step = Pick<Counted, 'turns'> & Partial<Counted>

function count(turns: Turns, event: SessionEvent): Step {
  switch (event.kind) {
    case 'session-started':
      if (event.source === 'compact') return { turns }
      return { turns: { ...close(turns), startedGiven: uncounted, endedGiven: uncounted } }
    case 'person-spoke':
      if (turns.open) return { turns }
      return { turns: { ...open(turns, turns.number + 1), byWords: true }, opened: true }
    case 'turn-started':
      return countStart(turns, event)
    case 'tool-finished': {
      const given = event.turn === uncounted ? null : event.turn
      return { turns, event: { ...event, turn: turns.open ? turns.number : given } }
    }
    case 'turn-ending': {
      const number = turns.open ? turns.number : Math.max(turns.number, event.turn, 1)
      const again = event.again || turns.held === number
      return { turns: { ...turns, number, asked: number }, event: { ...event, turn: number, again } }
    }
    case 'turn-ended':
      return countEnd(turns, event)
    default:
      return { turns }
  }
}

function countStart(turns: Turns, event: EventOf<'turn-started'>): Step {
  const { turn: given, turnId: id } = event
  const redelivered = id === undefined ? given !== uncounted && given === turns.startedGiven : turns.startedIds.includes(id)
  if (redelivered) return { turns, event: { ...event, turn: turns.number }, redelivered }
  const isWaitedFor = turns.open && turns.byWords
  const number = Math.max(given, isWaitedFor ? turns.number : turns.number + 1)
  const next = number === turns.number ? { ...turns, byWords: false } : open(turns, number)
  return {
    turns: { ...next, startedIds: withId(turns.startedIds, id), startedGiven: given },
    event: { ...event, turn: number },
    opened: !isWaitedFor,
  }
}

function countEnd(turns: Turns, event: EventOf<'turn-ended'>): Step {
  const { turn: given, turnId: id } = event
  const redelivered =
    id !== undefined
      ? turns.endedIds.includes(id)
      : given !== uncounted
        ? given === turns.endedGiven
        : !turns.open && turns.number > 0 && turns.ended === turns.number
  if (redelivered) return { turns, event: { ...event, turn: turns.number }, redelivered }
  const number = turns.open ? turns.number : Math.max(given, turns.ended === turns.number ? turns.number + 1 : turns.number)
  const earlier = earlierAnswers(event, number === turns.number ? turns.heldAnswers : [])
  return {
    turns: {
      ...close(turns),
      number,
      ended: number,
      endedIds: withId(turns.endedIds, id),
      endedGiven: given,
    },
    event: { ...event, turn: number, ...(earlier.length > 0 && { earlier }) },
  }
}

/** The answers at which the turn was held belong to its earlier ones, so that no checkpoint in them is lost. */
function earlierAnswers(event: EventOf<'turn-ended'>, held: readonly string[]): readonly string[] {
  const earlier = [...(event.earlier ?? [])]
  for (const answer of held) if (answer !== event.answer && !earlier.includes(answer)) earlier.push(answer)
  return earlier
}

/** The turn goes on: it was held at this answer. */
export function holdTurn(turns: Turns, answer: string): Turns {
  const heldAnswers = answer === '' || turns.heldAnswers.includes(answer) ? turns.heldAnswers : [...turns.heldAnswers, answer]
  return { ...turns, held: turns.number, heldAnswers }
}

const open = (turns: Turns, number: number): Turns => ({ ...turns, number, open: true, byWords: false, heldAnswers: [] })
const close = (turns: Turns): Turns => ({ ...turns, open: false, byWords: false, heldAnswers: [] })
const withId = (ids: readonly string[], id: string | undefined) => (id === undefined ? ids : [...ids, id].slice(-maxIds))
