/** A runtime for tests of the door alone: keeps the events and the stop moments, answers with what a test scripts. */

import type { Opener } from '../../../src/dsh/runtime.ts'
import type { Door, Outrigger } from '../../../src/runtime/outrigger.ts'
import type { Project } from '../../../src/runtime/project.ts'
import type { Action } from '../../../src/session/actions.ts'
import type { SessionEvent } from '../../../src/session/events.ts'
import { fixedClock } from '../fixed-clock.ts'

export interface Recording {
  readonly events: { readonly event: SessionEvent; readonly door: Door | undefined }[]
  readonly opener: Opener
  /** Actions that were not carried out, with the reason. */
  readonly failed: (readonly [action: string, reason: string])[]
  /** Texts for the model after an event; one message each. */
  answer: (event: SessionEvent, door: Door | undefined) => readonly string[]
  hold: (event: SessionEvent) => string | null
  deliver: (session: string, actions: readonly Action[]) => void
}

let ids = 0
export const context = (text: string): Action => ({
  kind: 'add-context',
  id: `a${++ids}`,
  engine: 'keel',
  text,
  summary: text.slice(0, 20),
})

export function createRecording(root: string): Recording {
  const recording: Recording = {
    events: [],
    failed: [],
    answer: () => [],
    hold: () => null,
    deliver: () => {},
    opener: {
      rootOf: cwd => cwd,
      open: async (_root, _rows, deliver) => {
        recording.deliver = deliver
        return {
          faults: [],
          project: {
            root,
            clock: fixedClock(1_000),
            config: { refresh: () => false },
            modes: { set: () => {}, list: () => [] },
            close: async () => {},
          } as unknown as Project,
          outrigger,
        }
      },
    },
  }
  const outrigger: Outrigger = {
    handle: async (event, door) => {
      recording.events.push({ event, door })
      return recording.answer(event, door).map(context)
    },
    mayStop: async (event, door) => {
      recording.events.push({ event, door })
      return { hold: recording.hold(event), actions: [] }
    },
    failed: async (action, reason) => {
      recording.failed.push([action, reason])
    },
    status: () => null,
    facts: () => undefined,
    enqueue: (_session, run) => run(),
    modes: () => [],
    isInFlow: () => false,
    idle: async () => {},
    close: async () => {},
  }
  return recording
}

/** The events' kinds, in order. */
export const kinds = (recording: Recording): readonly string[] => recording.events.map(({ event }) => event.kind)
