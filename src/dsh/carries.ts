/** What the door is able to do, said once as data. */
import type { Door } from '../runtime/outrigger.ts'

/** The host has no place for a status line or a notice in headless, and its web part is not ours yet. */
export const dshDoor: Door = {
  name: 'dsh',
  carries: new Set(['add-context', 'hold-stop', 'watch']),
  contextAt: new Set(['person-spoke', 'turn-started', 'tool-finished', 'compacted']),
}

/** A call inside a program cannot carry context by itself: it waits for the call of the model around it. */
export const nestedDoor: Door = { ...dshDoor, contextAt: new Set() }
