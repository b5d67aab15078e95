/** What the door is able to do, as data for the runtime. */
import type { Door } from '../runtime/outrigger.ts'

const always = [
  'add-context',
  'hold-stop',
  'watch',
  'reply',
  'submit',
  'withdraw',
  'verdict',
  'displace-goal',
  'run-check',
  'cancel-check',
  'start-fresh',
  'ask-model',
  'cancel-model',
] as const

const inHeadless: Door['carries'] = new Set(always)
const inWeb: Door['carries'] = new Set([...always, 'status', 'notify', 'show-offer', 'show-review'])

export interface Doors {
  readonly outer: Door
  /** A call inside a program cannot carry context by itself: it waits for the call of the model around it. */
  readonly nested: Door
  /** The start of a session that we opened: what the engines say waits in its inbox for the first request. */
  readonly fresh: Door
}

/** @param display - while it is open, status lines and notices have a place; headless has none. */
export function createDoors(display: { readonly isOpen: boolean }): Doors {
  const door = (contextAt: Door['contextAt']): Door => ({
    name: 'dsh',
    get carries() {
      return display.isOpen ? inWeb : inHeadless
    },
    contextAt,
  })
  return {
    outer: door(new Set(['person-spoke', 'turn-started', 'tool-finished', 'compacted'])),
    nested: door(new Set()),
    fresh: door(new Set(['session-started'])),
  }
}
