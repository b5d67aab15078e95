/** While the agent works: a tool has run, or somebody else changed a file. */
import type { EventOf, ToolFinished } from '../../session/events.ts'
import { mayWrite, touchedBy } from '../../session/tools.ts'
import { derivesFrom } from '../look.ts'
import { toolMessage } from '../messages.ts'
import { names, suspectKey } from '../naming.ts'
import { reviewedEdits } from '../reviewed.ts'
import type { KeelState, Loose } from '../session.ts'
import type { Hex12, Refreshed } from '../types.ts'
import type { Moment } from './moment.ts'

export async function toolFinished(moment: Moment, event: ToolFinished): Promise<void> {
  moment.state = settleTurn(moment.state)
  const written = event.written ?? []
  const isNamed = written.length > 0 && touchedBy(event.tool, event.input).written.length > 0
  const mayHaveWritten = written.length > 0 || mayWrite(event.tool)
  if (!mayHaveWritten) return rememberRead(moment, event.read ?? [])
  const refreshes: Refreshed[] = []
  if (written.length > 0) refreshes.push(await moment.keel.refresh({ kind: 'files', paths: written }, moment.budget))
  if (!isNamed) refreshes.push(await moment.refreshKnown())
  if (await moment.hasNoChildren()) return
  rememberRead(moment, [...(event.read ?? []), ...written])
  const change = refreshes.reduce(gather, moment.state.loose)
  const mine = new Set([...written, ...(isNamed ? [] : await unnamedChildren(moment, change))])
  await countEdits(moment, mine, change)
  const look = await moment.look()
  const moved = new Set([...written, ...refreshes.flatMap(one => one.movedTargets), ...(isNamed ? [] : change.targets)])
  const concerned = look.fresh.filter(edge => derivesFrom(edge, moved) !== null)
  if (concerned.length === 0) return
  const targets = [...new Set(concerned.map(edge => derivesFrom(edge, moved)!))].sort()
  moment.add(
    toolMessage(targets, await moment.withDiffs(concerned), moment.message()),
    `keel: ${names(targets)} changed, ${concerned.length} to review`,
    { keys: concerned.map(suspectKey) },
  )
}

/**
 * Somebody changed a file. Nothing is said now; but a watcher often reports what a tool of this session
 * wrote before the tool has ended, so what moved is kept for the tool's end.
 */
export async function fileChanged(moment: Moment, event: EventOf<'file-changed'>): Promise<void> {
  const refreshed = await moment.keel.refresh({ kind: 'files', paths: [event.path] }, moment.budget)
  const loose = gather(moment.state.loose, refreshed)
  if (loose !== moment.state.loose) moment.state = { ...moment.state, loose }
}

/** What moved since the session's last look, with the scope ids from before. The same object when nothing did. */
function gather(loose: Loose, { movedTargets, movedScopes }: Refreshed): Loose {
  if (movedTargets.length === 0 && movedScopes.length === 0) return loose
  const scopes = new Map(loose.scopes)
  for (const { edge, before } of movedScopes) if (before !== null && !scopes.has(edge)) scopes.set(edge, before)
  return { targets: new Set([...loose.targets, ...movedTargets]), scopes }
}

/** Documents that an unnamed writer changed; nobody's when another session is at work. */
async function unnamedChildren(moment: Moment, { scopes }: Loose): Promise<readonly string[]> {
  const children = moment.keel
    .assessment()
    .edges.filter(edge => scopes.has(edge.id))
    .map(edge => edge.child)
  return children.length > 0 && (await moment.isAlone()) ? children : []
}

/** Targets that the agent has read or written, with their content now. */
function rememberRead(moment: Moment, paths: readonly string[]): void {
  const seen = new Map(moment.state.seen)
  for (const path of paths) {
    if (!moment.keel.edgesOf(path).some(edge => edge.target === path)) continue
    const content = moment.keel.contentId(path)
    if (content !== null) seen.set(path, content)
  }
  const isNew = seen.size !== moment.state.seen.size || [...seen].some(([path, id]) => moment.state.seen.get(path) !== id)
  if (isNew) moment.state = { ...moment.state, seen }
}

/** Edits of these documents that count as their review. */
async function countEdits(moment: Moment, children: ReadonlySet<string>, { scopes }: Loose): Promise<void> {
  const { keel, event } = moment
  const edges = keel.assessment().edges.filter(edge => children.has(edge.child))
  for (const child of new Set(edges.map(edge => edge.child))) await keel.claim(event.session, child)
  const current = new Map<string, Hex12 | null>()
  const contentOf = (target: string): Hex12 | null => {
    if (!current.has(target)) current.set(target, keel.contentId(target))
    return current.get(target)!
  }
  const acks = reviewedEdits({
    edges,
    before: edge => moment.state.scopes.get(edge) ?? scopes.get(edge) ?? null,
    after: edge => keel.scopeId(edge),
    wasTold: key => moment.state.told.has(key),
    knowsTarget: target => {
      const seen = moment.state.seen.get(target)
      return seen !== undefined && seen === contentOf(target)
    },
    config: keel.config,
    session: event.session,
  })
  if (acks.length === 0) return
  const reviewed = new Map([...moment.state.reviewed, ...acks.map(ack => [ack.edge, ack] as const)])
  moment.state = { ...moment.state, reviewed }
  moment.note('reviewed', `counted edits as the review of ${acks.length} ${acks.length === 1 ? 'edge' : 'edges'}`)
}

/** Work has begun: the other half of the turn's beginning does not come right after any more. */
export function settleTurn(state: KeelState): KeelState {
  return state.open === null || state.open.awaits === null ? state : { ...state, open: { ...state.open, awaits: null } }
}
