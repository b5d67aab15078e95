/**
 * The living state of one project: the memory and its cache, the last assessment, the notes on what
 * worked less well. `project.ts` gives it to everyone else; boundaries, fixes and diffs work on it.
 */
import { assess, type EdgeFacts } from './assess.ts'
import { type Baseline, createBaseline } from './baseline.ts'
import { cacheHeader, decodeMemory, encodeMemory } from './cache.ts'
import { parseChild } from './child.ts'
import type { KeelDeps } from './deps.ts'
import { edgeId } from './edge-id.ts'
import { factsOf, hexStamp, windowKey } from './facts.ts'
import { accepts } from './forms.ts'
import { readOrNull } from './history.ts'
import { createJournal, type Journal } from './journal.ts'
import { findMovedLines, parseLines } from './lines.ts'
import { type ChildRecord, type EdgeSlot, emptyMemory, entryOf, type Memory } from './memory.ts'
import { inOrder, isSuspect, suspectKey } from './naming.ts'
import { createNotes, type Notes } from './notes.ts'
import { createPace } from './pace.ts'
import { absoluteOf, stampsPath } from './places.ts'
import { normOf, parsedDocument, type TargetReading } from './read-target.ts'
import { searchGone } from './search.ts'
import { parseStampFile, stampsById } from './stamp-file.ts'
import { readStampsFile } from './stamps-beside.ts'
import { type SweepOutcome, sweep } from './sweep.ts'
import type {
  Assessment,
  Edge,
  Entry,
  Hex12,
  JournalRecord,
  LocatedProblem,
  Refreshed,
  RefreshOptions,
  RefreshScope,
} from './types.ts'
import { createZones } from './zones.ts'

/** Where an edge stands in a document, as of the last refresh. */
export interface Located {
  readonly child: ChildRecord
  readonly slot: EdgeSlot
  readonly entry: Entry
  readonly facts: EdgeFacts
  readonly edge: Edge
}

export interface Core {
  readonly deps: KeelDeps
  readonly journal: Journal
  readonly notes: Notes
  baseline(): Baseline
  memory(): Memory
  assessment(): Assessment
  refresh(scope: RefreshScope, options?: RefreshOptions): Promise<Refreshed>
  locate(edge: string): Located | undefined
  /** Stamps of the stamps file as of the last refresh. */
  outside(): ReadonlyMap<string, readonly Hex12[]>
  /** Hex stamps that edges carry now: their contents are kept as long as there is room. */
  stampsInUse(): ReadonlySet<string>
  /** Ask git which of these edges had a stamp in the last commit; answers are remembered. @returns whether one had. */
  lookUpStamps(edges: readonly Edge[], since?: string): Promise<boolean>
  /** Add to the journal; one that cannot be written is a degraded note until the next record is. */
  record(records: readonly JournalRecord[]): Promise<void>
  /** The memory was changed by somebody else than a refresh: save it, and assess it anew unless states do not depend on it. */
  touch(keepsStates?: boolean): void
  save(): Promise<void>
}

const noAssessment: Assessment = {
  edges: [],
  problems: [],
  cycles: [],
  children: 0,
  sources: 0,
  degraded: [],
  sweptAt: 0,
}

/** Time that a full sweep may spend on keeping copies of what it happened to read. */
const copiesMs = 100

