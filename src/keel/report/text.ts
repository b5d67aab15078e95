/**
 * The answers of keel's verbs as text, for a terminal and for a model beside the document. Takes the
 * document and nothing else. Names are one line each and quoted content stands in a fence.
 */
import type { Voice } from '../../session/voice.ts'
import { hintOf, quotedDiff } from '../messages.ts'
import { shown, sourceName } from '../naming.ts'
import type { Edge, EdgeDiff } from '../types.ts'
import type { FixOutput } from '../verbs/fix.ts'
import type { LogOutput } from '../verbs/log.ts'
import type { AnchorsOutput, ParseOutput } from '../verbs/look-inside.ts'
import type { OkOutput } from '../verbs/ok.ts'
import type { ScanOutput, StampOutput } from '../verbs/stamp.ts'
import type { StatusOutput, SwitchOutput } from '../verbs/status.ts'
import type { WatchOutput } from '../verbs/watch.ts'
import type { DiffOutput, WhyOutput } from '../verbs/why.ts'
import { newsOf } from './news.ts'
import { waysOf } from './ways.ts'

export { checkText } from './check-text.ts'

export function whyText({ path, derivesFrom, derivedFiles, impact, cycles }: WhyOutput): string {
  const far = impact.filter(one => one.depth > 1)
  return lines([
    ...(derivesFrom.length === 0 ? [`${shown(path)} declares no source.`] : [`${shown(path)} derives from`]),
    ...derivesFrom.flatMap(edge => [`  ${stateMark(edge)} ${shown(sourceName(edge))}${details(edge)}`, ...evidence(edge)]),
    '',
    ...(derivedFiles.length === 0 ? ['Nothing derives from it.'] : ['Documents that derive from it']),
    ...derivedFiles.flatMap(edge => [
      `  ${stateMark(edge)} ${placeOf(edge)}${anchorOf(edge)}${details(edge)}`,
      ...evidence(edge),
    ]),
    ...(far.length === 0 ? [] : ['', 'And over these']),
    ...far.map(one => `  ${shown(one.path)} (by way of ${one.via.map(shown).join(', ')})`),
    ...cycles.map(cycle => `\nThese derive from one another: ${cycle.map(shown).join(', ')}`),
  ])
}

function stateMark(edge: Edge): string {
  if (edge.state === 'suspect') return '✗'
  if (edge.state === 'clean') return edge.chain.length > 0 ? '~' : '✓'
  return edge.class === 'unverified' ? '?' : '·'
}

function anchorOf(edge: Edge): string {
  return edge.anchor === null ? '' : ` (#${shown(edge.anchor)})`
}

const plainMatches: ReadonlySet<string> = new Set(['exact', 'lines', 'symbol'])

function details(edge: Edge): string {
  const hint = hintOf(edge)
  const parts = [
    edge.state === 'clean' ? '' : (edge.reason ?? edge.state),
    edge.state === 'suspect' && edge.old !== null && edge.current !== null ? `${edge.old} → ${edge.current}` : '',
    hint ?? '',
    edge.match !== null && !plainMatches.has(edge.match) ? `found by ${edge.match}, not literally` : '',
    edge.chain.length > 0 ? `behind ${edge.chain.map(link => shown(link.root)).join(', ')}` : '',
    edge.stale === true ? 'as of an earlier look' : '',
  ].filter(part => part !== '')
  return parts.length === 0 ? '' : `  ${parts.join(' · ')}`
}

function evidence(edge: Edge): readonly string[] {
  const { blame, diff } = edge
  const who =
    blame === undefined
      ? []
      : [
          blame.uncommitted === true
            ? '    not committed yet'
            : `    ${blame.commit} ${blame.date} ${shown(blame.author ?? '')}: ${shown(blame.subject ?? '')}`,
        ]
  return [...who, ...(diff === undefined ? [] : [diffLines(diff, sourceName(edge), edge.child)])]
}

const unavailable: Readonly<Record<NonNullable<EdgeDiff['why']>, string>> = {
  'no-copy': 'no copy of the reviewed content is left',
  binary: 'the content is not text',
  'too-large': 'the content is too large to compare',
  'moved-again': 'the source moved while it was compared',
  'outside-project': 'the source lies outside the project',
}

function diffLines(diff: EdgeDiff, source: string, child: string): string {
  if (diff.status === 'unavailable' || diff.text === null) return `    no diff: ${unavailable[diff.why ?? 'no-copy']}`
  return quotedDiff(source, child, diff.text)
}

