/** pack's section of the configuration: every key with its range, its default and whose value counts. */
import { OutriggerError } from '../errors.ts'
import { defaultPackConfig, type PackConfig } from '../pack/types.ts'
import type { Json } from '../ports/json.ts'
import type { ExtraRule } from '../text/redact.ts'
import { type ConfigKey, choice, integer, texts, toggle } from './config-keys.ts'

const d = defaultPackConfig

function turn(path: 'enabled' | 'teach' | 'afterCompaction', about: string): ConfigKey {
  return toggle(path, { precedence: 'person-first', default: d[path], about })
}

function amount(path: string, min: number, max: number, otherwise: number, about: string): ConfigKey {
  return integer(path, min, max, { precedence: 'person-first', default: otherwise, about })
}

function share(path: string, min: number, max: number, otherwise: number, about: string): ConfigKey {
  const allowed = `a number from ${min} to ${max}`
  const isFine = (value: Json): boolean => typeof value === 'number' && value >= min && value <= max
  return {
    path,
    precedence: 'person-first',
    default: otherwise,
    allowed,
    check: value => (isFine(value) ? undefined : allowed),
    about,
  }
}

const ruleAllowed = 'a list of at most 20 rules {name: lower-case letters and -, prefix: 3–40 characters, min: 8–200}'

function isRule(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { name, prefix, min, ...rest } = value as Readonly<Record<string, Json>>
  return (
    Object.keys(rest).length === 0 &&
    typeof name === 'string' &&
    /^[a-z-]{2,30}$/.test(name) &&
    typeof prefix === 'string' &&
    prefix.length >= 3 &&
    prefix.length <= 40 &&
    Number.isSafeInteger(min) &&
    (min as number) >= 8 &&
    (min as number) <= 200
  )
}

export const packKeys: readonly ConfigKey[] = [
  turn('enabled', 'false captures and saves nothing by itself; the verbs work.'),
  turn('teach', 'Tell the model at a start how checkpoints are written.'),
  turn('afterCompaction', 'Give the notes again when the host has compacted the context.'),
  amount('maxChars', 2_000, 60_000, d.maxChars, 'Characters of the notes.'),
  amount('maxTokens', 600, 20_000, d.maxTokens, 'Estimated tokens of the notes.'),
  amount('lineMax', 120, 4_000, d.lineMax, 'Characters of one line of the notes.'),
  amount('history', 1, 200, d.history, 'Earlier notes that are kept.'),
  share('zones.strong', 0.05, 0.95, d.zones.strong, 'Share of the window at which a closed task is a good place to go on fresh.'),
  share('zones.soft', 0.05, 0.95, d.zones.soft, 'Share at which a decision is one, too.'),
  share('zones.hard', 0.05, 0.95, d.zones.hard, 'Share at which the notes are saved without being asked.'),
  share('zones.wallCap', 0.5, 1, d.zones.wallCap, 'The same as a share of where the host compacts, where it says so.'),
  amount('auto.graceMs', 3_000, 120_000, d.auto.graceMs, 'How long auto mode counts down before it goes on fresh.'),
  amount('auto.tries', 1, 10, d.auto.tries, 'Failed saves after which auto mode rests.'),
  choice('designate', ['session', 'aside', 'off'], {
    precedence: 'person-first',
    default: d.designate,
    about: 'Ask a model what to add, change and retire: with the conversation, without it, or not at all.',
  }),
  amount('designateTimeoutMs', 5_000, 600_000, d.designateTimeoutMs, 'How long it may take.'),
  amount('designateMaxTokens', 500, 16_000, d.designateMaxTokens, 'How much it may answer.'),
  choice('reinject', ['context', 'message'], {
    precedence: 'person-first',
    default: d.reinject,
    about: 'How a fresh session gets the notes: as context, or as a message that it answers.',
  }),
  amount('pendingTtlMs', 60_000, 3_600_000, d.pendingTtlMs, 'How long a prepared fresh start is good.'),
  choice('trust', ['ask', 'always'], {
    precedence: 'person-file',
    default: d.trust,
    about: 'Whether notes that were not written on this machine wait for a person.',
  }),
  texts('testCommands', 50, 'commands', item => item.trim() !== '' && item.length <= 200, {
    precedence: 'union',
    default: [],
    about: 'Commands that run tests, beside the known ones.',
  }),
  texts('redact.allow', 100, 'exact texts of at least 12 characters', item => item.length >= 12, {
    precedence: 'union',
    default: [],
    about: 'Texts that look like secrets and are none.',
  }),
  {
    path: 'redact.extra',
    precedence: 'union',
    default: [],
    allowed: ruleAllowed,
    check: value => (Array.isArray(value) && value.length <= 20 && value.every(isRule) ? undefined : ruleAllowed),
    about: 'More secrets: a prefix and how many letters, digits, _ and - follow it at least.',
  },
  {
    path: 'dsh.fresh',
    precedence: 'person-first',
    default: null,
    shown: 'by host',
    allowed: 'by host, new-session, compact or handover',
    check: value =>
      ['by host', 'new-session', 'compact', 'handover'].some(word => word === value)
        ? undefined
        : 'by host, new-session, compact or handover',
    about: 'How DSH goes on fresh.',
  },
]

/** @param section - the resolved section; what it lacks has its default. Throws `PACK_BAD_CONFIG` when the zones do not rise. */
export function packConfig(section: Readonly<Record<string, Json>>): PackConfig {
  const group = (name: string): Readonly<Record<string, Json>> => {
    const value = section[name]
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, Json>>) : {}
  }
  const config = {
    ...d,
    ...section,
    zones: { ...d.zones, ...group('zones') },
    auto: { ...d.auto, ...group('auto') },
    redact: {
      allow: (group('redact')['allow'] ?? []) as readonly string[],
      extra: (group('redact')['extra'] ?? []) as unknown as readonly ExtraRule[],
    },
    dsh: { fresh: group('dsh')['fresh'] === 'by host' ? null : (group('dsh')['fresh'] ?? null) },
  } as PackConfig
  const { strong, soft, hard } = config.zones
  if (strong <= soft && soft <= hard) return config
  throw new OutriggerError('PACK_BAD_CONFIG', `the zones of pack must rise: strong ${strong}, soft ${soft}, hard ${hard}`, {
    subject: 'pack.zones',
    hint: 'set strong ≤ soft ≤ hard',
    faults: [{ key: 'pack.zones', message: `must rise: strong ${strong}, soft ${soft}, hard ${hard}` }],
  })
}
