/**
 * What happened in a session, in words no host owns. Doors and log readers translate into these;
 * engines read them and ignore kinds and fields they do not know. The union is closed and its home
 * is here; fields are only added (source: the session ring of `docs/architecture.md`).
 */

export type By = 'person' | 'host' | 'plugin' | 'goal'

export type TurnEndReason = 'completed' | 'aborted' | 'error' | 'max-tokens' | 'blocked' | 'refused' | 'interrupted'

export interface Todo {
  readonly text: string
  readonly state: 'pending' | 'in_progress' | 'completed'
}

export interface AgentRef {
  readonly id: string
  readonly name?: string
  readonly type: string
  readonly status: string
  readonly description?: string
}

export interface Usage {
  readonly input: number
  readonly output: number
}

/** On every event: whose it is, and when. */
interface Base {
  readonly session: string
  /** Absolute root of the project. */
  readonly project: string
  /** ms since the epoch, the host's clock. */
  readonly at: number
  /** Set: a helper agent's, not the main loop's. */
  readonly agent?: string
}

export type SessionStarted = Base & {
  readonly kind: 'session-started'
  readonly source: 'startup' | 'resume' | 'clear' | 'fork' | 'compact'
  /** The session that this process showed until now; left out when the door does not know it. */
  readonly previous?: string
  readonly title?: string
  readonly model?: string
  readonly contextWindow?: number
  readonly cwd?: string
  readonly root?: string
  readonly interactive?: boolean
  readonly mounted?: boolean
  readonly starter?: boolean
  readonly child?: boolean
}

export type ToolFinished = Base & {
  readonly kind: 'tool-finished'
  readonly turn: number | null
  readonly call: string
  /** Root call of a call made inside a program. */
  readonly parent?: string
  /** Canonical name (`session/tools.ts`). */
  readonly tool: string
  readonly input: unknown
  readonly ok: boolean
  readonly output: string
  /** Shell tools only. */
  readonly exit?: number | null
  /** Project-relative with `/`; absolute outside. */
  readonly read?: readonly string[]
  readonly written?: readonly string[]
  readonly cwd?: string
}

/** The agent would stop now: a `hold-stop` keeps it going. */
export type TurnEnding = Base & {
  readonly kind: 'turn-ending'
  readonly turn: number
  readonly turnId?: string
  readonly answer: string
  /** It was held before in this turn. */
  readonly again: boolean
}

export type TurnEnded = Base & {
  readonly kind: 'turn-ended'
  readonly turn: number
  readonly turnId?: string
  readonly reason: TurnEndReason
  /** Text of the turn's last assistant message. */
  readonly answer: string
  /** Texts of its previous ones, oldest first. */
  readonly earlier?: readonly string[]
  readonly usage?: Usage
  readonly mark?: string
}

export type SessionEvent =
  | SessionStarted
  | (Base & { readonly kind: 'title-changed'; readonly title: string; readonly by?: 'person' | 'generated' })
  | (Base & { readonly kind: 'person-spoke'; readonly text: string })
  | (Base & { readonly kind: 'draft-changed'; readonly empty: boolean })
  | (Base & {
      readonly kind: 'turn-started'
      readonly turn: number
      readonly turnId?: string
      readonly by: By
      readonly offer?: string
    })
  | ToolFinished
  | (Base & { readonly kind: 'file-changed'; readonly path: string; readonly by: 'agent' | 'outside' })
  | (Base & { readonly kind: 'turn-starting'; readonly offer: string; readonly withPerson?: boolean })
  | TurnEnding
  | TurnEnded
  | (Base & {
      readonly kind: 'context-measured'
      readonly tokens: number
      readonly window: number
      readonly compactsAt?: number
      readonly percent?: number
    })
  | (Base & {
      readonly kind: 'goal-changed'
      readonly goal: string | null
      readonly id?: string
      readonly revision?: number
      readonly phase?: string
      readonly activation?: string
      readonly operation?: string
    })
  | (Base & {
      readonly kind: 'work-changed'
      readonly draining?: boolean
      readonly queued?: number
      readonly approvals?: number
      readonly questions?: number
      readonly children?: number
      readonly jobs?: number
      readonly otherLoop?: boolean
      readonly planMode?: boolean
    })
  | (Base & { readonly kind: 'todos-changed'; readonly todos: readonly Todo[] })
  | (Base & { readonly kind: 'agents-listed'; readonly agents: readonly AgentRef[]; readonly timedOut?: boolean })
  | (Base & { readonly kind: 'compacted'; readonly trigger?: string })
  | (Base & { readonly kind: 'command-run'; readonly name: string; readonly args: string; readonly by: By })
  | (Base & { readonly kind: 'model-answered'; readonly ask: string; readonly text: string; readonly usage?: Usage })
  | (Base & { readonly kind: 'model-failed'; readonly ask: string; readonly reason: string; readonly message?: string })
  | (Base & {
      readonly kind: 'check-finished'
      readonly check: string
      readonly exit: number | null
      readonly timedOut?: boolean
      readonly output: string
    })
  | (Base & { readonly kind: 'submit-failed'; readonly offer: string; readonly message: string })
  | (Base & { readonly kind: 'action-failed'; readonly action: string; readonly reason: string })
  | (Base & { readonly kind: 'action-done'; readonly action: string })
  /** The runtime's own: a `wake` action came due. Never printed. */
  | (Base & { readonly kind: 'woke'; readonly key: string })
  | (Base & { readonly kind: 'session-ended'; readonly reason: string })

export type EventKind = SessionEvent['kind']
export type EventOf<K extends EventKind> = Extract<SessionEvent, { readonly kind: K }>