export function diffText({ edges }: DiffOutput): string {
  if (edges.length === 0) return 'Nothing changed since the last review.'
  return lines(
    edges.flatMap(edge => [
      `${shown(edge.child)} <- ${shown(edge.source)}  ${edge.old ?? 'no stamp'} → ${edge.current ?? 'gone'}`,
      diffLines(edge.diff, edge.source, edge.child),
    ]),
  )
}

export function okText({ acked, skipped, written, recorded, degraded }: OkOutput): string {
  return lines([
    ...acked.map(one => `acknowledged: ${shown(one.child)} <- ${shown(one.source)} (${one.old ?? 'no stamp'} → ${one.new})`),
    ...(recorded === true ? ['The stamp is written when this turn ends, if the source is still the same then.'] : []),
    ...(acked.length === 0 && skipped.length === 0 ? ['Nothing to acknowledge.'] : []),
    ...skipped.map(one => `left alone: ${shown(one.child)} <- ${shown(one.source)}: ${one.why}`),
    ...(written.length > 0 ? [`written: ${written.map(shown).join(', ')}`] : []),
    ...newsOf(degraded).map(note => `degraded: ${note}`),
  ])
}

export function stampText({ stamped, written, skipped, dryRun, degraded }: StampOutput): string {
  const verb = dryRun === true ? 'would stamp' : 'stamped'
  return lines([
    ...(stamped.length === 0 && skipped.length === 0 ? ['Nothing to stamp.'] : []),
    ...stamped.map(
      one => `${verb}: ${shown(one.child)} <- ${shown(one.source)} @${one.new}${one.kind === 'stamp' ? '' : ` (${one.kind})`}`,
    ),
    ...skipped.map(one => `skipped: ${shown(one.child)}: ${one.why}`),
    ...(written.length > 0 ? [`${count(written.length, 'document')} written`] : []),
    ...newsOf(degraded).map(note => `degraded: ${note}`),
  ])
}

export function scanText({ children, sources, found, gone, pending, suspects, degraded }: ScanOutput): string {
  return lines([
    `${count(children, 'document')}, ${count(sources, 'source')}: ${suspects} behind, ${pending} waiting for a stamp`,
    ...found.map(path => `found: ${shown(path)}`),
    ...gone.map(path => `gone: ${shown(path)}`),
    ...newsOf(degraded).map(note => `degraded: ${note}`),
  ])
}

export function fixText(
  { proposals, written, skipped, stamped, dryRun, degraded }: FixOutput,
  _input?: unknown,
  voice: Voice = 'terminal',
): string {
  const ways = waysOf(voice)
  const renamed = proposals.find(one => one.reason === 'anchor-missing')
  const open = proposals.some(proposal => !proposal.applied)
  const basis = { content: 'same content', git: 'renamed in git', similar: 'similar' } as const
  return lines([
    ...proposals.map(
      one =>
        `${one.applied ? 'fixed' : 'proposed'}: ${shown(one.child)}: ${shown(one.from)} → ${shown(one.to)} (${one.reason}; ${basis[one.basis]}${one.basis === 'similar' ? ` ${one.score.toFixed(2)}` : ''})`,
    ),
    ...(stamped ?? []).map(
      one => `${dryRun === true ? 'would move' : 'moved'}: ${shown(one.child)} <- ${shown(one.source)} @${one.new}`,
    ),
    ...(skipped ?? []).map(one => `skipped: ${shown(one.child)}: ${one.why}`),
    ...(written !== undefined && written.length > 0 ? [`${count(written.length, 'document')} written`] : []),
    ...(proposals.length === 0 && stamped === undefined ? ['Nothing to fix.'] : []),
    ...(stamped !== undefined && stamped.length === 0 ? ['No stamp to move.'] : []),
    ...(open ? [`To make these changes: ${ways.fix()}`] : []),
    ...(renamed === undefined
      ? []
      : [
          `A name is part of what was reviewed: under its new one the source counts as changed, so the document is to be reviewed once more: update it, or: ${ways.acknowledge(renamed.child, renamed.to)}`,
        ]),
    ...(dryRun === true && stamped !== undefined && stamped.length > 0 ? ['To move them: the same with --apply'] : []),
    ...newsOf(degraded).map(note => `degraded: ${note}`),
  ])
}

