/** The words of companion: its settings, its signals, what it says about a pair of files. */

export type Compat = 'none' | 'playform'

export type ParityName = 'gate' | 'exclude' | 'count' | 'suite' | 'reset' | 'stubs' | 'self' | 'calls'

export interface HistoryConfig {
  readonly commits: number
  readonly days: number
  readonly maxFiles: number
  readonly minSupport: number
  readonly minConfidence: number
  readonly minLift: number
  readonly minCommits: number
}

/** Every key resolved. `threshold: null`: nobody wrote one. */
export interface CompanionConfig {
  readonly compat: Compat
  readonly log: boolean
  /** Empty: the ledger's store only. */
  readonly logFile: string
  readonly enabled: boolean
  readonly threshold: number | null
  readonly maxCandidates: number
  readonly maxNoteChars: number
  readonly cooldownCalls: number
  readonly maxNotesPerTurn: number
  readonly intents: readonly string[]
  readonly emitOn: readonly string[]
  readonly exclude: readonly string[]
  readonly parity: readonly string[]
  readonly evidence: readonly string[]
  readonly observe: boolean
  readonly wholeRuns: readonly string[]
  readonly refillCalls: number
  readonly maxStrikes: number
  readonly atTurnEnd: 'off' | 'status' | 'hold'
  readonly yieldToKeel: boolean
  readonly history: HistoryConfig
}

/** In the order in which contributions are added and ties are broken. */
export const callSignals = ['test-shape', 'path-shape', 'loop-shape', 'count-shape', 'doc-shape'] as const
export const pairSignals = [
  'convention',
  'imports',
  'cochange',
  'mentions',
  'symbol',
  'declared',
  'sibling',
  'unreleased',
  'habit',
] as const

export type CallSignal = (typeof callSignals)[number]
export type PairSignal = (typeof pairSignals)[number]
export type Signal = CallSignal | PairSignal
export const signals: readonly Signal[] = [...callSignals, ...pairSignals]

export type Finder = 'tests' | 'docs' | 'partners' | 'changelog'
export const finders: readonly Finder[] = ['tests', 'docs', 'partners', 'changelog']
export type Domain = 'test' | 'doc' | 'count' | 'release' | 'partner'

export interface WeightedSignal {
  readonly id: Signal
  readonly weight: number
}

export interface Intent {
  readonly id: string
  readonly domain: Domain
  readonly priority: number
  /** `null`: the pack gives none. */
  readonly threshold: number | null
  readonly signals: readonly WeightedSignal[]
  /** Of call signals. */
  readonly targets: readonly string[]
  /** Of pair signals. */
  readonly find: readonly Finder[]
}

/** Where an intent comes from. */
export type Layer = 'user' | 'repo' | 'builtin'

export interface Detail {
  readonly [key: string]: string | number | boolean
}

/** A signal that matched, before weights. */
export interface Match {
  readonly signal: Signal
  /** 0–1. */
  readonly strength: number
  readonly detail: Detail
  /** For the note. */
  readonly reason: string
}

export interface Evidence {
  readonly signal: Signal
  readonly weight: number
  readonly strength: number
  readonly contribution: number
  readonly detail: Detail
}

export interface Candidate {
  readonly path: string
  /** The changed file that it belongs to. */
  readonly for: string
  readonly sum: number
  readonly k: number
  readonly missing: boolean
  readonly because: readonly string[]
  readonly evidence: readonly Evidence[]
}

export type FileClass = 'lock' | 'generated' | 'changelog' | 'doc' | 'test' | 'support' | 'source' | 'config' | 'other'
