/** `log`: who reviewed what, when and why, from the journal that lies with the project. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import type { KeelDeps } from '../deps.ts'
import { logText } from '../report/text.ts'
import type { JournalRecord, KeelProject, LegacyRecord, StampKind } from '../types.ts'
import { type Answer, decoder, inTurn, isBelow, isOn, type KeelVerbs, projectPath } from './shared.ts'

export interface LogInput {
  readonly path?: string
  readonly since?: string
  readonly kind?: StampKind
}

export interface LogOutput extends Answer {
  /** Oldest first; rows of an older tool's journal stand first. */
  readonly records: readonly (JournalRecord | LegacyRecord)[]
  readonly unreadable: number
  readonly degraded: readonly string[]
}

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'only this document or source, or what lies below this folder', maxLength: 4096 },
    since: { type: 'string', description: 'only from this time on: ISO 8601, or an age as 7d, 12h, 30m', maxLength: 40 },
    kind: {
      type: 'string',
      description: 'only gestures of this kind',
      enum: ['stamp', 'ok', 'updated', 'manual', 'carry', 'fix'],
    },
  },
  additionalProperties: false,
} as const

export function logOperation(verbs: KeelVerbs): Operation<LogInput, LogOutput> {
  return {
    name: 'keel.log',
    summary: 'Lists the reviews of this project: what was stamped, acknowledged or fixed, by whom and why.',
    input,
    positional: ['path'],
    readOnly: true,
    decode: decoder<LogInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => log(keel, deps, given, caller)),
    render: logText,
    examples: ['outrigger keel log --since 7d', 'outrigger keel log docs/quick.md --kind ok --json'],
  }
}

async function log(keel: KeelProject, deps: KeelDeps, given: LogInput, caller: Caller): Promise<LogOutput> {
  const { records, legacy, unreadable, degraded } = keel.journal()
  const path = given.path === undefined ? undefined : projectPath(given.path, keel, deps, caller)
  const since = given.since === undefined ? undefined : timeOf(given.since, deps.clock.now())
  const isWanted = (record: JournalRecord | LegacyRecord): boolean =>
    (path === undefined || isAbout(record, path)) &&
    (since === undefined || (record.at !== null && Date.parse(record.at) >= since)) &&
    (given.kind === undefined || ('kind' in record && record.kind === given.kind))
  return { on: isOn(keel), records: [...legacy, ...records].filter(isWanted), unreadable, degraded }
}

function isAbout({ child, source }: JournalRecord | LegacyRecord, path: string): boolean {
  if (child !== null && isBelow(child, [path])) return true
  return source !== null && (source === path || source.startsWith(`${path}#`) || source.startsWith(`${path}/`))
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const

/** ms since the epoch. */
function timeOf(text: string, now: number): number {
  const age = /^(\d{1,6})([dhm])$/.exec(text)
  if (age !== null) return now - Number(age[1]) * units[age[2] as keyof typeof units]
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return at
  throw new OutriggerError('BAD_INPUT', `"${text}" is no time`, {
    subject: 'since',
    hint: 'give a date as 2026-01-31, a time as 2026-01-31T12:00:00Z, or an age as 7d, 12h, 30m',
  })
}
