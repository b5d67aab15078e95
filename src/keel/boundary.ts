/**
 * The moment at which keel writes documents: plan, write each child, record, keep a copy of what was
 * stamped. Under a lease, so that two sessions never write at once; nothing is begun, and nothing made,
 * when there is nothing to write.
 */
import { OutriggerError } from '../errors.ts'
import { openTarget, prepareAnchor } from './anchors.ts'
import type { Claims } from './claims.ts'
import type { Core } from './core.ts'
import { writtenId } from './forms.ts'
import { readOrNull } from './history.ts'
import { sourceName } from './naming.ts'
import { absoluteOf } from './places.ts'
import { type Plan, type PlannedStamp, planStamps, stampedOf } from './plan.ts'
import { normOf, parsedDocument } from './read-target.ts'
import { rewriteStamps } from './rewrite.ts'
import { writeStampFile } from './stamps-beside.ts'
import type { BoundaryOptions, BoundaryResult, Edge, Entry, Hex12, JournalRecord, Stamped } from './types.ts'
import { writeChild } from './write-child.ts'

export const leaseKey: string = 'keel/stamp'
export const leaseTimes: { readonly ttlMs: number; readonly waitMs: number } = { ttlMs: 10_000, waitMs: 2_000 }

const nothing: BoundaryResult = { stamped: [], written: [], skipped: [], busy: false }

export async function runBoundary(core: Core, claims: Claims, options: BoundaryOptions): Promise<BoundaryResult> {
  const claimed = await claims.read(options.session)
  const isClaimed = (child: string) => claimed.own.has(child)
  const plan = async (): Promise<Plan> => {
    await core.refresh({ kind: 'known' })
    const fresh = core.assessment().edges.filter(edge => edge.state === 'pending-stamp' && edge.stamp.kind === 'none')
    // A stamp that was taken out before anybody looked is found in the last commit.
    if (!options.onlyAcks && (await core.lookUpStamps(fresh))) {
      core.touch()
      await core.refresh({ kind: 'known' })
    }
    return planStamps(core, options, isClaimed)
  }
  const first = await plan()
  const dry = { ...nothing, skipped: first.skipped }
  if (options.dryRun) return { ...dry, stamped: [...first.children.values()].flat().map(one => stampedOf(one, one.stamp)) }
  const typed = options.onlyAcks ? [] : await typedStamps(core)
  if (first.children.size === 0 && typed.length === 0) {
    if (!options.onlyAcks) noteSkipped(core, first.skipped)
    if (!options.onlyAcks) settle(core)
    return dry
  }
  const done = await core.deps.withLease(leaseKey, leaseTimes, async () => {
    const again = await plan()
    return write(core, (await claims.read(options.session)).others, again, typed, options)
  })
  if (done.held) return done.value
  if (options.onBusy === 'leave') return { ...nothing, busy: true }
  throw busy(done.holder)
}

export function busy(holder: string): OutriggerError {
  return new OutriggerError('KEEL_BUSY', 'another process is writing stamps', {
    subject: holder,
    hint: 'run it again in a moment',
    exit: 4,
  })
}

async function write(
  core: Core,
  others: ReadonlySet<string>,
  plan: Plan,
  typed: readonly Edge[],
  options: BoundaryOptions,
): Promise<BoundaryResult> {
  const { config, clock } = core.deps
  const skipped = [...plan.skipped]
  const stamped: Stamped[] = []
  const records: JournalRecord[] = typed.map(edge => typedRecord(core, edge))
  const written: string[] = []
  const at = new Date(clock.now()).toISOString()
  const record = (one: PlannedStamp, stamp: Hex12) => {
    stamped.push(stampedOf(one, stamp))
    records.push(recordOf(one, stamp, at))
  }
  if (config.stamps === 'file') {
    const all = [...plan.children].filter(([child]) => !others.has(child)).flatMap(([, stamps]) => stamps)
    const why = await writeStampFile(
      core,
      all.map(one => ({ edge: one.located.edge, entry: one.located.entry, stamp: one.stamp })),
    )
    if (why === null) for (const one of all) record(one, one.stamp)
    else skipped.push(...[...new Set(all.map(one => one.located.edge.child))].map(child => ({ child, why })))
  } else {
    /** Bytes as written in this pass, for `exact` stamps of what derives from them. */
    const fresh = new Map<string, Uint8Array>()
    for (const [child, stamps] of plan.children) {
      if (others.has(child)) {
        skipped.push({ child, why: 'another session is writing it' })
        continue
      }
      const exact = await exactStamps(core, stamps, fresh)
      const changes = new Map(stamps.map((one): [Entry, Hex12] => [one.located.entry, exact.get(one) ?? one.stamp]))
      let unwritable: readonly Entry[] = []
      const result = await writeChild(core, child, stamps[0]!.located.child.id, bytes => {
        const rewritten = rewriteStamps(bytes, changes)
        if (rewritten.kind === 'ok') unwritable = rewritten.skipped
        return rewritten
      })
      if (result.kind === 'skipped') {
        skipped.push({ child, why: result.why })
        continue
      }
      if (unwritable.length > 0) skipped.push({ child, why: 'a link with every kind of quote in it' })
      if (result.kind === 'written') {
        written.push(child)
        fresh.set(child, result.bytes)
      }
      for (const one of stamps) {
        if (!unwritable.includes(one.located.entry)) record(one, changes.get(one.located.entry)!)
      }
    }
  }
  await core.record(records)
  await keepCopies(core, plan, stamped)
  noteSkipped(core, skipped)
  if (stamped.length > 0) core.touch()
  await core.refresh({ kind: 'files', paths: written })
  if (!options.onlyAcks) settle(core)
  else settle(core, new Set(stamped.map(one => one.id)))
  await core.save()
  return { stamped, written, skipped, busy: false }
}

