/**
 * What pack keeps in the store beside a session's own state: things that another session, or the command
 * line, must find. Keys: `pack/bind/<session>`, `pack/buffer/<session>`, `pack/pending/<session>`,
 * `pack/auto`, `pack/told`.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { TakenTrailer } from './types.ts'

/** A fresh start that is prepared, or a choice that a person still has: one a session, never one a project. */
export interface Pending {
  readonly nonce: string
  readonly stream: string
  readonly revision: number
  /** A hand-over file, project-relative; `null`: the state. */
  readonly file: string | null
  /** ms since the epoch. */
  readonly createdAt: number
  readonly phase: 'review' | 'armed'
  /** Another session was told of it. */
  readonly offered?: boolean
}

export interface PendingOf extends Pending {
  readonly session: string
}

export interface Records {
  bound(session: string): Promise<string | null>
  bind(session: string, stream: string | null): Promise<void>
  pending(session: string): Promise<Pending | null>
  setPending(session: string, pending: Pending | null): Promise<void>
  allPending(): Promise<readonly PendingOf[]>
  /** Checkpoints that wait for a stream or a disk, oldest first. */
  buffer(session: string): Promise<readonly TakenTrailer[]>
  setBuffer(session: string, trailers: readonly TakenTrailer[]): Promise<void>
  /** Sessions with a buffer. */
  buffered(): Promise<readonly string[]>
  auto(): Promise<boolean>
  setAuto(on: boolean): Promise<void>
  /** `true` the first time a key is asked for in this project. */
  once(key: string): Promise<boolean>
}

const maxTries = 8
const bindKey = (session: string): string => `pack/bind/${session}`
const bufferPrefix = 'pack/buffer/'
const pendingPrefix = 'pack/pending/'
const autoKey = 'pack/auto'
const toldKey = 'pack/told'

export function createRecords(open: () => Promise<Store>): Records {
  const get = async (key: string): Promise<Fields | null> => asFields((await (await open()).get(key))?.value)

  /** Replace whatever is there; `null` removes it. */
  async function put(key: string, value: Json | null): Promise<void> {
    const store = await open()
    for (let tries = 1; ; tries++) {
      const before = await store.get(key)
      if (value === null) {
        if (before !== undefined) await store.remove(key)
        return
      }
      try {
        await store.put(key, value, before?.version ?? 0)
        return
      } catch (error) {
        const isMoved = error instanceof OutriggerError && error.code === 'STORE_VERSION_MOVED'
        if (!isMoved || tries === maxTries) throw error
      }
    }
  }

  const pending = async (session: string): Promise<Pending | null> => decodePending(await get(pendingPrefix + session))

  return {
    bound: async session => {
      const stream = (await get(bindKey(session)))?.['stream']
      return typeof stream === 'string' ? stream : null
    },
    bind: (session, stream) => put(bindKey(session), stream === null ? null : { stream }),
    pending,
    setPending: (session, value) => put(pendingPrefix + session, value as unknown as Json),
    async allPending() {
      const found: PendingOf[] = []
      for (const key of await (await open()).list(pendingPrefix)) {
        const session = key.slice(pendingPrefix.length)
        const one = await pending(session)
        if (one !== null) found.push({ session, ...one })
      }
      return found
    },
    buffer: async session => decodeTrailers((await get(bufferPrefix + session))?.['trailers']),
    setBuffer: (session, trailers) =>
      put(bufferPrefix + session, trailers.length === 0 ? null : { trailers: trailers as unknown as Json }),
    buffered: async () => (await (await open()).list(bufferPrefix)).map(key => key.slice(bufferPrefix.length)),
    auto: async () => (await get(autoKey))?.['on'] === true,
    setAuto: on => put(autoKey, { on }),
    async once(key) {
      const told = (await get(toldKey)) ?? {}
      if (told[key] === true) return false
      await put(toldKey, { ...(told as Record<string, Json>), [key]: true })
      return true
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

const asFields = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null

/** A record that cannot be read is none: the worst that follows is that nothing is injected. */
function decodePending(fields: Fields | null): Pending | null {
  if (fields === null) return null
  const { nonce, stream, revision, file, createdAt, phase, offered } = fields
  if (typeof nonce !== 'string' || typeof stream !== 'string') return null
  if (typeof revision !== 'number' || typeof createdAt !== 'number') return null
  if (phase !== 'review' && phase !== 'armed') return null
  return {
    nonce,
    stream,
    revision,
    file: typeof file === 'string' ? file : null,
    createdAt,
    phase,
    ...(offered === true && { offered }),
  }
}

function decodeTrailers(value: unknown): readonly TakenTrailer[] {
  return (Array.isArray(value) ? value : []).filter((one: unknown): one is TakenTrailer => {
    const fields = asFields(one)
    return (
      typeof fields?.['key'] === 'string' &&
      typeof fields['body'] === 'string' &&
      typeof fields['session'] === 'string' &&
      typeof fields['at'] === 'number' &&
      Array.isArray(fields['flags'])
    )
  })
}
