/** What comes of judging one event. */
import type { LedgerLine } from '../../session/engine.ts'
import type { DeclaredBy } from '../deps.ts'
import type { Drift } from '../texts.ts'
import type { Candidate } from '../types.ts'
import type { CompanionState } from './state.ts'

export type AbstainedCode =
  | 'disabled'
  | 'not-a-call'
  | 'sub-call'
  | 'own-call'
  | 'not-judged'
  | 'foreign-workspace'
  | 'failed-call'
  | 'no-signal'
  | 'ambiguous'
  | 'no-companions'
  | 'travelling'
  | 'deduped'
  | 'struck'
  | 'cooldown'
  | 'cap'

export interface Abstained {
  readonly code: AbstainedCode
  readonly intent?: string
  readonly k?: number
}

export interface JudgedNote {
  readonly text: string
  readonly summary: string
  readonly intent: string
  readonly k: number | null
  readonly candidates: readonly Candidate[]
  /** Of a reconciliation. */
  readonly drifts?: readonly Drift[]
}

export interface ReconciliationResult {
  readonly package: string
  /** The root is `.`. */
  readonly dir: string
  readonly drifts: readonly Drift[]
  readonly expected: number
  readonly actual: number
  readonly status: 'clear' | 'note' | 'deduped' | 'cooldown' | 'cap'
}

export interface Judgement {
  readonly state: CompanionState
  readonly judged: boolean
  readonly note: JudgedNote | null
  /** Of the note's action, for the one who carries it. */
  readonly action: string | null
  readonly abstained: Abstained | null
  readonly reconciliation: ReconciliationResult | null
  readonly ledger: readonly LedgerLine[]
}

/** What the moment of a call offers. */
export interface JudgeContext {
  readonly declaredBy: DeclaredBy
  /** Documents that keel told of in the turn that is open. */
  toldByKeel(): ReadonlySet<string>
  newId(): string
}

/** What was said once already since the engine was put on. */
export type Said = Set<string>
