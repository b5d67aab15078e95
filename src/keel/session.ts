/**
 * What one session was told, held for and reviewed: a value, and the small steps that change it. Never
 * shared between sessions. The engine (`engine.ts`) decides when a step is taken.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { decodeTold, encodeTold, keepLive, type Told } from '../session/told.ts'
import type { Counted } from './messages.ts'
import type { Ack, Hex12, SuspectKey } from './types.ts'

/** Which half of a turn's beginning is still to come: the two come in either order. */
type AwaitedHalf = 'words' | 'start' | null

export interface OpenTurn {
  /** The host's number once it is known. */
  readonly number: number | null
  readonly awaits: AwaitedHalf
}

/** What an action said, so that it can count as unsaid when the door could not carry it out. */
export interface Said {
  readonly keys: readonly SuspectKey[]
  readonly stamped: readonly string[]
  readonly counted: readonly Counted[]
  readonly held: boolean
  readonly reminded: readonly SuspectKey[]
}

/** What moved since the session's last look, seen by a watcher: the tool that did it may not have ended yet. */
export interface Loose {
  readonly targets: ReadonlySet<string>
  /** Scope ids of the moved documents' edges from before. */
  readonly scopes: ReadonlyMap<string, Hex12>
}

export const noLoose: Loose = { targets: new Set(), scopes: new Map() }

export interface KeelState {
  /** Turns that this session opened. */
  readonly turns: number
  readonly open: OpenTurn | null
  /** Ticks are turns. */
  readonly told: Told
  readonly held: Told
  readonly reminded: Told
  /** Keys that were live when the turn opened. */
  readonly base: ReadonlySet<SuspectKey>
  /** The turn was held. */
  readonly hasHeld: boolean
  readonly toast: string | null
  /** Targets that the agent read or wrote, with their content then. */
  readonly seen: ReadonlyMap<string, Hex12>
  /** Scope ids of the suspect edges at the session's last look. */
  readonly scopes: ReadonlyMap<string, Hex12>
  readonly loose: Loose
  /** The project's mark at the session's last look at everything known: what moved after it is news to this session. */
  readonly mark: number
  /** Edges whose document was edited as their review, by edge id. */
  readonly reviewed: ReadonlyMap<string, Ack>
  /** Documents stamped and not yet told. */
  readonly stamped: readonly string[]
  /** Edits counted as reviews and not yet told. */
  readonly counted: readonly Counted[]
  /** By action id. */
  readonly said: ReadonlyMap<string, Said>
  /** Links without a stamp that named one file when last looked at. */
  readonly resolved: ReadonlySet<string>
  /** Documents were declared at the last look. */
  readonly hadChildren: boolean
}

export const noState: KeelState = {
  turns: 0,
  open: null,
  told: new Map(),
  held: new Map(),
  reminded: new Map(),
  base: new Set(),
  hasHeld: false,
  toast: null,
  seen: new Map(),
  scopes: new Map(),
  loose: noLoose,
  mark: 0,
  reviewed: new Map(),
  stamped: [],
  counted: [],
  said: new Map(),
  resolved: new Set(),
  hadChildren: false,
}

/** It counted turns of a project without documents and knows nothing else. */
export function isForgettable(state: KeelState): boolean {
  const { told, held, reminded, seen, scopes, loose, reviewed, stamped, counted, said, resolved } = state
  const sizes = [told, held, reminded, seen, scopes, loose.targets, loose.scopes, reviewed, said, resolved].map(one => one.size)
  return !state.hadChildren && [...sizes, stamped.length, counted.length].every(size => size === 0)
}

/** A turn begins: what is live now is its base; hold and toast are unused. What was said in the last turn arrived. */
export function openTurn(state: KeelState, turn: OpenTurn, live: Iterable<SuspectKey>): KeelState {
  return { ...state, turns: state.turns + 1, open: turn, base: new Set(live), hasHeld: false, toast: null, said: new Map() }
}

