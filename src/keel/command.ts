/**
 * The command `/keel` that a person types in a host: short answers about the project's documents. It
 * writes no stamp. While keel is off it says only that and how to go on.
 */
import { cutEnd } from '../text/data.ts'
import type { KeelDeps } from './deps.ts'
import { exclusive } from './exclusive.ts'
import { hintOf } from './messages.ts'
import { names, shown, sourceName } from './naming.ts'
import type { Edge, KeelProject } from './types.ts'
import { degradedNotes, watched } from './watching.ts'

export interface CommandContext {
  readonly keel: KeelProject
  readonly deps: KeelDeps
  /** How files are watched now. Default: by the host. */
  readonly watchMode?: 'host' | 'native' | 'poll' | 'none'
}

export interface CommandReply {
  readonly ok: boolean
  readonly text: string
}

const usage = 'usage: /keel [scan | why <file or [[name]]> | watch | off | on]'
const maxRows = 50

/** Answer `/keel <args>`; takes its turn on the project. Never throws for what was typed. */
export function runKeelCommand(args: string, context: CommandContext): Promise<CommandReply> {
  return exclusive(context.keel, () => answerKeelCommand(args, context))
}

/** The same for a caller that has its turn on the project already. */
export async function answerKeelCommand(args: string, context: CommandContext): Promise<CommandReply> {
  const { keel } = context
  const [verb = '', ...rest] = args.trim().split(/\s+/)
  const { off, file } = keel.isOff()
  if (verb === 'on') return turnOn(context)
  if (off) return said(`keel is off here (${file}); /keel on turns it on again.`)
  const what = args.trim().slice(verb.length).trim()
  switch (verb) {
    case '':
      await keel.refresh({ kind: 'known' }, { budgetMs: keel.config.sweepBudgetMs })
      return said(overview(keel, context.deps.clock.now()))
    case 'scan':
      return rest.length === 0 ? scan(keel) : refused(usage)
    case 'why':
      return what === '' ? refused(usage) : why(keel, what)
    case 'watch':
      return rest.length === 0 ? said(watching(context)) : refused(usage)
    case 'off': {
      if (rest.length > 0) return refused(usage)
      const { file: made } = await keel.setOff(true)
      return said(`keel is off here (${made}): sessions hear nothing until /keel on. outrigger keel check still works.`)
    }
    default:
      return refused(usage)
  }
}

async function turnOn({ keel }: CommandContext): Promise<CommandReply> {
  const { changed } = await keel.setOff(false)
  const { children, edges } = await keel.refresh({ kind: 'full', searchMoves: true }, { budgetMs: keel.config.sweepBudgetMs })
  const suspects = edges.filter(edge => edge.state === 'suspect').length
  return said(`keel is ${changed ? 'on again' : 'on'}: ${count(children, 'document')} with sources, ${suspects} behind.`)
}

async function scan(keel: KeelProject): Promise<CommandReply> {
  const { found, gone, children, sources, edges } = await keel.refresh(
    { kind: 'full', searchMoves: true },
    { budgetMs: keel.config.sweepBudgetMs },
  )
  const waiting = edges.filter(edge => edge.state === 'pending-stamp' || edge.state === 'ok-requested').length
  const suspects = edges.filter(edge => edge.state === 'suspect').length
  return said(
    [
      `${count(children, 'document')} with ${count(sources, 'source')}, ${suspects} behind.`,
      ...(found.length > 0 ? [`found: ${names(found, 10)}`] : []),
      ...(gone.length > 0 ? [`gone: ${names(gone, 10)}`] : []),
      ...(waiting > 0 ? [`${count(waiting, 'stamp')} to be written at the end of the turn.`] : []),
      ...degradedNotes(keel).map(note => `degraded: ${note}`),
    ].join('\n'),
  )
}

function overview(keel: KeelProject, now: number): string {
  const { edges, children, sources, sweptAt } = keel.assessment()
  if (children === 0) return 'No document here declares a source. To begin, list them under `sources:` in its frontmatter.'
  const suspects = edges.filter(edge => edge.state === 'suspect')
  const unverified = edges.filter(edge => edge.class === 'unverified').length
  const pending = edges.filter(edge => edge.state === 'pending-stamp' || edge.state === 'ok-requested').length
  const rows = suspects.slice(0, maxRows).map(edge => `  ${row(edge)}, ${age(now, keel.since(edge))}`)
  const counts = [
    `${count(children, 'document')}, ${count(sources, 'source')}, ${count(edges.length, 'edge')}`,
    ...(pending > 0 ? [`${pending} waiting for a stamp`] : []),
    ...(unverified > 0 ? [`${unverified} not checkable`] : []),
    `swept ${new Date(sweptAt).toISOString()}`,
  ]
  return [
    suspects.length === 0 ? 'All documents hold as far as they were checked.' : `${suspects.length} behind:`,
    ...rows,
    ...(suspects.length > maxRows ? [`  and ${suspects.length - maxRows} more: outrigger keel check`] : []),
    counts.join(' · '),
    ...degradedNotes(keel).map(note => `degraded: ${note}`),
  ].join('\n')
}

async function why(keel: KeelProject, what: string): Promise<CommandReply> {
  await keel.refresh({ kind: 'known' }, { budgetMs: keel.config.sweepBudgetMs })
  const path = keel.findFile(what)
  if (path === null) return refused(`keel knows no document or source "${shown(what)}".`)
  const edges = keel.edgesOf(path)
  const up = edges.filter(edge => edge.child === path)
  const down = edges.filter(edge => edge.target === path)
  if (edges.length === 0) return said(`${shown(path)} derives from nothing, and nothing derives from it.`)
  const lines = [
    ...(up.length > 0 ? [`${shown(path)} derives from:`, ...up.slice(0, maxRows).map(edge => `  ${source(edge)}`)] : []),
    ...(up.length > maxRows ? [`  and ${up.length - maxRows} more`] : []),
    ...(down.length > 0 ? [`from ${shown(path)} derive:`, ...down.slice(0, maxRows).map(edge => `  ${row(edge)}`)] : []),
    ...(down.length > maxRows ? [`  and ${down.length - maxRows} more`] : []),
  ]
  return said(lines.join('\n'))
}

function watching({ keel, watchMode = 'host' }: CommandContext): string {
  const { paths, unwatched } = watched(keel)
  const rest = unwatched === 0 ? '' : `, ${unwatched} not watched: they are looked at when a turn begins and ends`
  return `watching by ${watchMode}: ${count(paths.length, 'file')}${rest}.`
}

function row(edge: Edge): string {
  return `${shown(edge.child)}:${edge.line} <- ${source(edge)}`
}

function source(edge: Edge): string {
  const hint = hintOf(edge)
  const state = edge.reason ?? edge.state
  const match =
    edge.match === null || edge.match === 'exact' || edge.match === 'lines' || edge.match === 'symbol' ? '' : `, by ${edge.match}`
  return `${shown(sourceName(edge))}: ${state}${hint === null ? '' : ` (${hint})`}${match}`
}

/** How long ago, in the largest unit that fits. */
function age(now: number, since: string): string {
  const ms = now - Date.parse(since)
  if (!(ms >= 60_000)) return 'since just now'
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `for ${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `for ${hours} h` : `for ${Math.floor(hours / 24)} days`
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`
}

const said = (text: string): CommandReply => ({ ok: true, text: cutEnd(text, 16_000) })
const refused = (text: string): CommandReply => ({ ok: false, text })
