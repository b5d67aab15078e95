/** What pack remembers of one session: a value. Flows in it are those of `docs/engines/pack.md`. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Seam } from './types.ts'
import { noZone, type Zone } from './zones.ts'

/** Who wanted the save: `/pack`, `/pack save`, the wall, auto mode. */
export type SaveWhy = 'pack' | 'save' | 'hard' | 'auto'

/** The state is written; a model is asked what to add. Ends with its answer. */
export interface Saving {
  readonly kind: 'saving'
  readonly why: SaveWhy
  readonly stream: string
  /** ms since the epoch. */
  readonly since: number
  /** Id of the action that asked. */
  readonly ask: string
  readonly cycle: number
  readonly review: boolean
  readonly goal: string | null
  /** Somebody wrote, or a turn began: what follows does not clear. */
  readonly stays: boolean
  /** Auto mode became due meanwhile. */
  readonly autoDue: boolean
}

export interface Review {
  readonly kind: 'review'
  readonly stream: string
  readonly nonce: string
  /** Id of the action that shows it; `null`: it was said in words. */
  readonly action: string | null
}

export interface Countdown {
  readonly kind: 'countdown'
  readonly stream: string
  readonly nonce: string
  /** ms since the epoch. */
  readonly endsAt: number
}

export interface Armed {
  readonly kind: 'armed'
  readonly stream: string
  readonly nonce: string
  /** Id of the action that starts fresh. */
  readonly action: string
  /** The door could not: the person starts it. */
  readonly isPersonsTurn: boolean
  /** The host has no `/clear`. */
  readonly isElsewhere: boolean
}

export type Flow = Saving | Review | Countdown | Armed

/** How the last save went, until somebody goes on. */
export interface Outcome {
  readonly text: string
  readonly ok: boolean
}

/** Notes that the door could not carry: given again at the next moment that can. */
export interface Owed {
  readonly action: string
  readonly stream: string
  readonly file: string | null
  /** The action failed: it is due. */
  readonly isDue: boolean
}

export interface PackState {
  /** The store was asked for the binding. */
  readonly isLoaded: boolean
  /** Named by a person's command. */
  readonly bound: string | null
  /** Named by the title. */
  readonly titled: string | null
  /** Checkpoints in the buffer. */
  readonly waiting: number
  /** Why the journal could not be written; the stream and the number held are in the text. */
  readonly broken: string | null
  /** Told once a session. */
  readonly told: readonly string[]
  readonly flow: Flow | null
  readonly outcome: Outcome | null
  /** The turn that is open is one of a person. */
  readonly personTurn: boolean
  readonly seam: Seam
  readonly zone: Zone
  readonly isAuto: boolean
  /** Saves of auto mode that failed in this cycle. */
  readonly tries: number
  /** A person wanted to stay: auto mode waits for the next cycle. */
  readonly sleeps: boolean
  /** A turn ended and was not judged yet: something still ran. */
  readonly owesJudgement: boolean
  readonly owed: Owed | null
  /** The status line as it was last asked for; forgotten with the process. */
  readonly shown: string
}

export const noSeam: Seam = { level: 'none', task: null }

export const noState: PackState = {
  isLoaded: false,
  bound: null,
  titled: null,
  waiting: 0,
  broken: null,
  told: [],
  flow: null,
  outcome: null,
  personTurn: false,
  seam: noSeam,
  zone: noZone,
  isAuto: false,
  tries: 0,
  sleeps: false,
  owesJudgement: false,
  owed: null,
  shown: '',
}

export const streamOf = (state: PackState): string | null => state.bound ?? state.titled

/** Nothing was named, captured or shown. */
export function isForgettable(state: PackState): boolean {
  return (
    streamOf(state) === null && state.waiting === 0 && state.told.length === 0 && state.flow === null && state.zone.rank === 0
  )
}

/** A save and a countdown end with their process: both asked for something that is gone with it. */
export function encodeState(state: PackState): Json {
  const flow = state.flow?.kind === 'saving' || state.flow?.kind === 'countdown' ? null : state.flow
  return { v: 1, ...state, flow, shown: '' } as unknown as Json
}

/** @throws `PACK_BAD_STATE` naming the field. */
export function decodeState(json: Json): PackState {
  const fields = asFields(json, 'state')
  if (fields['v'] !== 1) throw bad('v')
  const zone = asFields(fields['zone'], 'zone') as unknown as Zone
  if (typeof zone.cycle !== 'number' || typeof zone.rank !== 'number') throw bad('zone')
  const seam = asFields(fields['seam'], 'seam') as unknown as Seam
  const told = fields['told']
  if (!Array.isArray(told) || !told.every(key => typeof key === 'string')) throw bad('told')
  return {
    isLoaded: fields['isLoaded'] === true,
    bound: textOrNull(fields['bound'], 'bound'),
    titled: textOrNull(fields['titled'], 'titled'),
    waiting: count(fields['waiting'], 'waiting'),
    broken: textOrNull(fields['broken'], 'broken'),
    told,
    flow: fields['flow'] === null ? null : (asFields(fields['flow'], 'flow') as unknown as Flow),
    outcome: fields['outcome'] === null ? null : (asFields(fields['outcome'], 'outcome') as unknown as Outcome),
    personTurn: fields['personTurn'] === true,
    seam,
    zone,
    isAuto: fields['isAuto'] === true,
    tries: count(fields['tries'], 'tries'),
    sleeps: fields['sleeps'] === true,
    owesJudgement: fields['owesJudgement'] === true,
    owed: fields['owed'] === null ? null : (asFields(fields['owed'], 'owed') as unknown as Owed),
    shown: '',
  }
}

type Fields = Readonly<Record<string, unknown>>

function asFields(value: unknown, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(field)
  return value as Fields
}

function textOrNull(value: unknown, field: string): string | null {
  if (value === null || typeof value === 'string') return value
  throw bad(field)
}

function count(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw bad(field)
  return value
}

const bad = (field: string): OutriggerError =>
  new OutriggerError('PACK_BAD_STATE', `the saved state of a session has a bad field: ${field}`, { subject: field })