/** With `exact`, a source written in this pass has another id than it had when the plan was made. */
async function exactStamps(
  core: Core,
  stamps: readonly PlannedStamp[],
  fresh: ReadonlyMap<string, Uint8Array>,
): Promise<ReadonlyMap<PlannedStamp, Hex12>> {
  const exact = new Map<PlannedStamp, Hex12>()
  if (core.deps.config.compare !== 'exact') return exact
  for (const one of stamps) {
    const { target, anchor } = one.located.edge
    const bytes = target === null ? undefined : fresh.get(target)
    if (target === null || bytes === undefined) continue
    await prepareAnchor(target, anchor)
    const view = openTarget(bytes, target, parsedDocument(target, bytes)).view(anchor)
    if (view.kind === 'found') exact.set(one, writtenId(view.ids, 'exact'))
  }
  return exact
}

function recordOf(one: PlannedStamp, stamp: Hex12, at: string): JournalRecord {
  const { edge } = one.located
  return {
    v: 1,
    at,
    kind: one.kind,
    edge: edge.id,
    child: edge.child,
    source: sourceName(edge),
    old: one.old,
    new: stamp,
    who: one.who,
    reason: one.reason,
    evidence: one.evidence,
  }
}

/**
 * Stamps that somebody typed over another one and that hold: recorded, never written. Those that came
 * with a commit were not typed here.
 */
async function typedStamps(core: Core): Promise<readonly Edge[]> {
  const memory = core.memory()
  const candidates = core.assessment().edges.filter(edge => {
    const known = memory.edges.get(edge.id)
    return edge.state === 'clean' && known !== undefined && known.settled !== edge.stamp.value && edge.stamp.kind === 'hex'
  })
  if (candidates.length === 0) return []
  const latest = core.journal.latest()
  const unrecorded = candidates.filter(edge => latest.get(edge.id)?.new !== edge.stamp.value)
  const { git, root } = core.deps
  const head = unrecorded.length === 0 ? undefined : await git.resolve(root, 'HEAD')
  const changed = head === undefined ? undefined : await git.changedSince(root, head)
  if (changed === undefined) return unrecorded
  const touched = new Set(changed)
  return unrecorded.filter(edge => touched.has(edge.child))
}

function typedRecord(core: Core, edge: Edge): JournalRecord {
  return {
    v: 1,
    at: new Date(core.deps.clock.now()).toISOString(),
    kind: 'manual',
    edge: edge.id,
    child: edge.child,
    source: sourceName(edge),
    old: core.memory().edges.get(edge.id)?.settled ?? null,
    new: edge.stamp.value,
    who: { kind: 'hand' },
    reason: null,
    evidence: null,
  }
}

/** The stamps that edges have now are the ones that later ones are compared with. */
function settle(core: Core, only?: ReadonlySet<string>): void {
  const { edges } = core.memory()
  for (const [id, known] of edges) {
    if (known.settled === known.stamp || (only !== undefined && !only.has(id))) continue
    edges.set(id, { ...known, settled: known.stamp })
    core.touch(true)
  }
}

async function keepCopies(core: Core, plan: Plan, stamped: readonly Stamped[]): Promise<void> {
  const { files, root, config } = core.deps
  if (config.baselineMiB === 0) return
  const wanted = new Map(stamped.map(one => [one.id, one.new]))
  const edges = [...plan.children.values()].flat().map(one => one.located.edge)
  const byTarget = Map.groupBy(
    edges.filter(edge => wanted.has(edge.id) && edge.target !== null),
    edge => edge.target!,
  )
  const inUse = core.stampsInUse()
  for (const [target, group] of byTarget) {
    const bytes = readOrNull(files, absoluteOf(root, target), 16 * 1024 * 1024)
    if (bytes === null) continue
    const parsed = parsedDocument(target, bytes)
    const opened = openTarget(bytes, target, parsed)
    for (const edge of group) {
      await prepareAnchor(target, edge.anchor)
      const view = opened.view(edge.anchor)
      if (view.kind !== 'found') continue
      const result = await core.baseline().put(view.ids.norm, normOf(bytes, target, view, parsed), inUse)
      if (result === 'full') core.notes.set('baseline full')
    }
  }
}

function noteSkipped(core: Core, skipped: BoundaryResult['skipped']): void {
  core.notes.clear('stamp skipped')
  for (const { child } of skipped) core.notes.set('stamp skipped', child)
}
