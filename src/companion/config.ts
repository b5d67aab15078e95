/** The settings when nobody says anything, by profile, and what the profile's name stands for. */
import type { ReplacedSource } from '../session/actions.ts'
import type { CompanionConfig, Compat, ParityName } from './types.ts'

export type ProfileDefaults = Omit<CompanionConfig, 'compat'>

const general: ProfileDefaults = {
  log: true,
  logFile: '',
  enabled: true,
  threshold: null,
  maxCandidates: 7,
  maxNoteChars: 1_200,
  cooldownCalls: 6,
  maxNotesPerTurn: 3,
  intents: [],
  emitOn: ['@writes', '@runs'],
  exclude: ['node_modules', 'Target', '.git', 'dist'],
  parity: [],
  evidence: [],
  observe: true,
  wholeRuns: [],
  refillCalls: 25,
  maxStrikes: 2,
  atTurnEnd: 'status',
  yieldToKeel: true,
  history: { commits: 2_000, days: 730, maxFiles: 30, minSupport: 3, minConfidence: 0.3, minLift: 1.5, minCommits: 10 },
}

export interface Identity {
  /** In notes, and before every line of the ledger. */
  readonly label: string
  /** Kind of its messages in a host that keeps kinds; `null`: the engine's own. */
  readonly source: ReplacedSource | null
  /** Where the text log is when nobody says, below the home folder; empty: none. */
  readonly logFile: string
  /** In the line that says it is on; `null`: the package's version. */
  readonly bundle: string | null
}

/** The hook that the playform profile replaces. */
const replaced = 'test-suggester' satisfies ReplacedSource

/** One name a profile: the label, the row, the module and the log file follow from it. */
export const identities: Readonly<Record<Compat, Identity>> = {
  none: { label: 'companion', source: null, logFile: '', bundle: null },
  playform: {
    label: replaced,
    source: replaced,
    logFile: `~/.dsh/playform/hook-dsh-${replaced}.log`,
    bundle: '0.2.1',
  },
}

export const profileDefaults: Readonly<Record<Compat, ProfileDefaults>> = {
  none: general,
  playform: {
    ...general,
    logFile: identities.playform.logFile,
    emitOn: ['bash', 'glob', 'grep', 'read'],
    observe: false,
    refillCalls: 0,
    maxStrikes: 0,
    atTurnEnd: 'off',
  },
}

export const defaultConfig: CompanionConfig = { compat: 'none', ...general }

export const parityNames: readonly ParityName[] = ['gate', 'exclude', 'count', 'suite', 'reset', 'stubs', 'self', 'calls']

/** Is this departure from the older hook read literally here? */
export const isLiteral = ({ parity }: CompanionConfig, name: ParityName): boolean =>
  parity.includes(name) || parity.includes('all')
