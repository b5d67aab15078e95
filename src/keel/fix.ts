/** References put right: what the last full sweep found, offered and, on request, written. */
import { busy, leaseKey, leaseTimes } from './boundary.ts'
import type { Core } from './core.ts'
import { retarget } from './entry.ts'
import { sourceName } from './naming.ts'
import { isInRange } from './plan.ts'
import { rewriteTexts } from './rewrite.ts'
import type { Edge, Entry, FixResult, Hex12, JournalRecord, Proposal, Suggestion, SuspectReason } from './types.ts'
import { writeChild } from './write-child.ts'

const fixable: ReadonlySet<SuspectReason> = new Set(['source-moved', 'source-missing', 'anchor-missing', 'anchor-moved'])

/** One for each suspect edge whose reference has one answer; in the order of the edges. */
export function proposeFixes(
  core: Core,
  options: { readonly paths?: readonly string[]; readonly only?: Suggestion['basis'] } = {},
): readonly Proposal[] {
  return core.assessment().edges.flatMap(edge => {
    if (!isInRange(edge.child, options.paths) && !(edge.target !== null && isInRange(edge.target, options.paths))) return []
    const proposal = proposalOf(core, edge)
    return proposal === null || (options.only !== undefined && proposal.basis !== options.only) ? [] : [proposal]
  })
}

function proposalOf(core: Core, edge: Edge): Proposal | null {
  const { reason, suggest } = edge
  const entry = core.locate(edge.id)?.entry
  if (entry === undefined || suggest === null || reason === null || !fixable.has(reason)) return null
  const to = retarget(entry, suggest.ref, suggest.anchor)
  if (to === entry.text) return null
  return { edge: edge.id, child: edge.child, reason, from: entry.text, to, basis: suggest.basis, score: suggest.score }
}

export async function applyFixes(
  core: Core,
  proposals: readonly Proposal[],
  options: { readonly who: JournalRecord['who']; readonly onBusy: 'refuse' | 'leave' },
): Promise<FixResult> {
  if (proposals.length === 0) return { proposals: [], written: [], skipped: [], busy: false }
  const done = await core.deps.withLease(leaseKey, leaseTimes, () => write(core, proposals, options.who))
  if (done.held) return done.value
  if (options.onBusy === 'refuse') throw busy(done.holder)
  return { proposals: proposals.map(one => ({ ...one, applied: false })), written: [], skipped: [], busy: true }
}

async function write(core: Core, proposals: readonly Proposal[], who: JournalRecord['who']): Promise<FixResult> {
  await core.refresh({ kind: 'known' })
  const applied = new Map<Proposal, { readonly before: Edge; readonly index: number }>()
  const written: string[] = []
  const skipped: { readonly child: string; readonly why: string }[] = []
  for (const [child, group] of Map.groupBy(proposals, one => one.child)) {
    const record = core.memory().children.get(child)
    const placed = group.flatMap(proposal => {
      const located = core.locate(proposal.edge)
      const index = record === undefined ? -1 : record.edges.findIndex(slot => slot.id === proposal.edge)
      // The reference was changed since it was proposed: nothing to put right any more.
      return located === undefined || index < 0 || located.entry.text !== proposal.from ? [] : [{ proposal, located, index }]
    })
    if (record === undefined || placed.length === 0) {
      skipped.push({ child, why: 'it changed meanwhile' })
      continue
    }
    let unwritable: readonly Entry[] = []
    const changes = new Map(placed.map(({ proposal, located }): [Entry, string] => [located.entry, proposal.to]))
    const result = await writeChild(core, child, record.id, bytes => {
      const rewritten = rewriteTexts(bytes, changes)
      if (rewritten.kind === 'ok') unwritable = rewritten.skipped
      return rewritten
    })
    if (result.kind === 'skipped') {
      skipped.push({ child, why: result.why })
      continue
    }
    if (unwritable.length > 0) skipped.push({ child, why: 'it would read differently' })
    if (result.kind !== 'written') continue
    written.push(child)
    for (const { proposal, located, index } of placed) {
      if (!unwritable.includes(located.entry)) applied.set(proposal, { before: located.edge, index })
    }
  }
  await core.refresh({ kind: 'files', paths: written })
  const records = [...applied].flatMap(([proposal, { before, index }]) => recordOf(core, proposal, before, index, who))
  await core.record(records)
  await core.save()
  return { proposals: proposals.map(one => ({ ...one, applied: applied.has(one) })), written, skipped, busy: false }
}

/** The edge has another id now: entries stay in their order, so it is the one at the same place. */
function recordOf(core: Core, proposal: Proposal, before: Edge, index: number, who: JournalRecord['who']): JournalRecord[] {
  const slot = core.memory().children.get(proposal.child)?.edges[index]
  const edge = slot === undefined ? undefined : core.locate(slot.id)?.edge
  if (edge === undefined) return []
  return [
    {
      v: 1,
      at: new Date(core.deps.clock.now()).toISOString(),
      kind: 'fix',
      edge: edge.id,
      child: edge.child,
      source: sourceName(edge),
      old: before.old,
      new: edge.stamp.value as Hex12 | null,
      who,
      reason: null,
      evidence: { basis: proposal.basis },
    },
  ]
}
