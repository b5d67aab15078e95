/** Everything that a model reads from companion, and the lines of the ledger. Only slots vary. */
import { clip } from '../text/clip.ts'
import { shownConfidence } from './confidence.ts'
import type { Candidate, Intent } from './types.ts'

export interface Drift {
  readonly file: string
  readonly reason: string
  readonly expected: number
  readonly actual: number
}

const lastLines: Readonly<Record<string, string>> = {
  Tests: 'note: these tests exercise what changed; update them if its behaviour moved.',
  Docs: 'note: these documents speak of what changed; check that they still hold.',
  Partners: 'note: history says these change together; check whether this change needs them too.',
  Changelog: 'note: code commits here usually add a line; add one if a user would notice this change.',
}
const otherLastLine = 'note: these usually travel with the change; check whether this one needs them.'
const countedLine = 'note: these numbers were counted; correct the text, or the code if the text is right.'
const playformLine =
  'note: the smoke claims drifted from the tree; fix the README count, the suite file or the roster - Target/ is never edited.'

const maxSummary = 120
export const maxHoldChars = 900
const maxHoldLines = 7

/** What a note lists, and how it says so. */
export interface Listed {
  readonly text: string
  readonly summary: string
  /** How many of the given ones fit. */
  readonly count: number
}

interface Limits {
  readonly maxCandidates: number
  readonly maxNoteChars: number
}

export function finderNote(label: string, intent: Intent, candidates: readonly Candidate[], limits: Limits): Listed {
  const k = candidates[0]!.k
  const lines = candidates.map(({ path, missing, because }) => {
    const name = `- ${path}${missing ? ' (missing)' : ''}`
    return { whole: `${name} - because ${because.join('; ')}`, short: name }
  })
  return note(label, intent.id, k, lines, Object.hasOwn(lastLines, intent.id) ? lastLines[intent.id]! : otherLastLine, limits)
}

/** @param fired - ids of the signals that matched, in the order of the vocabulary. */
export function targetNote(
  label: string,
  intent: Intent,
  k: number,
  targets: readonly string[],
  fired: readonly string[],
  limits: Limits,
): Listed {
  const lines = targets.map(target => ({ whole: `- ${target}`, short: `- ${target}` }))
  const last = `note: because ${fired.join(', ')}; check these before you call the work done.`
  return note(label, intent.id, k, lines, last, limits)
}

function note(
  label: string,
  intent: string,
  k: number,
  lines: readonly { readonly whole: string; readonly short: string }[],
  last: string,
  { maxCandidates, maxNoteChars }: Limits,
): Listed {
  const shown = shownConfidence(k)
  const textOf = (listed: readonly string[]) =>
    [`[${label}] intent=${intent} confidence=${shown} candidates=${listed.length}`, ...listed, last].join('\n')
  let listed = lines.slice(0, maxCandidates).map(line => line.whole)
  while (listed.length > 1 && textOf(listed).length > maxNoteChars) listed = listed.slice(0, -1)
  if (listed.length === 1 && textOf(listed).length > maxNoteChars) listed = [lines[0]!.short]
  return { text: textOf(listed), summary: clip(`${intent} ${shown}`, maxSummary), count: listed.length }
}

export interface Totals {
  readonly package: string
  readonly expected: number
  readonly actual: number
}

export function reconciliationNote(
  label: string,
  of: Totals,
  drifts: readonly Drift[],
  isPlayform: boolean,
  maxNoteChars: number,
): Omit<Listed, 'count'> {
  const head = `[${label}] reconciliation package=${of.package} drifts=${drifts.length} expected=${of.expected} actual=${of.actual}`
  const last = isPlayform ? playformLine : countedLine
  const lines = drifts.map(
    ({ file, reason, expected, actual }) => `- ${file} - ${reason} (expected ${expected}, actual ${actual})`,
  )
  const textOf = (count: number) => {
    const more = drifts.length - count
    return [head, ...lines.slice(0, count), ...(more > 0 ? [`- +${more} more`] : []), last].join('\n')
  }
  let count = lines.length
  while (count > 0 && textOf(count).length > maxNoteChars) count--
  return { text: textOf(count), summary: clip(`Reconciliation ${drifts.length} drifts`, maxSummary) }
}

/** Asked of an agent that would stop. `null`: nothing is open. */
export function holdText(
  label: string,
  open: readonly { readonly path: string; readonly for: string }[],
  drifts: readonly Pick<Drift, 'file' | 'reason'>[],
): string | null {
  const lines = [
    ...open.map(pair => `- ${pair.path} - for ${pair.for}`),
    ...drifts.map(({ file, reason }) => `- ${file} - ${reason}`),
  ]
  if (lines.length === 0) return null
  const head = `[${label}] before you stop: ${lines.length} companions of this turn's changes were not touched.`
  const last = 'Touch them, or say in one sentence why they may stay.'
  let count = Math.min(lines.length, maxHoldLines)
  const textOf = () => [head, ...lines.slice(0, count), last].join('\n')
  while (count > 0 && textOf().length > maxHoldChars) count--
  return textOf()
}

/** Lines of the ledger behind their prefix; tests and people rely on every byte. */
export const lines = {
  activated: (bundle: string, intents: number, threshold: number) =>
    `activated (bundle ${bundle}, intents ${intents}, threshold ${threshold})`,
  disabled: 'disabled (enabled=false)',
  suggest: (intent: string, k: number, n: number, tool: string) =>
    `suggest ${intent} ${shownConfidence(k)} ${n} candidates call ${tool}`,
  ambiguous: (intent: string, k: number) => `abstained ambiguous ${intent} ${shownConfidence(k)}`,
  noCompanions: (intent: string, k: number) => `abstained no-companions ${intent} ${shownConfidence(k)}`,
  travelling: (intent: string, k: number) => `abstained travelling ${intent} ${shownConfidence(k)}`,
  /** The intent is not known yet: its place stays empty. */
  foreign: 'abstained foreign-workspace  0.00',
  suppressed: (why: 'cooldown' | 'cap' | 'deduped' | 'struck', intent: string) => `suppressed ${why} ${intent}`,
  clear: (of: Totals) => `reconciliation clear ${of.package} (${of.expected} expected, ${of.actual} actual)`,
  drift: (of: Totals, drifts: number, tool: string) =>
    `reconciliation drift ${drifts} drifts ${of.package} (${of.expected} expected, ${of.actual} actual) call ${tool}`,
  skipped: (why: 'deduped' | 'cooldown' | 'cap', name: string) => `reconciliation skipped ${why} ${name}`,
  packIgnored: (layer: string, code: string) => `pack ${layer} ignored ${code}`,
  unreachable: (intent: string, gate: number, most: number) =>
    `unreachable ${intent} gate ${shownConfidence(gate)} max ${shownConfidence(most)}`,
  failed: (step: string, message: string) => `failed ${step} ${clip(message.replace(/\s+/g, ' '), 160)}`,
} as const
