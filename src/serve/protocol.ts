/**
 * Protocol 1 between the engine process and the doors that use it: HTTP/1.1 with JSON over a socket that only
 * the user can open. Two messages, event → actions and command → reply, and one long poll for what the engines
 * ask of their own accord.
 *
 * | request | body | answer |
 * | --- | --- | --- |
 * | `POST /event` | one event | `{actions}` |
 * | `POST /op` | `{id, op, input, session?, by, name?, env?}` | `{id, output, text}`; with `accept: application/x-ndjson` progress lines first, and an empty one now and then |
 * | `POST /cancel` | `{id}` | `{cancelled}` |
 * | `GET /wait?session=S&after=N` | | within 25 s `{actions: [{seq, action}]}`; `after` acknowledges, the rest comes again |
 * | `GET /health` | | `Health` |
 * | `POST /stop` | | `{stopping: true}` |
 */
import type { Action } from '../session/actions.ts'

export const protocolVersion = 1
export const protocolHeader = 'outrigger-protocol'
/** `<door>/<host version> <connection id>` */
export const doorHeader = 'outrigger-door'
/** Of a request's body. */
export const maxBodyBytes: number = 4 * 1024 * 1024
/** A `/wait` is answered within this, with nothing if need be. */
export const waitMs = 25_000

/** A line of an answer in lines comes at least this often. */
export const aliveMs = 2_000

export interface Health {
  readonly protocol: number
  readonly version: string
  readonly pid: number
  /** Absolute root of the project. */
  readonly project: string
  /** ISO 8601. */
  readonly startedAt: string
  /** Sessions that are open here. */
  readonly sessions: readonly string[]
  /** Named states in which something works less well. */
  readonly degraded: readonly string[]
  /** Something goes on that a stop would cut short: an operation, a loop, a countdown. */
  readonly busy: boolean
}

/** Where the process of a project listens; printed by `outrigger serve --detach`. */
export interface Running {
  readonly socket: string
  readonly pid: number
  readonly protocol: number
  readonly version: string
}

export interface EventAnswer {
  readonly actions: readonly Action[]
}

export interface OpRequest {
  /** The caller's own; `/cancel` names it. */
  readonly id: string
  /** Name of an operation: `keel.check`; or a tool of the REPL: `run_code`, and `repl.heard` with the id of such a call. */
  readonly op: string
  readonly input: unknown
  readonly session?: string
  readonly by: 'person' | 'agent'
  /** Of the program that asks: what the records call the agent. */
  readonly name?: string
  /** Of the program that asks; a session of the REPL that is opened for it has this one. */
  readonly env?: Readonly<Record<string, string>>
}

export interface OpAnswer {
  readonly id: string
  readonly output: unknown
  readonly text: string
}

export interface WaitAnswer {
  readonly actions: readonly { readonly seq: number; readonly action: Action }[]
}
