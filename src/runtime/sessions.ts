/** The live sessions of a runtime: loaded when first heard of, saved by compare-and-set, let go at their end. */
import type { EventOf } from '../session/events.ts'
import { emptyFolded, type Folded } from '../session/folded.ts'
import type { Documents } from './documents.ts'
import { createLive, decodeLive, documentKey, encodeLive, type Live } from './live.ts'

export interface Sessions {
  get(session: string): Live | undefined
  all(): Iterable<Live>
  /** The live one, or what the store has of it. */
  open(session: string, at: number): Promise<Live>
  /** @param whole - also what a process that ends with the event would lose. */
  save(live: Live, whole: boolean): Promise<void>
  /** A fresh start lifts what was set aside; after a `clear` the facts of the session before go on. */
  begin(live: Live, event: EventOf<'session-started'>): Promise<void>
  release(live: Live): void
}

export interface SessionsOptions {
  readonly root: string
  readonly documents: Documents
  /** Is something of this session running or waiting? */
  isBusy(session: string): boolean
  onRelease(session: string): void
}

const maxLives = 200
const maxEnded = 8
const maxTries = 8

export function createSessions({ root, documents, isBusy, onRelease }: SessionsOptions): Sessions {
  const lives = new Map<string, Live>()
  /** Facts of sessions that ended, for the one that a `clear` begins. */
  const ended = new Map<string, Folded>()

  async function load(session: string, at: number): Promise<Live> {
    const live = createLive(session, root, at)
    const stored = await documents.get(documentKey(session))
    if (stored === undefined) return live
    live.version = stored.version
    live.json = JSON.stringify(stored.value)
    decodeLive(live, stored.value)
    return live
  }

  function release(live: Live): void {
    lives.delete(live.id)
    ended.set(live.id, live.folded)
    for (const id of [...ended.keys()].slice(0, -maxEnded)) ended.delete(id)
    onRelease(live.id)
  }

  async function factsBefore(session: string): Promise<Folded | undefined> {
    const folded = lives.get(session)?.folded ?? ended.get(session)
    if (folded !== undefined) return folded
    const stored = await load(session, 0)
    return stored.version === 0 ? undefined : stored.folded
  }

  return {
    get: session => lives.get(session),
    all: () => lives.values(),
    async open(session, at) {
      const live = lives.get(session) ?? (await load(session, at))
      lives.delete(session)
      lives.set(session, live)
      for (const oldest of [...lives.values()].slice(0, -maxLives)) if (!isBusy(oldest.id)) release(oldest)
      return live
    },
    // A lost race takes the higher numbers of both.
    async save(live, whole) {
      if (isForgettable(live)) return
      for (let tries = 0; tries < maxTries; tries++) {
        const value = encodeLive(live, whole)
        const json = JSON.stringify(value)
        if (withoutTime(json) === withoutTime(live.json)) return
        const saved = await documents.put(documentKey(live.id), value, live.version)
        if (saved.kind === 'lost') return
        if (saved.kind === 'saved') {
          live.version = saved.version
          live.json = json
          return
        }
        const theirs = await load(live.id, 0)
        live.version = theirs.version
        if (theirs.turns.number > live.turns.number) live.turns = theirs.turns
        else live.turns = { ...live.turns, held: Math.max(live.turns.held, theirs.turns.held) }
      }
    },
    async begin(live, event) {
      for (const cell of live.cells.values()) {
        if (cell.mode === 'set aside') cell.mode = 'on'
        cell.failures = 0
      }
      live.shownStatus = null
      live.watched = ''
      if (event.source === 'compact') return
      live.calls.clear()
      live.asks.clear()
      if (event.source !== 'clear' || event.previous === undefined || event.previous === live.id) return
      live.folded = (await factsBefore(event.previous)) ?? emptyFolded(live.id, root, event.at)
    },
    release,
  }
}

/** No engine remembers anything and nothing waits: a project that has no use for us stays without our files. */
function isForgettable(live: Live): boolean {
  if (live.version > 0 || live.waiting.length > 0) return false
  return [...live.cells.values()].every(({ engine, state, version }) => version === 0 && engine.isForgettable?.(state) === true)
}

/** Time alone is no reason to write. */
const withoutTime = (json: string) => json.replace(/^(\{"format":1,"at":)\d+/, '$1')
