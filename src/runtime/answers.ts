/** One answer in the making: which actions of the engines go into it, which are refused and why. */
import type { Action, ActionOf, EngineName, FailureReason } from '../session/actions.ts'
import type { SessionEvent } from '../session/events.ts'
import { noticeMs } from './compose.ts'
import type { Door } from './doors.ts'
import type { Live } from './live.ts'
import { charsFor, fitPart, type Room, roomAt, spend } from './room.ts'
import { lateHold } from './turn-end.ts'

export interface Answer {
  readonly event: SessionEvent
  readonly door: Door
  /** Only this engine hears it. */
  readonly only?: EngineName
  /** Failures of what it asks for are not told to it: it would answer for ever. */
  readonly isFeedback?: boolean
  room: Room
  contexts: ActionOf<'add-context'>[]
  holds: ActionOf<'hold-stop'>[]
  others: Action[]
  /** The host went on without it, or never waited: what comes now goes to the next carrier. */
  closed: boolean
  live?: Live
}

/** Room of a context that no moment asked for; it waits for the next carrier. */
const waitingChars = 9_800

export function answerTo(event: SessionEvent, door: Door, rest: Partial<Answer> = {}): Answer {
  const room = roomAt(event, { narrow: door.narrow === true, usedInTurn: 0 })
  return { event, door, room, contexts: [], holds: [], others: [], closed: false, ...rest }
}

/** An event that stands for another, as the question before an end, has a room of its own. */
const roomOf = (live: Live, answer: Answer, event: SessionEvent): Room =>
  event.kind === answer.event.kind
    ? answer.room
    : roomAt(event, { narrow: answer.door.narrow === true, usedInTurn: live.usedInTurn })

/** Characters that an engine may add; 0 where the door never carries any. @param present - the engines that are on. */
export function charsOf(
  live: Live,
  answer: Answer,
  event: SessionEvent,
  engine: EngineName,
  present: readonly EngineName[],
): number {
  const isCarried = event.kind === 'turn-ending' || answer.door.carries.has('add-context')
  return isCarried ? charsFor(roomOf(live, answer, event), engine, present) : 0
}

/** Keep an action for the answer. The answer is why it is not carried out, if it is not. */
export function take(
  live: Live,
  answer: Answer,
  action: Action,
  event: SessionEvent,
  present: readonly EngineName[],
): FailureReason | undefined {
  const { door } = answer
  if (action.kind !== 'status' && !door.carries.has(action.kind)) return 'no-carrier'
  switch (action.kind) {
    case 'add-context':
      return takeContext(live, answer, action, event, present)
    case 'hold-stop':
      if (event.kind !== 'turn-ending' || answer.event.kind !== 'turn-ending') return 'no-carrier'
      if (answer.closed) live.waiting = [...live.waiting, lateHold(action)]
      else answer.holds.push(action)
      return undefined
    case 'status': {
      const before = live.statuses.get(action.engine)
      const isSame = (before?.text ?? null) === action.text && (before?.urgent ?? false) === (action.urgent === true)
      if (isSame) return undefined
      if (action.text === null) live.statuses.delete(action.engine)
      else live.statuses.set(action.engine, { text: action.text, urgent: action.urgent === true })
      // Taking back a line that nobody showed is nothing that was missed.
      return door.carries.has('status') || action.text === null ? undefined : 'no-carrier'
    }
    case 'notify': {
      const key = JSON.stringify([action.engine, action.text])
      if (live.notices.has(key)) return undefined
      live.notices.add(key)
      answer.others.push({ ...action, ms: noticeMs(action.ms) })
      return undefined
    }
    case 'watch':
      live.watches.set(action.engine, action.paths)
      return undefined
    case 'reply':
      // An answer that waited for what the command asked of the host comes with the host's word.
      if ((event.kind !== 'command-run' && event.kind !== 'action-done' && event.kind !== 'action-failed') || answer.closed)
        return 'no-carrier'
      answer.others.push(action)
      return undefined
    case 'show-offer':
    case 'show-review':
      answer.others = answer.others.filter(other => other.kind !== action.kind)
      answer.others.push(action)
      return undefined
    case 'submit':
    case 'start-fresh':
      if (answer.others.some(other => other.kind === 'submit' || other.kind === 'start-fresh')) return 'held-already'
      answer.others.push(action)
      return undefined
    case 'ask-model':
      if (live.asks.has(action.engine)) return 'held-already'
      live.asks.set(action.engine, action.id)
      answer.others.push(action)
      return undefined
    case 'cancel-model':
      endAsk(live, action.ask)
      answer.others.push(action)
      return undefined
    default:
      answer.others.push(action)
      return undefined
  }
}

function takeContext(
  live: Live,
  answer: Answer,
  action: ActionOf<'add-context'>,
  event: SessionEvent,
  present: readonly EngineName[],
): FailureReason | undefined {
  const room = roomOf(live, answer, event)
  const chars = room.row === undefined ? waitingChars : charsFor(room, action.engine, present)
  const text = fitPart(action.text, chars, action.engine)
  if (text === undefined) return 'over-budget'
  if (room === answer.room) {
    answer.room = spend(room, text.length)
    live.usedInTurn = answer.room.usedInTurn
  }
  const part = text === action.text ? action : { ...action, text }
  if (answer.closed) live.waiting = [...live.waiting, part]
  else answer.contexts.push(part)
  return undefined
}

/** The model call is over, or was taken back. @returns whose it was; `undefined`: it is not known any more. */
export function endAsk(live: Live, ask: string): EngineName | undefined {
  const [engine] = [...live.asks].find(([, id]) => id === ask) ?? []
  if (engine !== undefined) live.asks.delete(engine)
  return engine
}