/** Keys that are gone are forgotten: a suspect that comes back is news. Same object when nothing was. */
export function forgetGone(state: KeelState, live: ReadonlySet<SuspectKey>): KeelState {
  const told = keepLive(state.told, live)
  const held = keepLive(state.held, live)
  const reminded = keepLive(state.reminded, live)
  if (told === state.told && held === state.held && reminded === state.reminded) return state
  return { ...state, told, held, reminded }
}

/** Everything the session was told counts as unsaid, as after a new start or a compaction. */
export function forgetTold(state: KeelState): KeelState {
  return { ...state, told: new Map(), held: new Map(), reminded: new Map(), said: new Map() }
}

/** Documents whose edges were told in the turn that is open. */
export function toldInTurn(
  state: KeelState,
  edges: readonly { readonly id: string; readonly child: string }[],
): readonly string[] {
  const ids = new Set([...state.told].filter(([, { last }]) => last === state.turns).map(([key]) => key.split(' ', 1)[0]))
  return [...new Set(edges.filter(edge => ids.has(edge.id)).map(edge => edge.child))]
}

const nothingSaid: Said = { keys: [], stamped: [], counted: [], held: false, reminded: [] }

/** An action says this. */
export function say(state: KeelState, action: string, what: Partial<Said>): KeelState {
  const said: Said = { ...nothingSaid, ...what }
  return {
    ...state,
    told: tellAll(state.told, said.keys, state.turns),
    held: said.held ? tellAll(state.held, said.keys, state.turns) : state.held,
    reminded: tellAll(state.reminded, said.reminded, state.turns),
    hasHeld: state.hasHeld || said.held,
    stamped: said.stamped.length === 0 ? state.stamped : [],
    counted: said.counted.length === 0 ? state.counted : [],
    said: new Map([...state.said, [action, said]]),
  }
}

/** The door could not carry the action out: what it said counts as unsaid. */
export function unsay(state: KeelState, action: string): KeelState {
  const said = state.said.get(action)
  if (said === undefined) return state
  const rest = new Map(state.said)
  rest.delete(action)
  return {
    ...state,
    told: without(state.told, said.keys),
    held: said.held ? without(state.held, said.keys) : state.held,
    reminded: without(state.reminded, said.reminded),
    stamped: [...new Set([...state.stamped, ...said.stamped])],
    counted: [...said.counted, ...state.counted],
    said: rest,
  }
}

/**
 * After how many turns a told suspect is mentioned again now; `null`: not now. One that was held is
 * due at each offset, one that was only told at each but the first.
 */
export function reminderDue(state: KeelState, key: SuspectKey, offsets: readonly number[]): number | null {
  const told = state.told.get(key)
  if (told === undefined) return null
  const held = state.held.get(key)
  const since = state.turns - (held ?? told).last
  const own = held === undefined ? offsets.slice(1) : offsets
  const times = state.reminded.get(key)?.times ?? 0
  const next = own[times]
  return next !== undefined && since >= next ? since : null
}

/** All at once: a start in a neglected project tells thousands, and a copy for each would be quadratic. */
function tellAll(told: Told, keys: readonly SuspectKey[], turn: number): Told {
  if (keys.length === 0) return told
  const all = new Map(told)
  for (const key of keys) {
    const before = all.get(key)
    all.set(key, { first: before?.first ?? turn, last: turn, times: (before?.times ?? 0) + 1 })
  }
  return all
}

function without(told: Told, keys: readonly SuspectKey[]): Told {
  if (!keys.some(key => told.has(key))) return told
  const rest = new Map(told)
  for (const key of keys) rest.delete(key)
  return rest
}

/** As it is kept between events and processes. */
export function encodeState(state: KeelState): Json {
  return {
    v: 1,
    turns: state.turns,
    open: state.open === null ? null : { number: state.open.number, awaits: state.open.awaits },
    told: encodeTold(state.told),
    held: encodeTold(state.held),
    reminded: encodeTold(state.reminded),
    base: [...state.base],
    hasHeld: state.hasHeld,
    toast: state.toast,
    seen: [...state.seen].map(pair => [...pair]),
    scopes: [...state.scopes].map(pair => [...pair]),
    loose: { targets: [...state.loose.targets], scopes: [...state.loose.scopes].map(pair => [...pair]) },
    mark: state.mark,
    reviewed: [...state.reviewed.values()] as unknown as Json,
    stamped: state.stamped,
    counted: state.counted as unknown as Json,
    said: [...state.said].map(([action, said]) => [action, said as unknown as Json]),
    resolved: [...state.resolved],
    hadChildren: state.hadChildren,
  }
}

