/** What next-step keeps and hands around: the stored row of an offer, the loop of one process, the configuration. */

export type Intent = 'worker-step' | 'goal-edit'
export type RowStatus = 'off' | 'analyzing' | 'ready' | 'quiet' | 'failed' | 'consumed' | 'superseded'

export interface GoalIdentity {
  readonly id: string
  readonly revision: number
}

/** The stored record of one offer; one a session, the newest wins. */
export interface Row {
  readonly v: 1
  /** The door's number of the ended turn. */
  readonly turn: number | null
  /** Names the offer everywhere; fresh at each claim. */
  readonly gen: string | null
  readonly status: RowStatus
  /** Empty where there is none. */
  readonly text: string
  readonly intent: Intent
  readonly via: 'model' | 'local' | null
  /** The goal when the turn was claimed. */
  readonly goal: GoalIdentity | null
  readonly reason: string | null
  /** At most 200 characters. */
  readonly error: string | null
  readonly by: 'autorun' | 'person' | null
  /** ISO 8601. */
  readonly at: string
}

export interface Goal extends GoalIdentity {
  readonly objective: string
  readonly phase: 'active' | 'paused' | 'blocked' | 'complete'
  readonly activation: 'armed' | 'disarmed'
}

/** What a person allowed when arming; always finite. */
export interface Grant {
  /** 1–256. */
  readonly rounds: number
  /** 10,000–100,000,000. */
  readonly tokens: number
  readonly ms: number
  readonly until: string | null
  readonly judge: boolean
  readonly goOn: boolean
  readonly allowRisky: boolean
}

export interface Spent {
  readonly rounds: number
  readonly tokens: number
  readonly ms: number
}

/** One fired round; `isIdle` and `hasProgress` are known when its turn ended. */
export interface Round {
  readonly gen: string
  readonly text: string
  readonly isOver: boolean
  readonly isIdle: boolean
  readonly hasProgress: boolean
}

/** The armed loop of one session in one process. Never stored. */
export interface Loop {
  readonly grant: Grant
  readonly spent: { readonly rounds: number; readonly tokens: number }
  /** ms since the epoch. */
  readonly armedAt: number
  /** The host's own driver of the goal was switched off for this loop. */
  readonly hasDisplaced: boolean
  readonly hold: string | null
  readonly rounds: readonly Round[]
  /** Marks seen in this grant. */
  readonly marks: readonly string[]
  /** Most todos that were completed at once. */
  readonly todosDone: number
  readonly goal: GoalIdentity | null
  /** Similar offers in a row, and the offer that was counted last. */
  readonly repeats: number
  readonly repeatOf: string | null
  /** `gen reason` of holds that the ledger has. */
  readonly told: readonly string[]
  /** The turn that was checked last, and what came of it. */
  readonly checkedTurn: number | null
  readonly checkTimeouts: number
  /** The turn that was judged last. */
  readonly judgedTurn: number | null
  readonly judgeFailures: number
}

/** A message of ours that has not begun its turn. */
export interface Pending {
  readonly gen: string
  readonly turn: number
  readonly by: 'autorun' | 'person'
  readonly isAdmitted: boolean
}

/** A claim that waits for its check or its model. */
export interface Generation {
  readonly gen: string
  readonly turn: number
  /** The model was asked. */
  readonly isAsked: boolean
}

export interface LastCheck {
  readonly command: string
  readonly exit: number | null
  readonly timedOut: boolean
  /** At most the last 2,000 characters, masked. */
  readonly output: string
}

/** What one process knows of one session beside the stored part. Gone with the process. */
export interface Local {
  readonly loop: Loop | null
  /** Why the last loop ended. */
  readonly stopped: string | null
  /** What the last loop spent. */
  readonly lastSpent: Spent
  readonly lastGrant: Grant | null
  readonly generation: Generation | null
  readonly pending: Pending | null
  /** The fired offer whose turn is open. */
  readonly running: string | null
  readonly check: { readonly id: string; readonly turn: number } | null
  readonly judge: { readonly id: string; readonly turn: number } | null
  readonly lastCheck: LastCheck | null
  /** Of the newest turn that had one. */
  readonly lastMark: string | null
  /** Turns that loops of this process started in this session. */
  readonly firedInAll: number
  /** Offers that were withdrawn before their turn, and why; newest last. */
  readonly withdrawn: readonly (readonly [gen: string, why: string])[]
  /** Reason of the last `skip` for eligibility. */
  readonly skipped: string | null
  readonly status: string | null
  /** Arm waits for the host's answer about its goal driver. */
  readonly displacing: { readonly action: string; readonly command: ArmReply } | null
}

