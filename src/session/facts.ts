/** What the events of one session add up to (`fold.ts`). From events only: a replay gives the same facts. */
import type { AgentRef, By, Todo } from './events.ts'

export interface Command {
  /** White-space runs are one blank. */
  readonly command: string
  readonly exit: number | null
  readonly at: number
  readonly call: string
  readonly test: boolean
}

export interface FileFact {
  readonly readAt: number | null
  readonly writtenAt: number | null
  /** Who touched it last. */
  readonly by: 'agent' | 'outside'
}

/** One write, in order; marks into this list are what "since" means for every engine. */
export interface Write {
  readonly path: string
  readonly at: number
  readonly turn: number | null
  readonly call: string | null
  readonly agent: string | null
}

/** What keeps a session from being idle. */
export type Busy = 'running' | 'queued' | 'approval' | 'asked' | 'plan-mode' | 'typing' | 'background' | 'other-loop'

export interface SessionFacts {
  readonly session: string
  readonly project: string
  readonly startedAt: number
  readonly lastAt: number
  readonly endedAt: number | null
  readonly source: string
  readonly title: string | null
  readonly model: string | null
  readonly turn: { readonly turn: number; readonly by: By; readonly startedAt: number } | null
  /** Turns that ended. */
  readonly turns: number
  readonly personTurns: number
  readonly context: {
    readonly tokens: number
    readonly window: number
    readonly compactsAt: number | null
    readonly at: number
  } | null
  readonly goal: string | null
  /** Without a prototype: a file named `constructor` is a file. */
  readonly files: Readonly<Record<string, FileFact>>
  /** Newest 50, oldest first. */
  readonly commands: readonly Command[]
  readonly lastTest: Command | null
  readonly todos: readonly Todo[]
  readonly agents: readonly AgentRef[] | null
  readonly compactions: number
  /** First 64 KiB. */
  readonly lastAnswer: string | null
}
