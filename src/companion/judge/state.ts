/** What companion remembers of a session, agent by agent. */
import type { Json } from '../../ports/json.ts'
import { decodeTold, encodeTold, nothingTold, type Told } from '../../session/told.ts'

/** A companion that was named in the window that is open. */
export interface NamedPair {
  readonly intent: string
  readonly path: string
  readonly for: string
  readonly k: number
}

/** A note of the window that is open. */
export interface Note {
  readonly intent: string
  /** Id of the action that said it; empty where nobody carries actions. */
  readonly action: string
  readonly paths: readonly string[]
  readonly followed: boolean
  /** What it told, to be taken back when it did not arrive. */
  readonly told: readonly string[]
}

export interface AgentState {
  /** Judged calls so far. */
  readonly judged: number
  /** Number of the window that is open. */
  readonly window: number
  /** `judged` when it began. */
  readonly began: number
  /** Pairs by window, intents by judged call. */
  readonly told: Told
  readonly notes: readonly Note[]
  readonly pairs: readonly NamedPair[]
  /** Files written in this window, newest last. */
  readonly written: readonly string[]
  /** Drifts that were told, by package folder. */
  readonly drifts: Readonly<Record<string, string>>
  /** Drifts that are open as of the last look, by package folder. */
  readonly open: Readonly<Record<string, readonly { readonly file: string; readonly reason: string }[]>>
  readonly held: boolean
  /** Files that calls inside a call wrote, by the outer one. */
  readonly inside: Readonly<Record<string, readonly string[]>>
}

export interface CompanionState {
  /** The main agent's name is empty. */
  readonly agents: Readonly<Record<string, AgentState>>
}

export const noAgent: AgentState = {
  judged: 0,
  window: 0,
  began: 0,
  told: nothingTold,
  notes: [],
  pairs: [],
  written: [],
  drifts: {},
  open: {},
  held: false,
  inside: {},
}

export const noState: CompanionState = { agents: {} }

const maxWritten = 2_000
const maxAgents = 100
const maxInside = 50
const maxTold = 2_000

export const agentOf = (state: CompanionState, agent: string | undefined): AgentState =>
  Object.hasOwn(state.agents, agent ?? '') ? state.agents[agent ?? '']! : noAgent

export function withAgent(state: CompanionState, agent: string | undefined, next: AgentState): CompanionState {
  if (agentOf(state, agent) === next) return state
  const agents = { ...state.agents, [agent ?? '']: next }
  // Agents that went long ago are forgotten, the main one never.
  for (const key of Object.keys(agents)) {
    if (Object.keys(agents).length <= maxAgents) break
    if (key !== '' && key !== agent) delete agents[key]
  }
  return { agents }
}

/** Nothing was told yet: what was merely written is not worth a file in a project where nobody says anything. */
export const isForgettable = ({ agents }: CompanionState): boolean => Object.values(agents).every(({ told }) => told.size === 0)

/** A person spoke, or as many calls went by as stand for it. */
export function openWindow(state: AgentState): AgentState {
  const isFresh = state.began === state.judged && state.written.length === 0 && state.notes.length === 0 && !state.held
  if (isFresh && state.window > 0) return state
  return { ...state, window: state.window + 1, began: state.judged, notes: [], pairs: [], written: [], held: false }
}

export const pairKey = (changed: string, companion: string): string => `pair\n${companion}\n${changed}`
export const intentKey = (intent: string): string => `intent\n${intent}`

/** Files were written: their pairs begin anew, notes that named them were followed. */
export function noteWritten(state: AgentState, paths: readonly string[]): AgentState {
  if (paths.length === 0) return state
  const fresh = new Set(paths)
  const written = [...state.written.filter(path => !fresh.has(path)), ...fresh].slice(-maxWritten)
  const isOfFresh = (key: string) => key.startsWith('pair\n') && fresh.has(key.slice(5, key.indexOf('\n', 5)))
  const hasTold = [...state.told.keys()].some(isOfFresh)
  const told = hasTold ? new Map([...state.told].filter(([key]) => !isOfFresh(key))) : state.told
  const notes = state.notes.map(note =>
    note.followed || !note.paths.some(path => fresh.has(path)) ? note : { ...note, followed: true },
  )
  return { ...state, written, told, notes }
}

export function rememberInside(state: AgentState, outer: string, paths: readonly string[]): AgentState {
  if (paths.length === 0) return state
  const known = Object.hasOwn(state.inside, outer) ? state.inside[outer]! : []
  const inside = { ...state.inside, [outer]: [...new Set([...known, ...paths])] }
  for (const key of Object.keys(inside)) {
    if (Object.keys(inside).length <= maxInside) break
    delete inside[key]
  }
  return { ...state, inside }
}

/** Pairs of this window that nobody touched. */
export function openPairs(state: AgentState): readonly NamedPair[] {
  const written = new Set(state.written)
  const seen = new Set<string>()
  return state.pairs.filter(pair => {
    if (written.has(pair.path) || seen.has(pair.path)) return false
    seen.add(pair.path)
    return true
  })
}

/** An action did not arrive: what it told counts as untold. */
export function takeBack(state: CompanionState, action: string): CompanionState {
  for (const [name, agent] of Object.entries(state.agents)) {
    const note = agent.notes.find(each => each.action === action)
    if (note === undefined) continue
    const told = new Map(agent.told)
    for (const key of note.told) told.delete(key)
    const pairs = agent.pairs.filter(pair => pair.intent !== note.intent || !note.paths.includes(pair.path))
    const drifts = note.intent === 'Reconciliation' ? {} : agent.drifts
    const next = { ...agent, told, pairs, drifts, notes: agent.notes.filter(each => each !== note) }
    return { agents: { ...state.agents, [name]: next } }
  }
  return state
}

export function encodeState(state: CompanionState): Json {
  const agents = Object.entries(state.agents).map(([name, agent]) => [
    name,
    { ...agent, told: encodeTold(agent.told).slice(-maxTold), written: agent.written.slice(-500) },
  ])
  return { format: 1, agents } as unknown as Json
}

/** What is not of this form is as if there were nothing: the worst that follows is that something is told again. */
export function decodeState(json: Json): CompanionState {
  const stored = json as { readonly format?: unknown; readonly agents?: unknown } | null
  if (typeof stored !== 'object' || stored === null || stored.format !== 1 || !Array.isArray(stored.agents)) return noState
  const agents: Record<string, AgentState> = {}
  for (const row of stored.agents as unknown[]) {
    if (!Array.isArray(row) || typeof row[0] !== 'string' || typeof row[1] !== 'object' || row[1] === null) continue
    const agent = row[1] as AgentState & { readonly told: unknown }
    agents[row[0]] = { ...noAgent, ...agent, told: decodeTold(agent.told) }
  }
  return { agents }
}
