/** One live session in the runtime's memory, and the part of it that the store keeps. */
import type { Json } from '../ports/json.ts'
import type { Action, ActionOf, EngineName } from '../session/actions.ts'
import { noWork } from '../session/busy.ts'
import type { AnyEngine } from '../session/engine.ts'
import type { SessionFacts } from '../session/facts.ts'
import { emptyFacts } from '../session/fold.ts'
import { emptyFolded, type Folded } from '../session/folded.ts'
import type { StatusPart } from './compose.ts'
import type { Grant } from './progress.ts'
import { noTurns, type Turns } from './turns.ts'

type Context = ActionOf<'add-context'>

/** One engine's state in one session. */
export interface Cell {
  readonly engine: AnyEngine
  state: unknown
  /** Of the stored document; 0: none yet. */
  version: number
  /** What is stored. */
  json: string
  /** Failures in a row. */
  failures: number
  mode: 'on' | 'set aside' | 'config'
  /** It was last told to the others that this engine goes on by itself. */
  inFlow?: boolean
  /** Codes that the person was told. */
  readonly told: Set<string>
}

export interface Live {
  readonly id: string
  folded: Folded
  turns: Turns
  /** While a loop is armed, where a door can tell how the work stands. */
  grant: Grant | null
  /** Whether the host goes on by itself, as its door said last. */
  hostLoop: boolean
  /** Contexts without a carrier yet. */
  waiting: readonly Context[]
  /** Other actions that wait for the session's next answer. */
  pending: readonly Action[]
  readonly cells: Map<EngineName, Cell>
  /** Calls that were heard, newest last. */
  readonly calls: Set<string>
  readonly statuses: Map<EngineName, StatusPart>
  shownStatus: string | null
  /** Notices of this turn. */
  readonly notices: Set<string>
  readonly watches: Map<EngineName, readonly string[]>
  watched: string
  /** Model calls in flight. */
  readonly asks: Map<EngineName, string>
  /** Characters that words and tool calls added in this turn. */
  usedInTurn: number
  version: number
  json: string
}

export const documentKey = (session: string): string => `session/${session}`
export const stateKey = (engine: EngineName, session: string): string => `${engine}/session/${session}`

export function createLive(id: string, project: string, at: number): Live {
  return {
    id,
    folded: emptyFolded(id, project, at),
    turns: noTurns,
    grant: null,
    hostLoop: false,
    waiting: [],
    pending: [],
    cells: new Map(),
    calls: new Set(),
    statuses: new Map(),
    shownStatus: null,
    notices: new Set(),
    watches: new Map(),
    watched: '',
    asks: new Map(),
    usedInTurn: 0,
    version: 0,
    json: '',
  }
}

const maxCalls = 2_000

/** `false`: this call was heard before. */
export function hearCall(live: Live, call: string): boolean {
  if (live.calls.has(call)) return false
  live.calls.add(call)
  for (const oldest of live.calls) {
    if (live.calls.size <= maxCalls) break
    live.calls.delete(oldest)
  }
  return true
}

const maxFiles = 500
const maxWrites = 500

/** @param whole - also what a process that ends with the event would lose. */
export function encodeLive(live: Live, whole: boolean): Json {
  const base = { format: 1, at: live.folded.facts.lastAt, turns: live.turns }
  if (!whole) return base as unknown as Json
  const { facts, writes, work, calls } = live.folded
  const kept = {
    facts: { ...facts, files: Object.fromEntries(Object.entries(facts.files).slice(-maxFiles)) },
    writes: {
      list: writes.list.slice(-maxWrites),
      dropped: writes.dropped + Math.max(writes.list.length - maxWrites, 0),
    },
    work,
    open: [...calls.open],
  }
  const memory = {
    waiting: live.waiting,
    usedInTurn: live.usedInTurn,
    heard: [...live.calls].slice(-100),
    statuses: [...live.statuses],
  }
  return { ...base, folded: kept, ...memory } as unknown as Json
}

/** What is stored, into a live session. A document of another form is as if there were none. */
export function decodeLive(live: Live, json: Json): void {
  const stored = json as unknown as Partial<{
    format: number
    turns: Turns
    folded: {
      facts: SessionFacts
      writes: Folded['writes']
      work: Folded['work']
      open: [string, { read: string[]; written: string[] }][]
    }
    waiting: Context[]
    usedInTurn: number
    heard: string[]
    statuses: [EngineName, StatusPart][]
  }> | null
  if (stored === null || typeof stored !== 'object' || stored.format !== 1) return
  live.turns = { ...noTurns, ...stored.turns }
  if (stored.folded === undefined) return
  const { facts, writes, work, open } = stored.folded
  live.folded = {
    facts: {
      ...emptyFacts(live.id, facts.project, facts.startedAt),
      ...facts,
      files: Object.assign(Object.create(null) as Record<string, never>, facts.files),
    },
    writes,
    work: { ...noWork, ...work },
    calls: { open: new Map(open) },
  }
  live.waiting = stored.waiting ?? []
  live.usedInTurn = stored.usedInTurn ?? 0
  for (const call of stored.heard ?? []) live.calls.add(call)
  for (const [engine, part] of stored.statuses ?? []) live.statuses.set(engine, part)
}
