/**
 * keel in a session: one step per event. Looks at the documents as far as the event asks for, says what
 * this session was not told yet, holds the end of a turn once, and writes stamps at the two moments
 * when the agent does not work (`moments/`). Which edges are suspect is decided by the project
 * (`project.ts`), the words are in `messages.ts`, what the session remembers in `session.ts`.
 */
import type { Engine, Step, StepContext } from '../session/engine.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import { answerKeelCommand } from './command.ts'
import type { KeelDeps } from './deps.ts'
import { exclusive } from './exclusive.ts'
import { fileChanged, toolFinished } from './moments/at-work.ts'
import { compacted, spoke, started, turnStarted } from './moments/beginning.ts'
import { ending, turnEnded } from './moments/ending.ts'
import { Moment } from './moments/moment.ts'
import { unmarkLive } from './peers.ts'
import { decodeState, encodeState, isForgettable, type KeelState, noState, toldInTurn, unsay } from './session.ts'
import type { KeelProject } from './types.ts'

export interface KeelEngineOptions {
  /** The session's host offers the tool `keel_ok`. */
  readonly hasAckTool: boolean
}

type Handled = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

export function createKeelEngine(keel: KeelProject, deps: KeelDeps, { hasAckTool }: KeelEngineOptions): Engine<KeelState> {
  const run = (
    state: KeelState,
    event: SessionEvent,
    context: StepContext,
    work: (moment: Moment) => Promise<void>,
  ): Promise<Step<KeelState>> =>
    exclusive(keel, async () => {
      const moment = new Moment({ keel, deps, hasAckTool }, state, event, context)
      await work(moment)
      return moment.result()
    })

  return {
    name: 'keel',
    initial: noState,
    isForgettable,
    encode: encodeState,
    decode: decodeState,
    answers: {
      toldInTurn: state => toldInTurn(state, keel.assessment().edges),
      edgesOf: path =>
        keel
          .edgesOf(path)
          .map(({ child, target, state, reason }) => ({ child, target, suspect: state === 'suspect' ? reason : null })),
    },
    handle: (state: KeelState, event: Handled, _facts: SessionFacts, context: StepContext) => {
      if (event.kind === 'command-run') {
        return event.name === 'keel' ? run(state, event, context, moment => answer(moment, event)) : same(state)
      }
      if (event.kind === 'action-failed') return same(unsay(state, event.action))
      if (!concerns(event) || keel.isOff().off) return same(state)
      return run(state, event, context, moment => handle(moment, event))
    },
    stopping: (state: KeelState, event: EventOf<'turn-ending'>, _facts: SessionFacts, context: StepContext) => {
      if (event.agent !== undefined || keel.isOff().off) return same(state)
      return run(state, event, context, moment => ending(moment, event))
    },
  }
}

function same(state: KeelState): Promise<Step<KeelState>> {
  return Promise.resolve({ state, actions: [], ledger: [] })
}

/** Helpers' turns are no turns of the session; their tools count for it. */
function concerns(event: Handled): boolean {
  switch (event.kind) {
    case 'session-started':
    case 'compacted':
    case 'tool-finished':
    case 'file-changed':
    case 'session-ended':
      return true
    case 'person-spoke':
    case 'turn-started':
    case 'turn-ended':
      return event.agent === undefined
    default:
      return false
  }
}

async function handle(moment: Moment, event: Handled): Promise<void> {
  switch (event.kind) {
    case 'session-started':
      return started(moment)
    case 'compacted':
      return compacted(moment)
    case 'person-spoke':
      return spoke(moment)
    case 'turn-started':
      return turnStarted(moment, event)
    case 'tool-finished':
      return toolFinished(moment, event)
    case 'file-changed':
      return fileChanged(moment, event)
    case 'turn-ended':
      return turnEnded(moment, event)
    case 'session-ended':
      return ended(moment, event)
    default:
      return
  }
}

async function ended(moment: Moment, { session }: EventOf<'session-ended'>): Promise<void> {
  await moment.withStore(store => unmarkLive(store, session), undefined)
  await moment.keel.unclaim(session)
  await moment.saveCache()
}

async function answer(moment: Moment, event: EventOf<'command-run'>): Promise<void> {
  const reply = await answerKeelCommand(event.args, { keel: moment.keel, deps: moment.deps })
  moment.actions.push({ kind: 'reply', id: moment.context.newId(), engine: 'keel', ...reply })
}