/** @throws `KEEL_BAD_STATE` naming the field. */
export function decodeState(json: Json): KeelState {
  const fields = asRecord(json, 'state')
  if (fields['v'] !== 1) throw bad('v')
  const open = fields['open'] === null ? null : asRecord(fields['open'], 'open')
  const acks = list(fields, 'reviewed').map(one => asRecord(one, 'reviewed') as unknown as Ack)
  return {
    turns: asNumber(fields['turns'], 'turns'),
    open:
      open === null
        ? null
        : {
            number: open['number'] === null ? null : asNumber(open['number'], 'open.number'),
            awaits: open['awaits'] === 'words' || open['awaits'] === 'start' ? open['awaits'] : null,
          },
    told: decodeTold(fields['told'] ?? null),
    held: decodeTold(fields['held'] ?? null),
    reminded: decodeTold(fields['reminded'] ?? null),
    base: new Set(texts(fields, 'base')),
    hasHeld: fields['hasHeld'] === true,
    toast: typeof fields['toast'] === 'string' ? fields['toast'] : null,
    seen: new Map(pairs(fields, 'seen')),
    scopes: new Map(pairs(fields, 'scopes')),
    loose: decodeLoose(fields['loose']),
    mark: typeof fields['mark'] === 'number' ? fields['mark'] : 0,
    reviewed: new Map(acks.map(ack => [asText(ack.edge, 'reviewed.edge'), ack])),
    stamped: texts(fields, 'stamped'),
    counted: list(fields, 'counted').map(one => asRecord(one, 'counted') as unknown as Counted),
    said: new Map(list(fields, 'said').map(decodeSaid)),
    resolved: new Set(texts(fields, 'resolved')),
    hadChildren: fields['hadChildren'] === true,
  }
}

function decodeLoose(json: Json | undefined): Loose {
  const loose = asRecord(json, 'loose')
  const targets = texts(loose, 'targets')
  const scopes = pairs(loose, 'scopes')
  return targets.length + scopes.length === 0 ? noLoose : { targets: new Set(targets), scopes: new Map(scopes) }
}

function decodeSaid(json: Json): readonly [string, Said] {
  if (!Array.isArray(json) || json.length !== 2) throw bad('said')
  const [action = null, value] = json as readonly Json[]
  const said = asRecord(value, 'said')
  return [
    asText(action, 'said'),
    {
      keys: texts(said, 'keys'),
      stamped: texts(said, 'stamped'),
      counted: list(said, 'counted').map(one => asRecord(one, 'said.counted') as unknown as Counted),
      held: said['held'] === true,
      reminded: texts(said, 'reminded'),
    },
  ]
}

type Fields = Readonly<Record<string, Json>>

function asRecord(value: Json | undefined, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(field)
  return value as Fields
}

function asNumber(value: Json | undefined, field: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw bad(field)
  return value
}

function asText(value: Json | undefined, field: string): string {
  if (typeof value !== 'string') throw bad(field)
  return value
}

function list(fields: Fields, field: string): readonly Json[] {
  const value = fields[field]
  if (!Array.isArray(value)) throw bad(field)
  return value as readonly Json[]
}

function texts(fields: Fields, field: string): readonly string[] {
  return list(fields, field).map(value => asText(value, field))
}

function pairs(fields: Fields, field: string): readonly (readonly [string, Hex12])[] {
  return list(fields, field).map(pair => {
    if (!Array.isArray(pair) || pair.length !== 2) throw bad(field)
    return [asText((pair as readonly Json[])[0], field), asText((pair as readonly Json[])[1], field) as Hex12] as const
  })
}

function bad(field: string): OutriggerError {
  return new OutriggerError('KEEL_BAD_STATE', `the saved state of the session has a bad "${field}"`, { subject: field })
}