export interface ArmReply {
  readonly id?: string
  readonly already: boolean
}

export interface ArmedNote {
  readonly owner: string
  /** ISO 8601. */
  readonly since: string
  /** Rounds so far, of how many. */
  readonly rounds: number
  readonly of: number
}

/** What survives the process. */
export interface Stored {
  readonly row: Row | null
  readonly off: boolean
  /** Of a claim that is not answered, a fire that has not started, or an armed loop. */
  readonly owner: string | null
  /** A loop is armed: a note for telling why it ended, never read to arm one. */
  readonly note: ArmedNote | null
  /** The row's fire has not begun its turn. */
  readonly isUnstarted: boolean
  /** Claims of a turn that no person asked for. */
  readonly claims: { readonly turn: number; readonly count: number }
  /** Texts of the last fired and the last dismissed offers, oldest first. */
  readonly fired: readonly string[]
  readonly declined: readonly string[]
  /** The newest turn, for a process that has not heard it. */
  readonly newest: NewestTurn | null
}

export interface NewestTurn {
  readonly turn: number
  readonly isOpen: boolean
  /** `null` while it is open. */
  readonly reason: string | null
}

export interface NextConfig {
  /** Empty, or `provider/model`. */
  readonly model: string
  readonly local: boolean
  readonly prefer: 'model' | 'local'
  readonly maxChars: number
  readonly contextChars: number
  readonly timeoutMs: number
  readonly maxRounds: number
  readonly maxTokens: number
  readonly maxMinutes: number
  readonly flatRounds: number
  readonly judgeModel: string
  readonly risk: 'hold' | 'allow'
  readonly checkTimeoutMs: number
}

export const defaultNextConfig: NextConfig = {
  model: '',
  local: true,
  prefer: 'model',
  maxChars: 240,
  contextChars: 12_000,
  timeoutMs: 20_000,
  maxRounds: 8,
  maxTokens: 2_000_000,
  maxMinutes: 60,
  flatRounds: 4,
  judgeModel: '',
  risk: 'hold',
  checkTimeoutMs: 300_000,
}

/** Ranges of the numbers, ends included. */
export const ranges: Readonly<Record<NumberKey, readonly [min: number, max: number]>> = {
  maxChars: [40, 1_000],
  contextChars: [1_000, 200_000],
  timeoutMs: [1_000, 120_000],
  maxRounds: [1, 256],
  maxTokens: [10_000, 100_000_000],
  maxMinutes: [1, 1_440],
  flatRounds: [2, 32],
  checkTimeoutMs: [1_000, 600_000],
}

export type NumberKey =
  | 'maxChars'
  | 'contextChars'
  | 'timeoutMs'
  | 'maxRounds'
  | 'maxTokens'
  | 'maxMinutes'
  | 'flatRounds'
  | 'checkTimeoutMs'

/** `provider/model`, split at the first `/`. */
export const isModelName = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s/]{1,100}\/[^\s]{1,200}$/.test(value)

export const sameGoal = (one: GoalIdentity | null, other: GoalIdentity | null): boolean =>
  one === null || other === null ? one === other : one.id === other.id && one.revision === other.revision

export const identityOf = (goal: Goal | null): GoalIdentity | null =>
  goal === null ? null : { id: goal.id, revision: goal.revision }

export const noLocal: Local = {
  loop: null,
  stopped: null,
  lastSpent: { rounds: 0, tokens: 0, ms: 0 },
  lastGrant: null,
  generation: null,
  pending: null,
  running: null,
  check: null,
  judge: null,
  lastCheck: null,
  lastMark: null,
  firedInAll: 0,
  withdrawn: [],
  skipped: null,
  status: null,
  displacing: null,
}

export const noStored: Stored = {
  row: null,
  off: false,
  owner: null,
  note: null,
  isUnstarted: false,
  claims: { turn: 0, count: 0 },
  fired: [],
  declined: [],
  newest: null,
}
