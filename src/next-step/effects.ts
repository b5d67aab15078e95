/** What a step takes in and what it asks for. The engine turns effects into actions, the simulator into lines. */
import type { SessionEvent } from '../session/events.ts'
import type { NextFacts } from './facts.ts'
import type { GoalIdentity, Grant, Intent, Local, NextConfig, Row, Spent, Stored } from './types.ts'

export type CommandName = 'arm' | 'disarm' | 'run' | 'suggest' | 'state' | 'off' | 'on' | 'model' | 'dismiss'
export const commandNames: readonly CommandName[] = ['arm', 'disarm', 'run', 'suggest', 'state', 'off', 'on', 'model', 'dismiss']

/** What a person, an agent or a plugin asks for. Values are checked where they are used. */
export interface Command {
  readonly name: CommandName
  readonly id?: string
  readonly by: string
  readonly rounds?: unknown
  readonly tokens?: unknown
  readonly minutes?: unknown
  readonly until?: unknown
  readonly judge?: unknown
  readonly goOn?: unknown
  readonly allowRisky?: unknown
  readonly take?: unknown
  /** For a page: the answer begins with a line of JSON. */
  readonly wire?: unknown
  /** A gen. */
  readonly offer?: unknown
  /** `provider/model` or `clear`. */
  readonly spec?: unknown
}

/** Asked for before an arm that would be possible. */
export type LeaseAnswer = { readonly held: true } | { readonly held: false; readonly holder: string }

export type Input =
  /** `isOwn`: this process's host told it; claims and rows are its affair. */
  | { readonly kind: 'event'; readonly event: SessionEvent; readonly isOwn: boolean }
  | { readonly kind: 'command'; readonly command: Command; readonly lease: LeaseAnswer | null }
  | { readonly kind: 'timer'; readonly key: string }
  /** This process meets the session. */
  | { readonly kind: 'mounted' }
  | { readonly kind: 'lease-lost' }
  /** Another process changed the stored part. `byTime`: because a timer of its own came. */
  | { readonly kind: 'changed'; readonly byTime?: boolean }

export interface Mint {
  claim(): string
  check(): string
  judge(): string
  action(): string
  /** 8 hex digits. */
  hex(): string
}

export interface StepWorld {
  /** ms since the epoch. */
  readonly now: number
  readonly config: NextConfig
  /** A person's choice that stands above the configuration; `null`: none. */
  readonly modelOverride: string | null
  /** This process. */
  readonly owner: string
  isAlive(owner: string): boolean
  readonly mint: Mint
  /** Open lines of the session's work stream. */
  readonly outline: readonly string[]
}

export interface SessionValue {
  readonly stored: Stored
  readonly facts: NextFacts
  readonly local: Local
}

export interface LoopLine {
  readonly armed: boolean
  readonly reason: string | null
  readonly hold: string | null
  readonly grant: Grant | null
  readonly spent: Spent
}

export interface OfferShown {
  readonly turn: number | null
  readonly gen: string | null
  readonly text: string
  readonly intent: Intent
}

export type Effect =
  | { readonly do: 'row'; readonly row: Row }
  | { readonly do: 'show-offer'; readonly offer: OfferShown | null }
  | {
      readonly do: 'ask-model'
      readonly ask: string
      readonly purpose: 'suggest' | 'judge'
      readonly turn: number
      readonly model: string
      readonly timeoutMs: number
      readonly system: string
      readonly user: string
    }
  | { readonly do: 'cancel-model'; readonly ask: string; readonly why: string }
  | {
      readonly do: 'submit'
      readonly as: 'plugin'
      readonly round: number
      readonly of: number
      readonly offer: string
      readonly turn: number
      readonly text: string
    }
  | { readonly do: 'submit'; readonly as: 'person'; readonly offer: string; readonly turn: number; readonly text: string }
  | { readonly do: 'withdraw'; readonly offer: string; readonly why: string }
  | { readonly do: 'verdict'; readonly offer: string; readonly admit: boolean; readonly why: string }
  | { readonly do: 'displace-goal'; readonly action: string; readonly goal: GoalIdentity }
  | { readonly do: 'run-check'; readonly check: string; readonly command: string; readonly timeoutMs: number }
  | { readonly do: 'cancel-check'; readonly check: string; readonly why: string }
  | ({ readonly do: 'loop' } & LoopLine)
  | { readonly do: 'status'; readonly text: string | null }
  | { readonly do: 'notify'; readonly level: 'info' | 'warning'; readonly text: string }
  | {
      readonly do: 'ledger'
      readonly what: string
      readonly reason: string
      readonly turn: number | null
      readonly gen: string | null
      readonly detail?: Readonly<Record<string, string | number>>
    }
  | ({ readonly do: 'reply'; readonly name: CommandName; readonly id?: string; readonly ok: boolean } & Readonly<
      Record<string, unknown>
    >)
  | { readonly do: 'wake'; readonly key: string; readonly due: number }
  | { readonly do: 'cancel-wake'; readonly key: string }
  | { readonly do: 'release-lease' }
  | { readonly do: 'set-model'; readonly override: string | null }

export interface StepResult extends SessionValue {
  readonly effects: readonly Effect[]
}
