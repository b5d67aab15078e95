/**
 * What the engines ask of their own accord, kept by session until the door took it. An action is given again
 * until the door's next question acknowledges it: a long poll that breaks loses nothing.
 */
import type { Action } from '../session/actions.ts'
import type { WaitAnswer } from './protocol.ts'

/** A session that nobody waits for must not grow for ever. */
const maxKept = 500

interface Box {
  seq: number
  kept: { readonly seq: number; readonly action: Action }[]
  readonly waiting: Set<() => void>
}

export interface Outbox {
  put(session: string, actions: readonly Action[]): void
  /** Resolves at once when something is there after `after`, else when it comes, or with nothing when `signal` or the time ends. */
  wait(session: string, after: number, timeoutMs: number, signal: AbortSignal): Promise<WaitAnswer>
  drop(session: string): void
  /** Lets everybody go who waits. */
  close(): void
}

export function createOutbox(): Outbox {
  const boxes = new Map<string, Box>()
  const boxOf = (session: string): Box => {
    const known = boxes.get(session)
    if (known !== undefined) return known
    const made: Box = { seq: 0, kept: [], waiting: new Set() }
    boxes.set(session, made)
    return made
  }
  const wakeAll = (box: Box): void => {
    for (const wake of [...box.waiting]) wake()
  }
  return {
    put(session, actions) {
      const box = boxOf(session)
      for (const action of actions) box.kept.push({ seq: ++box.seq, action })
      box.kept.splice(0, Math.max(0, box.kept.length - maxKept))
      wakeAll(box)
    },
    async wait(session, after, timeoutMs, signal) {
      const box = boxOf(session)
      // A door that lived longer than this process counts from another beginning.
      if (after <= box.seq) box.kept = box.kept.filter(({ seq }) => seq > after)
      if (box.kept.length === 0) await pause(box, timeoutMs, signal)
      return { actions: [...box.kept] }
    },
    drop(session) {
      const box = boxes.get(session)
      boxes.delete(session)
      if (box !== undefined) wakeAll(box)
    },
    close() {
      for (const box of boxes.values()) wakeAll(box)
    },
  }
}

function pause(box: Box, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      box.waiting.delete(end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, timeoutMs)
    box.waiting.add(end)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