export function createCore(deps: KeelDeps): Core {
  const { root, files, config, clock } = deps
  const header = cacheHeader(root, deps.version, config)
  const journal = createJournal(files, root, deps.mask)
  const notes = createNotes(() => [
    ...(load().hasLostRecords ? ['journal not written'] : []),
    ...journal.notes(),
    ...load().locals.flatMap(({ fault }) => (fault === undefined ? [] : [`zones not read: ${fault}`])),
    ...(stampsWhy === null ? [] : [`stamps not read (${stampsWhy})`]),
  ])
  /** Why the stamps file that is there cannot be read. */
  let stampsWhy: string | null = null
  /** Stamps of committed versions, by edge. */
  const committed = new Map<string, Hex12>()
  /** `<commit or nothing> <edge>`: what git was asked for already. */
  const asked = new Set<string>()
  let memory: Memory | undefined
  let baseline: Baseline | undefined
  let isDirty = false
  let current: Assessment = noAssessment
  /** Made when the first edge is asked for. */
  let located: ReadonlyMap<string, Located> | undefined
  let facts: readonly EdgeFacts[] = []
  let outside: ReadonlyMap<string, readonly Hex12[]> = new Map()
  /** What an assessment depends on beside the memory: assessed anew when it is another. */
  let basis = ''
  let stale: ReadonlySet<string> = new Set()
  let hasAssessed = false

  function load(): Memory {
    if (memory !== undefined) return memory
    const body = deps.cache.load(header)
    const decoded = body === undefined || body === 'rebuilt' ? undefined : decodeMemory(body)
    if (body !== undefined && decoded === undefined) notes.set('cache rebuilt')
    memory = decoded ?? emptyMemory()
    return memory
  }

  function baselineNow(): Baseline {
    baseline ??= createBaseline(files, () => deps.baselineFolder, config.baselineMiB * 1024 * 1024, load().baselineBytes)
    return baseline
  }

  async function refresh(asked: RefreshScope, options: RefreshOptions = {}): Promise<Refreshed> {
    const known = load()
    // Nothing was ever looked at: there is nothing known to refresh.
    const scope: RefreshScope = known.sweptAt === null && asked.kind !== 'full' ? { kind: 'full' } : asked
    const pace = createPace(options.budgetMs ?? 0, options.signal)
    const copies = createCopies(scope.kind === 'full')
    const outcome = await sweep({ root, files, config }, known, scope, pace, options, { onTarget: copies.take })
    known.sweptAt = clock.now()
    noteMoves(known.moved, outcome.movedTargets, known.sweptAt)
    notes.sweep(outcome.notes, scope.kind === 'files')
    if (outcome.isChanged) isDirty = true
    const isAffected = outcome.isChanged || outcome.stale.size > 0 || stale.size > 0
    stale = scope.kind === 'files' ? stillStale(stale, scope.paths, outcome.stale) : outcome.stale
    const before = basis
    basis = basisNow()
    if (scope.kind === 'full' || isAffected || !hasAssessed || before !== basis) await reassess(scope, options)
    current = { ...current, degraded: notes.list(), sweptAt: known.sweptAt }
    await copies.keep()
    if (scope.kind === 'full') await save()
    return { ...current, degraded: notes.list(), ...resultOf(outcome) }
  }

  /** Identities of the files beside the documents that states depend on. */
  function basisNow(): string {
    const stat = (path: string) => {
      try {
        const found = files.stat(`${root}/${path}`)
        return found === undefined ? '' : `${found.inode} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
      } catch {
        return 'unreadable'
      }
    }
    const stamps = config.stamps === 'file' ? stat(stampsPath) : ''
    const reviews = config.ack.personOnly.length > 0 ? stat('.outrigger/keel/journal.jsonl') : ''
    return `${stamps}|${reviews}`
  }

  async function reassess(scope: RefreshScope, options: RefreshOptions): Promise<void> {
    const known = load()
    if (scope.kind === 'full') journal.latest()
    const beside = config.stamps === 'file' ? readStampsFile(files, root) : null
    stampsWhy = typeof beside === 'string' ? beside : null
    outside = beside === null || typeof beside === 'string' ? new Map() : stampsById(parseStampFile(beside))
    if (scope.kind === 'full') for (const target of known.targets.values()) target.indexId = null
    evaluate()
    if (scope.kind === 'full') {
      const unstamped = current.edges.filter(edge => edge.stamp.kind === 'none' && edge.state === 'pending-stamp')
      const learned = [await lookUpStamps(unstamped, options.since), await askIndex()]
      if (learned.includes(true)) evaluate()
    }
    let isNew = await findWindows()
    if (scope.kind === 'full' && scope.searchMoves !== false) isNew = (await searchGone(core, current.edges, options)) || isNew
    if (isNew) {
      isDirty = true
      evaluate()
    }
    remember()
    hasAssessed = true
  }

  function evaluate(): void {
    const known = load()
    const zones = createZones(config, known.locals)
    facts = factsOf({
      memory: known,
      zones,
      config,
      outside,
      stale,
      known: knownStamp,
      latest: () => journal.latest(),
    })
    const { edges, cycles } = assess(facts, config.compare)
    located = undefined
    const children = [...known.children.values()]
    current = {
      edges,
      problems: children.flatMap(problemsOf).sort(byPlace),
      cycles,
      children: children.filter(child => child.edges.length > 0).length,
      sources: known.targets.size,
      degraded: notes.list(),
      sweptAt: known.sweptAt ?? 0,
    }
  }

  function locate(edge: string): Located | undefined {
    located ??= locateAll(load(), facts, current.edges)
    return located.get(edge)
  }

  /** The stamp an edge had: as last seen, else as last recorded, else as committed. */
  function knownStamp(edge: string): Hex12 | null {
    const seen = load().edges.get(edge)?.stamp
    if (seen !== undefined) return seen
    const recorded = journal.latest().get(edge)?.new
    return (recorded as Hex12 | null | undefined) ?? committed.get(edge) ?? null
  }

  async function lookUpStamps(edges: readonly Edge[], since?: string): Promise<boolean> {
    const wanted = edges.filter(edge => !asked.has(`${since ?? ''} ${edge.id}`) && knownStamp(edge.id) === null)
    if (wanted.length === 0) return false
    const why = await deps.git.unavailable(root)
    if (why !== undefined) {
      notes.set('git unavailable', why)
      return false
    }
    for (const edge of wanted) asked.add(`${since ?? ''} ${edge.id}`)
    for (const rev of [...(since === undefined ? [] : [since]), 'HEAD']) {
      const commit = await deps.git.resolve(root, rev)
      const changed = commit === undefined ? undefined : new Set(await deps.git.changedSince(root, commit))
      if (commit === undefined || changed === undefined) continue
      // A document that is as committed had no other stamps there.
      const documents = new Set(wanted.filter(edge => changed.has(edge.child)).map(edge => edge.child))
      for (const child of documents) await readCommitted(commit, child)
    }
    return wanted.some(edge => committed.has(edge.id))
  }

  async function readCommitted(commit: string, child: string): Promise<void> {
    const bytes = await deps.git.show(root, commit, child)
    if (bytes === undefined) return
    for (const { id, stamp } of stampsOfDocument(child, bytes)) {
      if (!committed.has(id)) committed.set(id, stamp)
    }
  }

  /** Git vouches for files whose committed form differs from the one on disk: asked once, for what is about to be `changed`. */
  async function askIndex(): Promise<boolean> {
    const known = load()
    const asked = current.edges.filter(
      edge => edge.reason === 'changed' && edge.anchor === null && edge.target !== null && known.targets.has(edge.target),
    )
    if (asked.length === 0) return false
    const why = await deps.git.unavailable(root)
    if (why !== undefined) {
      notes.set('git unavailable', why)
      return false
    }
    const [entries, modified] = [await deps.git.indexEntries(root), await deps.git.modified(root)]
    if (entries === undefined || modified === undefined) return false
    const stamps = new Map<string, Set<string>>()
    for (const { target, old } of asked) {
      if (target !== null && old !== null) stamps.set(target, (stamps.get(target) ?? new Set()).add(old))
    }
    const moved = new Set(modified)
    let isVouched = false
    for (const { path, id, flag } of entries) {
      const isVouchedFor = flag === 'H' && stamps.get(path)?.has(id.slice(0, 12)) === true && !moved.has(path)
      const target = isVouchedFor ? known.targets.get(path) : undefined
      if (target === undefined) continue
      target.indexId = id
      isVouched = true
    }
    return isVouched
  }

  /** Stamped lines that stand elsewhere in their file now. */
  async function findWindows(): Promise<boolean> {
    const known = load()
    let isNew = false
    for (const { id, anchor, target, old, reason } of current.edges) {
      if (reason !== 'changed' || anchor === null || target === null || old === null || parseLines(anchor) === null) continue
      const record = known.targets.get(target)
      const key = windowKey(anchor, old)
      if (record === undefined || record.windows.has(key) || locate(id)?.facts.view.kind !== 'found') continue
      const bytes = readOrNull(files, absoluteOf(root, target), config.maxSourceMiB * 1024 * 1024)
      if (bytes === null) continue
      const parsed = parsedDocument(target, bytes)
      record.windows.set(key, findMovedLines(bytes, anchor, old, config.compare, { path: target, parsed }))
      isNew = true
    }
    return isNew
  }

  /** Stamps and first-seen times of what is there now; of what went away nothing stays. */
  function remember(): void {
    const known = load()
    const live = new Set<string>()
    const keys = new Set<string>()
    for (const edge of current.edges) {
      live.add(edge.id)
      if (edge.stamp.kind === 'hex' && edge.stamp.value !== null) rememberStamp(known, edge.id, edge.stamp.value as Hex12)
      if (!isSuspect(edge)) continue
      const key = suspectKey(edge)
      keys.add(key)
      if (!known.since.has(key)) {
        known.since.set(key, clock.now())
        isDirty = true
      }
    }
    for (const id of known.edges.keys()) if (!live.has(id) && known.edges.delete(id)) isDirty = true
    for (const key of known.since.keys()) if (!keys.has(key) && known.since.delete(key)) isDirty = true
  }

  function rememberStamp(known: Memory, id: string, stamp: Hex12): void {
    const before = known.edges.get(id)
    if (before?.stamp === stamp) return
    known.edges.set(id, { stamp, settled: before?.settled ?? stamp })
    isDirty = true
  }

  /** Contents of clean edges that a sweep has in hand. */
  function createCopies(isFull: boolean): { take(reading: TargetReading): void; keep(): Promise<void> } {
    const until = performance.now() + copiesMs
    const contents = new Map<Hex12, Uint8Array>()
    let stamps: StampsOfTargets | undefined
    return {
      take({ record, bytes, parsed }) {
        if (bytes === null || config.baselineMiB === 0 || (isFull && contents.size >= 256)) return
        stamps ??= stampsByTarget(load(), outside)
        const wanted = stamps.get(record.path)
        if (wanted === undefined) return
        for (const [anchor, view] of record.views) {
          if (view.kind !== 'found' || contents.has(view.ids.norm)) continue
          const isClean = (wanted.get(anchor) ?? []).some(stamp => accepts(view.ids, stamp, config.compare) !== null)
          if (isClean) contents.set(view.ids.norm, normOf(bytes, record.path, view, parsed).slice())
        }
      },
      async keep() {
        // What is committed is found in git; a first scan of a large project has better things to do.
        if (contents.size === 0 || (isFull && (await deps.git.unavailable(root)) === undefined)) return
        const inUse = stampsInUse()
        for (const [id, content] of contents) {
          if (isFull && performance.now() > until) return
          noteBaseline(await baselineNow().put(id, content, inUse))
        }
      },
    }
  }

  function noteBaseline(result: 'kept' | 'full' | 'unwritable'): void {
    if (result === 'full') notes.set('baseline full')
  }

  function stampsInUse(): ReadonlySet<string> {
    return new Set([...load().edges.values()].map(edge => edge.stamp))
  }

  async function save(): Promise<void> {
    if (!isDirty || memory === undefined) return
    memory.baselineBytes = baseline?.size() ?? memory.baselineBytes
    const isSaved = await deps.cache.save(header, encodeMemory(memory))
    notes.toggle('cache not written', !isSaved)
    if (isSaved) isDirty = false
    current = { ...current, degraded: notes.list() }
  }

  async function record(records: readonly JournalRecord[]): Promise<void> {
    if (records.length === 0) return
    const hasLost = (await journal.append(records)) < records.length
    if (load().hasLostRecords !== hasLost) isDirty = true
    load().hasLostRecords = hasLost
    current = { ...current, degraded: notes.list() }
  }

  const core: Core = {
    deps,
    journal,
    notes,
    baseline: baselineNow,
    memory: load,
    assessment: () => current,
    refresh,
    locate,
    outside: () => outside,
    stampsInUse,
    lookUpStamps,
    record,
    touch(keepsStates = false) {
      isDirty = true
      // The next refresh assesses anew, whatever it finds.
      if (!keepsStates) hasAssessed = false
    },
    save,
  }
  return core
}

/** Longer than any session waits for its next event. */
const movesKeptMs = 14 * 86_400_000

/** One number for all moves of a look, above every number before. */
function noteMoves(moved: Map<string, number>, targets: readonly string[], now: number): void {
  if (targets.length === 0) return
  const at = Math.max(now, lastMove(moved) + 1)
  for (const [path, before] of moved) if (before < at - movesKeptMs) moved.delete(path)
  for (const path of targets) moved.set(path, at)
}

/** The number of the latest move; 0 without one. */
export function lastMove(moved: ReadonlyMap<string, number>): number {
  let last = 0
  for (const at of moved.values()) if (at > last) last = at
  return last
}

/** A look at a few files tells nothing of the others. */
function stillStale(before: ReadonlySet<string>, looked: readonly string[], now: ReadonlySet<string>): ReadonlySet<string> {
  if (before.size === 0) return now
  const seen = new Set(looked)
  return new Set([...[...before].filter(path => !seen.has(path)), ...now])
}

function resultOf(outcome: SweepOutcome): Omit<Refreshed, keyof Assessment> {
  const { movedTargets, movedChildren, movedScopes, found, gone } = outcome
  return { movedTargets, movedChildren, movedScopes, found, gone }
}

function locateAll(memory: Memory, facts: readonly EdgeFacts[], edges: readonly Edge[]): ReadonlyMap<string, Located> {
  const edgeOf = new Map(edges.map(edge => [edge.id, edge]))
  const factsById = new Map(facts.map(one => [one.id, one]))
  const located = new Map<string, Located>()
  for (const child of memory.children.values()) {
    child.edges.forEach((slot, index) => {
      const [entry, edge, own] = [entryOf(child, index), edgeOf.get(slot.id), factsById.get(slot.id)]
      if (entry !== undefined && edge !== undefined && own !== undefined) {
        located.set(slot.id, { child, slot, entry, facts: own, edge })
      }
    })
  }
  return located
}

/** Edges of one version of a document with the hex stamps they have in it. */
function stampsOfDocument(path: string, bytes: Uint8Array): readonly { readonly id: string; readonly stamp: Hex12 }[] {
  return parseChild(bytes).entries.flatMap(entry =>
    entry.stamp.kind === 'hex' ? [{ id: edgeId(path, entry), stamp: entry.stamp.value }] : [],
  )
}

function problemsOf(child: ChildRecord): readonly LocatedProblem[] {
  return child.parsed.problems.map(problem => ({ ...problem, file: child.path }))
}

function byPlace(a: LocatedProblem, b: LocatedProblem): number {
  return inOrder({ ...a, child: a.file, id: a.code } as never, { ...b, child: b.file, id: b.code } as never)
}

/** By target and anchor. */
type StampsOfTargets = ReadonlyMap<string, ReadonlyMap<string | null, readonly Hex12[]>>

function stampsByTarget(memory: Memory, outside: ReadonlyMap<string, readonly Hex12[]>): StampsOfTargets {
  const stamps = new Map<string, Map<string | null, Hex12[]>>()
  for (const child of memory.children.values()) {
    child.edges.forEach((slot, index) => {
      const entry = entryOf(child, index)
      const stamp = entry === undefined ? null : hexStamp(entry, outside.get(slot.id) ?? [])
      if (stamp === null || slot.resolution?.kind !== 'file') return
      const { path, anchor } = slot.resolution
      const anchors = stamps.get(path) ?? new Map<string | null, Hex12[]>()
      stamps.set(path, anchors)
      const known = anchors.get(anchor)
      if (known === undefined) anchors.set(anchor, [stamp])
      else if (!known.includes(stamp)) known.push(stamp)
    })
  }
  return stamps
}
