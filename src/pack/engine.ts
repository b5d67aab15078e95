/**
 * pack in a session: captures checkpoints of ended turns, saves near the wall and on command, and hands the
 * notes to the next context. One step per event; the text side (`project.ts`) does the writing.
 */
import type { Engine, Step, StepContext } from '../session/engine.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import type { PackDeps } from './deps.ts'
import { answer } from './flows/answer.ts'
import { tickCountdown } from './flows/auto.ts'
import { capture, leave } from './flows/capture.ts'
import { closeReview, forget } from './flows/flow.ts'
import { look, reviewFailed, startFailed } from './flows/fresh.ts'
import { askFailed, modelAnswered, tickSaving } from './flows/saving.ts'
import { compacted, giveFailed, giveOwed, started, titled } from './flows/starting.ts'
import { judge, personStays, turnBegins } from './flows/wall.ts'
import { Moment } from './moment.ts'
import { createRecords } from './records.ts'
import { decodeState, encodeState, isForgettable, noState, type PackState, streamOf } from './session.ts'
import type { PackProject } from './types.ts'

export interface PackEngineOptions {
  /** The host has no section of a system prompt for it: an agent is taught at the start of a session. Default: it has. */
  readonly teachesAtStart?: boolean
}

type Handled = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

export function createPackEngine(
  pack: PackProject,
  deps: Pick<PackDeps, 'store' | 'clock'>,
  { teachesAtStart = false }: PackEngineOptions = {},
): Engine<PackState> {
  const records = createRecords(() => deps.store())
  const parts = { pack, records, clock: deps.clock, teachesAtStart }
  return {
    name: 'pack',
    initial: noState,
    isForgettable,
    encode: encodeState,
    decode: decodeState,
    // Before the countdown's end and while a fresh start is prepared nobody else goes on by itself.
    isInFlow: ({ flow }) =>
      flow?.kind === 'saving' || flow?.kind === 'countdown' || (flow?.kind === 'armed' && !flow.isPersonsTurn),
    answers: {
      outline: async state => {
        const stream = streamOf(state)
        return stream === null ? [] : pack.outline(stream)
      },
    },
    async handle(state: PackState, event: Handled, facts: SessionFacts, context: StepContext): Promise<Step<PackState>> {
      if (!pack.config.enabled || !concerns(state, event)) return { state, actions: [], ledger: [] }
      const moment = new Moment(parts, state, event, facts, context)
      await learn(moment)
      await handle(moment, event)
      return moment.result()
    },
  }
}

/** Helpers' checkpoints are the session's; nothing else of theirs is. */
function concerns(state: PackState, event: Handled): boolean {
  switch (event.kind) {
    case 'turn-ended':
      return true
    case 'command-run':
      return event.name === 'pack' || event.name === 'unpack'
    case 'session-started':
    case 'compacted':
    case 'title-changed':
    case 'context-measured':
    case 'session-ended':
    case 'person-spoke':
    case 'turn-started':
      return event.agent === undefined
    case 'draft-changed':
      return state.flow !== null && !event.empty
    case 'work-changed':
      return state.owesJudgement
    case 'model-answered':
    case 'model-failed':
    case 'action-failed':
    case 'woke':
      return state.flow !== null || state.owed !== null
    default:
      return false
  }
}

/** A session that this process did not see begin may have a binding, and checkpoints that wait. */
async function learn(m: Moment): Promise<void> {
  if (m.state.isLoaded) return
  const bound = await m.records.bound(m.session)
  const waiting = (await m.records.buffer(m.session)).length
  m.set({ isLoaded: true, bound, waiting, isAuto: await m.records.auto() })
}

async function handle(m: Moment, event: Handled): Promise<void> {
  switch (event.kind) {
    case 'session-started':
      return started(m, event)
    case 'title-changed':
      return event.by === 'generated' ? undefined : titled(m, event.title)
    case 'person-spoke':
      await personStays(m)
      return giveOwed(m)
    case 'draft-changed':
      return personStays(m)
    case 'turn-started':
      m.set({ personTurn: event.by === 'person' })
      await turnBegins(m, event)
      return giveOwed(m)
    case 'turn-ended':
      return turnEnded(m, event)
    case 'context-measured':
      return judge(m, 'measure')
    case 'work-changed':
      return m.isIdle ? judge(m, 'idle') : undefined
    case 'compacted':
      return compacted(m)
    case 'command-run':
      return answer(m, event)
    case 'model-answered':
    case 'model-failed':
      return modelAnswered(m, event)
    case 'action-failed':
      return actionFailed(m, event)
    case 'woke':
      return woke(m, event)
    case 'session-ended':
      return ended(m)
    default:
      return
  }
}

async function turnEnded(m: Moment, event: EventOf<'turn-ended'>): Promise<void> {
  await capture(m, event)
  if (event.agent !== undefined) return
  const { outcome, personTurn } = m.state
  if (outcome?.ok === true && personTurn) m.set({ outcome: null })
  if (personTurn) m.set({ personTurn: false })
  const isAuto = await m.records.auto()
  if (isAuto !== m.state.isAuto) m.set({ isAuto })
  if (m.stream !== null && m.pack.exists(m.stream)) await m.pack.keepFacts(m.session, m.facts)
  await judge(m, 'ended')
}

async function actionFailed(m: Moment, event: EventOf<'action-failed'>): Promise<void> {
  const { flow } = m.state
  giveFailed(m, event)
  startFailed(m, event)
  await reviewFailed(m, event)
  if (flow?.kind === 'saving' && flow.ask === event.action) await askFailed(m, event.reason)
}

async function woke(m: Moment, { key }: EventOf<'woke'>): Promise<void> {
  if (key === 'look') return look(m)
  if (m.state.flow?.kind === 'saving') return tickSaving(m)
  return tickCountdown(m)
}

async function ended(m: Moment): Promise<void> {
  const { flow } = m.state
  await leave(m)
  if (flow?.kind === 'saving') m.ask({ kind: 'cancel-model', ask: flow.ask })
  // What is armed waits for the session that a clear begins.
  if (flow?.kind !== 'review') return
  closeReview(m)
  await forget(m)
}