export function parseText({ file, entries, problems }: ParseOutput): string {
  return lines([
    ...(entries.length === 0 && problems.length === 0 ? [`${shown(file)} declares no source.`] : []),
    ...entries.map(entry => {
      const stamp = entry.stamp.kind === 'hex' || entry.stamp.kind === 'bad' ? `@${shown(entry.stamp.value!)}` : entry.stamp.kind
      const scope = entry.scope.type === 'file' ? '' : ` § ${shown(entry.scope.heading)}`
      return `${shown(file)}:${entry.line}:${entry.column}${scope}  ${entry.kind}  ${shown(sourceName(entry))}  ${stamp}`
    }),
    ...problems.map(
      problem => `${shown(file)}:${problem.line}:${problem.column}  ${problem.level}  ${problem.message} (${problem.code})`,
    ),
  ])
}

export function anchorsText({ file, language, anchors }: AnchorsOutput): string {
  if (anchors.length === 0) {
    return language === null
      ? `${shown(file)} has no headings or symbols that keel knows; name lines as ${shown(file)}#L10-L20.`
      : `${shown(file)} has none.`
  }
  return lines(
    anchors.map(one => {
      const nth = one.ordinal > 1 ? ` (${one.ordinal})` : ''
      return `${String(one.line).padStart(5)}  ${one.id}  ${'#'.repeat(one.level ?? 0)}${one.level === null ? '' : ' '}${shown(one.anchor)}${nth}`
    }),
  )
}

export function logText({ records, degraded }: LogOutput): string {
  return lines([
    ...records.map(record => {
      if ('legacy' in record) return `${record.at ?? 'earlier'}  legacy  ${shown(record.text)}`
      const isKeel = record.who.kind === 'code'
      const who = isKeel
        ? 'keel itself'
        : record.who.name === undefined
          ? record.who.kind
          : `${record.who.kind} ${shown(record.who.name)}`
      const reason = record.reason === null ? '' : `: ${shown(record.reason)}`
      return `${record.at}  ${record.kind.padEnd(7)}  ${shown(record.child)} <- ${shown(record.source)}  ${record.old ?? '-'} → ${record.new ?? '-'}  by ${who}${reason}`
    }),
    ...(records.length === 0 ? ['No reviews recorded.'] : []),
    ...degraded.map(note => `degraded: ${note}`),
  ])
}

export function statusReport({ on, children, sources, suspects, sweptAt, degraded, watch }: StatusOutput): string {
  return lines([
    ...(on ? [] : ['keel is off in sessions here; outrigger keel on turns it on again.']),
    `${count(children, 'document')}, ${count(sources, 'source')}: ${behind(suspects.length)}`,
    ...suspects.map(edge => `  ${placeOf(edge)} <- ${shown(sourceName(edge))}: ${edge.reason} since ${edge.since}`),
    `looked at everything ${sweptAt}`,
    watch.mode === 'none'
      ? 'nothing is watched: keel looks when it is asked; outrigger keel watch looks all the time'
      : `watching by ${watch.mode}: ${watch.watched} of ${count(watch.watched + watch.unwatched, 'file')}`,
    ...degraded.map(note => `degraded: ${note}`),
  ])
}

export function switchText({ on, file, changed, children, suspects }: SwitchOutput): string {
  if (!on) return `keel is ${changed ? 'off now' : 'off'} in sessions here (${file}); outrigger keel on turns it on again.`
  return `keel is ${changed ? 'on again' : 'on'}: ${count(children ?? 0, 'document')} with sources, ${behind(suspects ?? 0)}.`
}

export function watchText({ event, at, edge, note, children, suspects }: WatchOutput): string {
  const time = at.slice(11, 19)
  switch (event) {
    case 'ready':
      return `${time}  watching ${count(children ?? 0, 'document')} and their sources`
    case 'suspect':
      return `${time}  ${edge!.reason}  ${placeOf(edge!)} <- ${shown(sourceName(edge!))}`
    case 'cleared':
      return `${time}  cleared  ${placeOf(edge!)} <- ${shown(sourceName(edge!))}`
    case 'degraded':
      return newsOf([note!]).length === 0 ? '' : `${time}  degraded: ${note}`
    case 'swept':
      return `${time}  ${behind(suspects ?? 0)}`
    default:
      return event satisfies never
  }
}

/** `path:line:column`, which terminals and editors open. */
function placeOf(edge: Pick<Edge, 'child' | 'line' | 'column'>): string {
  return `${shown(edge.child)}:${edge.line}:${edge.column}`
}

function behind(n: number): string {
  return n === 0 ? 'none behind' : `${n} behind`
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`
}

function lines(all: readonly string[]): string {
  return all.join('\n')
}
