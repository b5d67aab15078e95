/** What a worker records of a cell besides its value, and what it is given to run the cell again. Plain JSON. */
import type { Json } from '../../ports/json.ts'
import type { Effect } from '../types.ts'

/** Why a name is not there after a recovery. */
export type LostReason =
  | 'open-handle'
  | 'closure-effect'
  | 'pending-promise'
  | 'generator'
  | 'proxy'
  | 'weak'
  | 'private-state'
  | 'module-effect'
  | 'too-large'
  | 'secret'
  | 'diverged'
  | 'file-changed'
  | 'budget'
  | 'blob-missing'
  | 'interrupted'

/**
 * What ambient sources gave a cell, so that running it again gives the same. Only the worker looks into it. Parts that the cell did not use
 * are absent.
 */
export interface Tape {
  readonly v: 1
  /** 32 hex digits: where the cell's random numbers start. */
  readonly seed?: string
  /** Per clock, in its smallest unit: pairs of difference to the value before (the first: to 0) and how often the value was read in a row. */
  readonly clocks?: Readonly<Record<string, readonly number[]>>
  /** Bytes that random functions of `crypto` handed out, base64, in order. */
  readonly bytes?: readonly string[]
  /** Results of `os.*`, `process.memoryUsage` …, by name of the function, in order. */
  readonly facts?: Readonly<Record<string, readonly Json[]>>
  /**
   * What the event loop delivered, in order: `t` a timer (its number among the cell's), `c` a call (its number among the cell's calls), `f` an asynchronous
   * read (its number), `l` whatever came next to an ended cell of that number; each with the time, in µs since the
   * start of the worker, ascending over all cells.
   */
  readonly deliveries?: readonly (readonly [kind: 't' | 'c' | 'f' | 'l', number: number, at: number])[]
}

/** What a cell did after its end: deliveries, and what its sources gave meanwhile. */
export interface LateTape extends Tape {
  readonly stamps: readonly Stamp[]
  readonly effects: readonly Effect[]
}

/** How something outside was when a cell read it. */
export interface Stamp {
  /** `file`: the content. `stat` …: the result. `env`: a variable; `path` is its name. */
  readonly of: 'file' | 'stat' | 'lstat' | 'exists' | 'directory' | 'tree' | 'link' | 'env'
  /** Absolute. */
  readonly path: string
  /** SHA-256 in hex; of size and time of change when the file is larger than 8 MiB; `null`: it was not there. */
  readonly hash: string | null
}

/** A call of a cell as it went, for its replay; in the order in which the calls were made, the engine's own (`repl.*`, `capabilities.*`, `code.*`) among them. */
export interface TranscribedCall {
  readonly namespace: string
  readonly member: string
  readonly arguments: readonly Json[]
  /** Absent: it had not settled when the cell ended. */
  readonly outcome?:
    | { readonly ok: true; readonly value: Json }
    | { readonly ok: false; readonly message: string; readonly code?: string }
}

/** What an ended cell did while another one ran. */
export interface Meanwhile {
  readonly cell: number
  readonly tape: LateTape
}

/** What binds a name again without running its cell. */
export type FixedEntry =
  /** `OVG1` bytes of the primitive, base64. */
  | { readonly of: 'primitive'; readonly value: string }
  /** A function or class literal or an enum declaration: its range in the source of that cell. `free`: names that it uses, platform's left out, sorted. */
  | {
      readonly of: 'source'
      readonly cell: number
      readonly start: number
      readonly end: number
      readonly free: readonly string[]
      /** Its `name`, when that is not the name it is bound to. */
      readonly as?: string
    }
  /** `url`: `node:fs`, `file:///…`. `export` `*`: the namespace object. `effect`: loading the module touched the outside, so it is not loaded again. */
  | {
      readonly of: 'import'
      readonly url: string
      readonly export: string
      readonly builtin: boolean
      readonly effect?: boolean
    }
