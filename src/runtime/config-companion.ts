/** companion's section of the configuration: every key with its range, its default and whose value counts. */
import { parityNames, profileDefaults } from '../companion/config.ts'
import type { CompanionConfig, Compat } from '../companion/types.ts'
import type { Json } from '../ports/json.ts'
import { type ConfigKey, choice, integer, texts, toggle } from './config-keys.ts'

const d = profileDefaults.none

/** `null` stands for "not set": the default is the profile's. */
function open(key: ConfigKey, shown: Json): ConfigKey {
  return { ...key, default: null, shown }
}

function number(path: string, min: number, max: number, shown: number, about: string): ConfigKey {
  const allowed = `a number from ${min} to ${max}`
  const isFine = (value: Json) => typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max
  return {
    path,
    precedence: 'person-first',
    default: null,
    shown,
    allowed,
    check: value => (isFine(value) ? undefined : allowed),
    about,
  }
}

function whole(path: string, min: number, max: number, shown: number, about: string): ConfigKey {
  return open(integer(path, min, max, { precedence: 'person-first', default: shown, about }), shown)
}

function list(path: string, what: string, isItem: (item: string) => boolean, shown: readonly string[], about: string): ConfigKey {
  const precedence = path === 'exclude' ? 'union' : 'person-first'
  return open(texts(path, 200, what, isItem, { precedence, default: [...shown], about }), [...shown])
}

function turn(path: string, shown: boolean, about: string): ConfigKey {
  return open(toggle(path, { precedence: 'person-first', default: shown, about }), shown)
}

const isName = (item: string) => item.trim() !== '' && item.length <= 200
const isSegments = (item: string) => isName(item) && !item.split(/[\\/]/).includes('..')

const logFile: ConfigKey = {
  path: 'logFile',
  precedence: 'person-first',
  default: null,
  shown: d.logFile,
  allowed: 'a path, or an empty text',
  check: value =>
    typeof value === 'string' && value.length <= 4_096 && !value.includes('\0') ? undefined : 'a path, or an empty text',
  about: 'A text file that gets every line of the ledger too.',
}

export const companionKeys: readonly ConfigKey[] = [
  choice('compat', ['none', 'playform'], {
    precedence: 'person-first',
    default: 'none',
    about: 'playform: the layout and the texts of the hook that this profile replaces.',
  }),
  turn('log', d.log, 'Write what was said and held back into the ledger.'),
  logFile,
  turn('enabled', d.enabled, 'false says nothing and judges nothing.'),
  number('threshold', 0, 1, 0.75, 'Raises the confidence that a note needs; counts only when somebody sets it.'),
  whole('maxCandidates', 1, 50, d.maxCandidates, 'Files that a note lists at most.'),
  whole('maxNoteChars', 200, 8_000, d.maxNoteChars, 'Length of a note.'),
  whole('cooldownCalls', 0, 1_000, d.cooldownCalls, 'Judged calls for which a kind of note rests after one; 0 never.'),
  whole('maxNotesPerTurn', 0, 100, d.maxNotesPerTurn, 'Notes between two words of the person.'),
  list('intents', 'ids of intents', isName, d.intents, 'Only these kinds of notes; none means all.'),
  list('emitOn', 'names of tools, @writes or @runs', isName, d.emitOn, 'Calls that are judged.'),
  list('exclude', 'names of folders or files', isSegments, d.exclude, 'Never judged and never named.'),
  list(
    'parity',
    `of ${parityNames.join(', ')}, all`,
    item => item === 'all' || parityNames.some(name => name === item),
    d.parity,
    'Literal readings of the older hook.',
  ),
  list('evidence', 'ids of signals', isName, d.evidence, 'Only these signals count; none means all.'),
  turn('observe', d.observe, 'Test runs that were seen may refute what documents say.'),
  list('wholeRuns', 'command lines', isName, d.wholeRuns, 'Command lines that run every test.'),
  whole('refillCalls', 0, 1_000, d.refillCalls, 'Judged calls without a person after which notes count anew; 0 never.'),
  whole('maxStrikes', 0, 10, d.maxStrikes, 'Notes without effect after which a kind rests; 0 never.'),
  open(
    choice('atTurnEnd', ['off', 'status', 'hold'], {
      precedence: 'person-first',
      default: d.atTurnEnd,
      about: 'Show what is open at the end of a turn, or hold it once.',
    }),
    d.atTurnEnd,
  ),
  turn('yieldToKeel', d.yieldToKeel, 'Leave to keel what keel told in the same turn.'),
  whole('history.commits', 0, 100_000, d.history.commits, 'Commits that are looked at.'),
  whole('history.days', 1, 36_500, d.history.days, 'How old they may be.'),
  whole('history.maxFiles', 2, 1_000, d.history.maxFiles, 'A commit with more files says nothing.'),
  whole('history.minSupport', 1, 1_000, d.history.minSupport, 'Commits that two files must share.'),
  number('history.minConfidence', 0, 1, d.history.minConfidence, 'Share of the commits of one file that have the other.'),
  number('history.minLift', 0, 1_000, d.history.minLift, 'How much more often than by chance.'),
  whole('history.minCommits', 1, 100_000, d.history.minCommits, 'With fewer commits history says nothing.'),
]

/** @param section - the resolved section; what it lacks has the default of its profile. */
export function companionConfig(section: Readonly<Record<string, Json>>): CompanionConfig {
  const compat = (section['compat'] ?? 'none') as Compat
  const defaults = profileDefaults[compat]
  const merge = <T extends object>(base: T, given: Readonly<Record<string, Json>>): T => {
    const merged = { ...base } as Record<string, unknown>
    for (const key of Object.keys(base)) {
      const value = given[key]
      if (value !== undefined && value !== null && key !== 'history') merged[key] = value
    }
    return merged as T
  }
  const history = merge(defaults.history, (section['history'] ?? {}) as Readonly<Record<string, Json>>)
  return { compat, ...merge(defaults, section), history }
}
