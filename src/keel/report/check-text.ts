/**
 * `check` on one screen: a row for every document that is behind, the counts, and once for each kind of
 * reason what it means and what to do.
 */
import type { Voice } from '../../session/voice.ts'
import { oneLine } from '../../text/data.ts'
import { hintOf, quotedDiff } from '../messages.ts'
import { shown, sourceName } from '../naming.ts'
import type { Edge } from '../types.ts'
import type { CheckInput, CheckOutput, CheckSummary } from '../verbs/check.ts'
import { newsOf } from './news.ts'
import { type ReasonText, reasons, todoOf, unverifiedStates } from './reasons.ts'
import { type Ways, waysOf } from './ways.ts'

/** Rows before the rest is only counted; `--all` shows them. */
const maxRows = 60
const maxUnverifiedRows = 10

export function checkText(output: CheckOutput, input: CheckInput = {}, voice: Voice = 'terminal'): string {
  const ways = waysOf(voice)
  const { summary, suspects, unverified, problems, degraded } = output
  if (summary.children === 0 && problems.length === 0 && summary.outOfRange === 0) return nothingDeclared(input, voice)
  const isAll = input.all === true
  const rows = isAll ? suspects : suspects.slice(0, maxRows)
  const unsure = isAll ? unverified : unverified.slice(0, maxUnverifiedRows)
  const table = [
    ...rows.map(edge => rowOf(edge, edge.reason!)),
    ...unsure.map(edge => rowOf(edge, edge.state)),
    ...problems.map(problem => ({
      place: `${shown(problem.file)}:${problem.line}:${problem.column}`,
      what: problem.level,
      about: `${oneLine(problem.message, 500)} (${problem.code})`,
      more: [] as readonly string[],
    })),
  ]
  const width = widest(table.map(row => row.place))
  const whatWidth = widest(table.map(row => row.what))
  const left = summary.suspect - rows.length
  const unsureLeft = unverified.length - unsure.length
  const out = [
    ...table.flatMap(row => [`${row.place.padEnd(width)}  ${row.what.padEnd(whatWidth)}  ${row.about}`, ...row.more]),
    ...(left > 0 ? [`… and ${left} more that are behind; ${ways.all()}`] : []),
    ...(unsureLeft > 0 ? [`… and ${unsureLeft} more that cannot be checked`] : []),
    ...(table.length > 0 ? [''] : []),
    ...(isAll ? [...restOf(output), ''] : []),
    verdictLine(output, ways),
    ...guidance([...rows, ...unsure], output, voice),
    ...output.cycles.map(cycle => `note: these derive from one another: ${cycle.map(shown).join(', ')}`),
    ...newsOf(degraded).map(note => `degraded: ${note}`),
    ...(output.on ? [] : ['note: keel is off in sessions here']),
  ]
  return out.join('\n')
}

interface Row {
  readonly place: string
  readonly what: string
  readonly about: string
  readonly more: readonly string[]
}

function rowOf(edge: Edge, what: string): Row {
  const hint = hintOf(edge)
  const section = edge.scope.type === 'section' ? `  (in § ${shown(edge.scope.heading)})` : ''
  const about = `${shown(sourceName(edge))}${hint === null ? '' : `  (${hint})`}${section}`
  return { place: `${shown(edge.child)}:${edge.line}:${edge.column}`, what, about, more: evidence(edge) }
}

function evidence(edge: Edge): readonly string[] {
  const { blame, diff } = edge
  return [
    ...(blame === undefined
      ? []
      : blame.uncommitted === true
        ? ['    not committed yet']
        : [`    ${blame.commit} ${shown(blame.author ?? '')} ${blame.date}: ${shown(blame.subject ?? '')}`]),
    ...(diff?.status === 'ok' && diff.text !== null ? [quotedDiff(sourceName(edge), edge.child, diff.text)] : []),
    ...(diff?.status === 'unavailable' ? [`    no diff: ${diff.why}`] : []),
  ]
}

/** With `--all`: what is neither behind nor unsure. */
function restOf({ edges = [] }: CheckOutput): readonly string[] {
  return edges
    .filter(edge => edge.state !== 'suspect' && edge.class !== 'unverified')
    .map(edge => `${shown(edge.child)}:${edge.line}:${edge.column}  ${edge.state}  ${shown(sourceName(edge))}`)
}

/** Every entry counts: a source that two documents name is two of them. */
function verdictLine({ verdict, summary }: CheckOutput, ways: Ways): string {
  const whole = `${count(summary.edges, 'source')} in ${count(summary.children, 'document')}`
  const parts = [
    summary.suspect > 0 ? `${summary.suspect} behind` : '',
    verdict === 'clean' && summary.pending + summary.okRequested === 0 ? 'all clean' : `${summary.clean} clean`,
    summary.pending > 0 ? `${summary.pending} not stamped yet (${ways.stamp()})` : '',
    summary.okRequested > 0 ? `${summary.okRequested} marked @ok` : '',
    summary.chain > 0 ? `${summary.chain} whose source is itself behind` : '',
    unsureOf(summary) > 0 ? `${unsureOf(summary)} that cannot be checked` : '',
    summary.opaque > 0 ? `${count(summary.opaque, 'address', 'addresses')} not looked at` : '',
    summary.outOfRange > 0 ? `${summary.outOfRange} behind outside of what was asked for` : '',
  ]
  return `${whole}: ${parts.filter(part => part !== '').join(', ')}`
}

function unsureOf({ unresolved, unreadable, skipped, unknown }: CheckSummary): number {
  return unresolved + unreadable + skipped + unknown
}

/** Each reason once, with the first edge of its kind as the example. */
function guidance(edges: readonly Edge[], { verdict, exit, summary: { chain } }: CheckOutput, voice: Voice): readonly string[] {
  const first = new Map<string, { readonly edge: Edge; readonly text: ReasonText }>()
  for (const edge of edges) {
    const name = edge.reason ?? edge.state
    const text = edge.reason === null ? unverifiedStates.get(edge.state) : reasons[edge.reason]
    if (text !== undefined && !first.has(name)) first.set(name, { edge, text })
  }
  const isStrictOnly = exit === 1 && verdict !== 'suspect' && chain === 0
  const strict = isStrictOnly ? ['', 'This check is strict: it fails also for what is not stamped or cannot be checked.'] : []
  if (first.size === 0) return strict
  return [
    '',
    ...[...first].flatMap(([name, { edge, text }]) => [
      `${name}: the source ${text.means}`,
      `  → ${todoOf(text, edge.child, sourceName(edge), voice)}`,
    ]),
    ...strict,
  ]
}

function nothingDeclared(input: CheckInput, voice: Voice): string {
  const isNarrow = (input.paths?.length ?? 0) > 0 || input.since !== undefined || (input.changed?.length ?? 0) > 0
  if (isNarrow) return 'No document declares a source in what was asked for.'
  return [
    'No document here declares a source, so there is nothing to check.',
    'To begin, name in the frontmatter of a document what it was written from:',
    '',
    '  ---',
    '  sources:',
    '    - src/parser.ts',
    '    - docs/design.md#Errors',
    '  ---',
    '',
    voice === 'tool'
      ? 'and have it stamped (`outrigger keel stamp`, or by itself in a session): from then on a change of a source shows here.'
      : 'then `outrigger keel stamp`: from then on a change of a source shows here.',
  ].join('\n')
}

function widest(texts: readonly string[]): number {
  return Math.min(60, Math.max(0, ...texts.map(text => text.length)))
}

function count(n: number, word: string, several = `${word}s`): string {
  return `${n} ${n === 1 ? word : several}`
}
