/**
 * Whether another session is at work on the project. Sessions share nothing of what they were told;
 * this one record a session, with the time of its last turn, is there for a single question: may an
 * edit whose author is not known be counted as this session's?
 */
import { OutriggerError } from '../errors.ts'
import type { Store } from '../ports/store.ts'

const prefix = 'keel/live/'
/** A session without an event for this long does not count as being at work. */
const quietMs = 60 * 60_000
/** Records older than this are removed. */
const forgottenMs = 14 * 24 * 60 * 60_000

export async function markLive(store: Store, session: string, at: number): Promise<void> {
  const key = prefix + session
  const known = await store.get(key)
  try {
    await store.put(key, { at }, known?.version ?? 0)
  } catch (error) {
    // Another process of the same session marked it: that is as good.
    if (!(error instanceof OutriggerError && error.code === 'STORE_VERSION_MOVED')) throw error
  }
}

export async function unmarkLive(store: Store, session: string): Promise<void> {
  await store.remove(prefix + session)
}

export async function isAlone(store: Store, session: string, now: number): Promise<boolean> {
  for (const key of await store.list(prefix)) {
    if (key === prefix + session) continue
    const at = atOf((await store.get(key))?.value)
    if (now - at < quietMs) return false
    if (now - at > forgottenMs) await store.remove(key)
  }
  return true
}

function atOf(value: unknown): number {
  const at = typeof value === 'object' && value !== null ? (value as { at?: unknown }).at : undefined
  return typeof at === 'number' ? at : 0
}
