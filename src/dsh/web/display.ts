/**
 * What the browser is to show of each session: the status line, and notices until a page took them. The door
 * puts in, the route reads. Decides nothing.
 */
import { randomBytes } from 'node:crypto'
import type { Json } from '../../ports/json.ts'
import type { ActionOf } from '../../session/actions.ts'
import type { Notice, Shown } from './shown.ts'

/** How long a reader waits when nothing changes. */
const waitMs = 25_000
/** Notices of a session that are kept; an older one goes first. */
const maxNotices = 20
/** Readers that may wait at once, over all sessions; one more lets the oldest go. */
const maxReaders = 64

/** Rows beside the core one put their parts in through this service of the host's context. */
export const displayService = 'outriggerDisplay'

export interface Display {
  /** There is a web server that pages read from. */
  readonly isOpen: boolean
  /** A page has read from it: the host gave our client file to a browser. */
  readonly isRead: boolean
  /** Pages can read from now on, until the answer is called. */
  open(): () => void
  status(session: string, text: string | null): void
  /** A part that has a place of its own on the page; `null` takes it away. */
  part(session: string, name: string, value: Json | null): void
  /** @returns ids of notices that no page took and that went for this one. */
  notify(session: string, notice: ActionOf<'notify'>): readonly string[]
  /** The session is over. @returns ids of notices that no page took. */
  end(session: string): readonly string[]
  /**
   * What a session shows; waits while that is what `after` stands for, at most 25 s.
   *
   * @param after - the `cursor` of the answer before. Without one, or with one of another process, the answer comes at once.
   * @param gone - aborted when nobody waits for the answer any more.
   */
  read(session: string, after: string | undefined, gone: AbortSignal): Promise<Shown>
}

interface KeptNotice extends Notice {
  readonly id: string
  readonly at: number
  isTaken: boolean
}

interface Entry {
  /** Of the last change. */
  at: number
  status: string | null
  readonly parts: Map<string, Json>
  notices: KeptNotice[]
  readonly readers: Set<() => void>
}

/** @param wait - calls back after some ms; the answer cancels. */
export function createDisplay(wait: (ms: number, run: () => void) => () => void = later): Display {
  const entries = new Map<string, Entry>()
  /** Wakes of waiting readers, oldest first. */
  const waiting = new Set<() => void>()
  /** Cursors of another process do not count here. */
  const epoch = randomBytes(6).toString('hex')
  let changes = 0
  let servers = 0
  let isRead = false

  const entryOf = (session: string): Entry => {
    let entry = entries.get(session)
    if (entry === undefined) {
      entry = { at: 0, status: null, parts: new Map(), notices: [], readers: new Set() }
      entries.set(session, entry)
    }
    return entry
  }

  const changed = (entry: Entry): void => {
    entry.at = ++changes
    for (const wake of [...entry.readers]) wake()
  }

  const change = (entry: Entry, gone: AbortSignal): Promise<void> =>
    new Promise(resolve => {
      const wake = (): void => {
        cancel()
        entry.readers.delete(wake)
        waiting.delete(wake)
        gone.removeEventListener('abort', wake)
        resolve()
      }
      const cancel = wait(waitMs, wake)
      entry.readers.add(wake)
      waiting.add(wake)
      gone.addEventListener('abort', wake)
      if (waiting.size > maxReaders) for (const oldest of waiting) return oldest()
    })

  const untaken = (notices: readonly KeptNotice[]): readonly string[] =>
    notices.filter(notice => !notice.isTaken).map(notice => notice.id)

  return {
    get isOpen() {
      return servers > 0
    },
    get isRead() {
      return isRead
    },
    open: () => {
      servers++
      return () => {
        servers--
        for (const wake of [...waiting]) wake()
      }
    },
    status: (session, text) => {
      const known = entries.get(session)
      if ((known?.status ?? null) === text) return
      const entry = known ?? entryOf(session)
      entry.status = text
      changed(entry)
    },
    part: (session, name, value) => {
      const known = entries.get(session)?.parts.get(name) ?? null
      if (JSON.stringify(known) === JSON.stringify(value)) return
      const entry = entryOf(session)
      if (value === null) entry.parts.delete(name)
      else entry.parts.set(name, value)
      changed(entry)
    },
    notify: (session, { id, level, text, ms = 4_000 }) => {
      const entry = entryOf(session)
      const kept = [...entry.notices, { id, level, text, ms, at: changes + 1, isTaken: false }]
      const over = kept.splice(0, kept.length - maxNotices)
      entry.notices = kept
      changed(entry)
      return untaken(over)
    },
    end: session => {
      const entry = entries.get(session)
      if (entry === undefined) return []
      const lost = untaken(entry.notices)
      entry.notices = []
      entry.status = null
      entry.parts.clear()
      entries.delete(session)
      changed(entry)
      return lost
    },
    read: async (session, after, gone) => {
      isRead = true
      const entry = entryOf(session)
      const [of, number] = after?.split('.') ?? []
      const cursor = of === epoch ? Number(number) : undefined
      if (cursor === entry.at && !gone.aborted && servers > 0) await change(entry, gone)
      const fresh = entry.notices.filter(notice => (cursor === undefined ? !notice.isTaken : notice.at > cursor))
      if (!gone.aborted) for (const notice of fresh) notice.isTaken = true
      // Of a session that never said a thing, only what its readers wait with is kept.
      if (entry.at === 0 && entry.readers.size === 0) entries.delete(session)
      const notices = fresh.map(({ level, text, ms }) => ({ level, text, ms }))
      const { status, parts } = entry
      return { cursor: `${epoch}.${entry.at}`, status, notices, ...(parts.size > 0 && { parts: Object.fromEntries(parts) }) }
    },
  }
}

function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
