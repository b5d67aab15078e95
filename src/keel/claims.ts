/**
 * Documents that a live session wrote in its running turn: other sessions' boundaries leave them alone.
 * One record a session, with an end: sessions may share a process, and a session may have a process an
 * event, so that no process's life tells whether a session is at work.
 */
import { OutriggerError } from '../errors.ts'
import type { Store } from '../ports/store.ts'

export interface Claims {
  claim(session: string, child: string): Promise<void>
  /** The session's turn is over. */
  unclaim(session: string): Promise<void>
  /** Documents claimed by this session, and by others. */
  read(session: string | undefined): Promise<Claimed>
}

export interface Claimed {
  readonly own: ReadonlySet<string>
  readonly others: ReadonlySet<string>
}

/** A claim without an end of its turn, as after a crash, ends by itself. */
const claimMs = 30 * 60_000
const prefix = 'keel/writing/'
const attempts = 10

export function createClaims(open: () => Promise<Store>, now: () => number): Claims {
  /** Claims that the store has already; saves a write for each further edit. */
  const saved = new Map<string, Set<string>>()

  async function change(session: string, next: (known: readonly string[]) => readonly string[]): Promise<void> {
    const store = await open()
    const key = prefix + session
    for (let attempt = 1; ; attempt += 1) {
      const known = await store.get(key)
      const children = next(decodeClaim(known?.value, 0)?.children ?? [])
      try {
        if (children.length > 0) await store.put(key, { children, until: now() + claimMs }, known?.version ?? 0)
        else if (known !== undefined) await store.remove(key, known.version)
        return
      } catch (error) {
        // Another event of the same session wrote in between.
        if (!(error instanceof OutriggerError && error.code === 'STORE_VERSION_MOVED') || attempt === attempts) throw error
      }
    }
  }

  return {
    async claim(session, child) {
      const known = saved.get(session) ?? new Set()
      if (known.has(child)) return
      await change(session, children => [...new Set([...children, child])])
      saved.set(session, known.add(child))
    },
    async unclaim(session) {
      saved.delete(session)
      await change(session, () => [])
    },
    async read(session) {
      const own = new Set<string>()
      const others = new Set<string>()
      const store = await open()
      for (const key of await store.list(prefix)) {
        const claim = decodeClaim((await store.get(key))?.value, now())
        const side = key === prefix + session ? own : others
        for (const child of claim?.children ?? []) side.add(child)
      }
      return { own, others }
    },
  }
}

function decodeClaim(value: unknown, now: number): { readonly children: readonly string[] } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { children, until } = value as { children?: unknown; until?: unknown }
  if (!Array.isArray(children) || typeof until !== 'number' || until <= now) return undefined
  return { children: children.filter(child => typeof child === 'string') }
}
