/**
 * One refresh of a project's memory, in three scopes: everything listed (`full`), what is known
 * (`known`: no folder is walked), or the files that a write named (`files`). Starts no process. What
 * there was no time for keeps its record and is named as stale.
 *
 * Order: documents → what their references lead to → those targets → references that only a stamp can
 * settle.
 */
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import { mightDeclare } from './child.ts'
import type { DocumentRole } from './documents.ts'
import { edgeId } from './edge-id.ts'
import { readAsFile } from './entry.ts'
import { identityOf, isSameFile, isSettled, machineNow } from './freshness.ts'
import { isDocumentName, type Listed, type Listing, listDocuments } from './listing.ts'
import type { ChildRecord, EdgeSlot, Memory, TargetRecord, Uses } from './memory.ts'
import type { Pace } from './pace.ts'
import { absoluteOf, folderOf } from './places.ts'
import { readChild } from './read-child.ts'
import { readTarget, type TargetReading } from './read-target.ts'
import { createWorld, resolveRef, type World } from './resolve.ts'
import { createStats, type Look, type Stats } from './stats.ts'
import type { Entry, Hex12, KeelConfig, RefreshOptions, RefreshScope } from './types.ts'
import { createWikilinkMap, type WikilinkMap } from './wikilinks.ts'
import { createZones, type Zones } from './zones.ts'

export interface SweepDeps {
  readonly root: string
  readonly files: Files
  readonly config: KeelConfig
}

export interface SweepOutcome {
  readonly movedTargets: readonly string[]
  readonly movedChildren: readonly string[]
  readonly movedScopes: readonly { readonly edge: string; readonly before: Hex12 | null; readonly after: Hex12 | null }[]
  readonly found: readonly string[]
  readonly gone: readonly string[]
  /** Documents and targets that keep an old record, because there was no time or no permission. */
  readonly stale: ReadonlySet<string>
  readonly total: number
  readonly notes: readonly string[]
  /** The memory is not what it was: assess and save it. */
  readonly isChanged: boolean
}

export interface SweepHooks {
  /** A target was read; its bytes are good for this call only. */
  onTarget?(reading: TargetReading): void
}

/** Bytes a document may have before it counts as one that cannot be read. */
const mebibyte = 1024 * 1024

const scratchBytes = 64 * 1024

export async function sweep(
  deps: SweepDeps,
  memory: Memory,
  scope: RefreshScope,
  pace: Pace,
  options: RefreshOptions,
  hooks: SweepHooks = {},
): Promise<SweepOutcome> {
  const run = new Sweep(deps, memory, scope, pace, options, hooks)
  await run.documents()
  run.references()
  await run.targets()
  return run.outcome()
}

class Sweep {
  readonly #deps: SweepDeps
  readonly #memory: Memory
  readonly #scope: RefreshScope
  readonly #pace: Pace
  readonly #options: RefreshOptions
  readonly #hooks: SweepHooks
  readonly #stats: Stats
  readonly #before: ReadonlyMap<string, ChildRecord>
  readonly #named: ReadonlySet<string> | null
  readonly #stale = new Set<string>()
  readonly #unfinished = new Set<string>()
  readonly #notes = new Set<string>()
  readonly #movedChildren = new Set<string>()
  readonly #movedTargets = new Set<string>()
  /** Where a target was missing before. */
  readonly #wasMissing = new Set<string>()
  /** Small files are read into this, one after the other. */
  #scratch: Uint8Array | undefined
  /** References may be relative to other folders than before. */
  #haveBasesMoved = false
  #isChanged = false
  #total = 0

  constructor(deps: SweepDeps, memory: Memory, scope: RefreshScope, pace: Pace, options: RefreshOptions, hooks: SweepHooks) {
    this.#deps = deps
    this.#memory = memory
    this.#scope = scope
    this.#pace = pace
    this.#options = options
    this.#hooks = hooks
    this.#stats = createStats(deps.root, deps.files)
    this.#before = new Map(memory.children)
    this.#named = scope.kind === 'files' ? new Set(scope.paths) : null
  }

  get #ignoresCache(): boolean {
    return this.#scope.kind === 'full' && this.#scope.ignoreCache === true
  }

  // Documents

  async documents(): Promise<void> {
    this.#pace.begin()
    if (this.#scope.kind === 'full') return this.#listedDocuments()
    const zones = createZones(this.#deps.config, this.#memory.locals)
    const paths = this.#named ?? this.#unfinishedFirst([...this.#memory.children.keys()])
    for (const path of paths) {
      if (this.#named !== null && !this.#isDocument(path, zones)) continue
      this.#total += 1
      if (this.#pace.isOver()) {
        this.#skip(path)
        continue
      }
      this.#refreshDocument(path, zones)
      await this.#pace.rest()
    }
  }

  /** A path that a write named: known already, or a document in a place where documents are found. */
  #isDocument(path: string, zones: Zones): boolean {
    if (this.#memory.documents.has(path)) return true
    if (!isDocumentName(path) || path.startsWith('/') || /^[A-Za-z]:/u.test(path)) return false
    return zones.of(path) !== 'ignore' && this.#stats.look(path).kind === 'there'
  }

  #refreshDocument(path: string, zones: Zones): void {
    const look = this.#stats.look(path)
    if (look.kind === 'unreadable') {
      this.#cannotRead(path)
      return
    }
    if (look.kind === 'missing' || look.file === undefined || look.file.kind !== 'file') {
      this.#drop(path)
      return
    }
    const { documents } = this.#memory
    const isNew = !documents.has(path)
    const isUnread = zones.of(path) === 'frozen'
    if (isUnread) {
      if (isNew) this.#changed(() => documents.set(path, null, 'unread', false))
      return
    }
    if (look.link === null && documents.isCurrent(path, look.file)) return
    this.#readDocument(path, look.link !== null, look.file)
  }

  async #listedDocuments(): Promise<void> {
    const { files, root, config } = this.#deps
    const memory = this.#memory
    const listing = listDocuments(files, root, config, () => this.#options.signal?.aborted !== true)
    if (JSON.stringify(listing.locals) !== JSON.stringify(memory.locals)) {
      this.#haveBasesMoved = true
      this.#changed(() => (memory.locals = listing.locals))
    }
    const { documents } = memory
    documents.begin()
    const listed = this.#unfinishedFirst(listing.documents, document => document.path)
    this.#total += listed.length
    this.#pace.begin()
    let done = 0
    for (const document of listed) {
      done += 1
      if (done % 500 === 0) this.#options.progress?.('documents', done, listed.length)
      if (this.#pace.isOver()) {
        documents.see(document.path)
        this.#skip(document.path)
        continue
      }
      this.#listedDocument(document)
      const rest = this.#pace.rest()
      if (rest !== undefined) await rest
    }
    this.#leaveOut(listing)
    if (!this.#isChanged) return
    for (const child of memory.children.values()) if (documents.role(child.path) !== 'child') this.#forget(child)
  }

  #listedDocument(document: Listed): void {
    const { path, isLink, zone } = document
    const { documents } = this.#memory
    if (zone === 'frozen') {
      if (documents.role(path) !== 'unread') this.#changed(() => documents.set(path, null, 'unread', false))
      documents.see(path)
      return
    }
    let stat: ReturnType<Files['stat']>
    try {
      const absolute = `${this.#deps.root}/${path}`
      stat = isLink ? this.#deps.files.stat(absolute) : this.#deps.files.lstat(absolute)
    } catch {
      // The folder can be listed but not looked into.
      this.#cannotRead(path)
      return
    }
    if (stat === undefined || stat.kind !== 'file') return
    if (!isLink) {
      // Documents are sources too: one look is enough.
      if (this.#memory.targets.has(path)) this.#stats.note(path, stat)
      const role = this.#ignoresCache ? undefined : documents.seeCurrent(path, stat)
      if (role !== undefined && (role !== 'child' || this.#memory.children.has(path))) return
    }
    this.#readDocument(path, isLink, stat)
  }

  /** Rows that the walk did not come by go, but for those that it could not reach. */
  #leaveOut({ isComplete, unreadable }: Listing): void {
    for (const folder of unreadable) this.#notes.add(`unreadable child: ${folder}/`)
    const isUnreached = (path: string) =>
      !isComplete || unreadable.some(folder => folder === '.' || path.startsWith(`${folder}/`))
    for (const path of this.#memory.documents.unseen()) {
      if (isUnreached(path)) {
        this.#stale.add(path)
        if (!isComplete) this.#unfinished.add(path)
      } else this.#drop(path)
    }
  }

  #readDocument(path: string, isLink: boolean, stat: NonNullable<ReturnType<Files['stat']>>): void {
    const { files, config } = this.#deps
    const readAt = machineNow()
    let bytes: Uint8Array
    try {
      const hint = { size: stat.size, into: (this.#scratch ??= new Uint8Array(scratchBytes)) }
      bytes = files.read(this.#absolute(path), config.maxSourceMiB * mebibyte, hint)
    } catch (error) {
      if (!(error instanceof OutriggerError)) throw error
      if (error.code === 'FILES_MISSING' || error.code === 'FILES_NOT_FILE') {
        this.#drop(path)
        return
      }
      this.#cannotRead(path)
      return
    }
    // A link may be led elsewhere without a trace in the file's own times.
    const settled = !isLink && isSettled(stat, readAt)
    const known = this.#memory.children.get(path)
    const record = mightDeclare(bytes) ? readChild(path, bytes, { identity: identityOf(stat), isSettled: settled }) : null
    const role: DocumentRole = record === null ? 'plain' : 'child'
    this.#changed(() => this.#memory.documents.set(path, stat, role, settled))
    if (record === null) {
      if (known !== undefined) this.#forget(known)
      return
    }
    if (known?.id === record.id) {
      // A touch is not an edit: what was worked out stays.
      this.#memory.children.set(path, { ...known, identity: record.identity, isSettled: settled })
      return
    }
    this.#movedChildren.add(path)
    this.#memory.children.set(path, record)
    this.#memory.uses = null
  }

  #cannotRead(path: string): void {
    this.#notes.add(`unreadable child: ${path}`)
    this.#stale.add(path)
    this.#memory.documents.see(path)
  }

  /** No time: the record stays as it is. */
  #skip(path: string): void {
    this.#stale.add(path)
    this.#unfinished.add(path)
  }

  #drop(path: string): void {
    const known = this.#memory.children.get(path)
    if (this.#memory.documents.delete(path)) this.#isChanged = true
    if (known !== undefined) this.#forget(known)
  }

  #forget(child: ChildRecord): void {
    this.#isChanged = true
    this.#movedChildren.add(child.path)
    this.#memory.children.delete(child.path)
    this.#memory.uses = null
  }

  // References

  references(): void {
    const memory = this.#memory
    if (this.#allStand()) return
    const zones = createZones(this.#deps.config, memory.locals)
    let map: WikilinkMap | undefined
    const world: World = createWorld(
      this.#deps.root,
      { ...this.#deps.files, ...this.#stats.files },
      {
        find: name => (map ??= createWikilinkMap(memory.documents.paths())).find(name),
      },
    )
    for (const child of memory.children.values()) {
      if (child.edges.length === 0 || zones.of(child.path) === 'vendored') continue
      const base = zones.base(folderOf(child.path))
      child.edges.forEach((slot, index) => {
        const before = slot.resolution
        const entry = child.parsed.entries[index]
        if (entry === undefined || (before !== null && !this.#mustResolve(entry, before))) return
        slot.resolution = this.#resolveSlot(child.path, slot, entry, base, world)
        if (before?.kind === 'missing') this.#wasMissing.add(before.path)
        if (before !== null && isSameResolution(before, slot.resolution)) return
        this.#isChanged = true
        memory.uses = null
      })
    }
  }

  /** A look at what is known, every reference of which still leads to its file. */
  #allStand(): boolean {
    const { uses } = this.#memory
    if (this.#scope.kind !== 'known' || uses === null || uses.hasOpen) return false
    for (const path of uses.targets.keys()) if (this.#looksGone(path)) return false
    return true
  }

  /** What looks like a bad stamp is part of a name when a file is called so; behind an anchor it stays a stamp. */
  #resolveSlot(child: string, slot: EdgeSlot, entry: Entry, base: string, world: World): NonNullable<EdgeSlot['resolution']> {
    if (entry.whole !== undefined) {
      const named = readAsFile(entry)
      const resolution = resolveRef(named, child, base, world)
      slot.asFile = resolution.kind === 'file' && resolution.ref.length > entry.text.length
      slot.id = edgeId(child, slot.asFile ? named : entry)
      if (slot.asFile) return resolution
    }
    return resolveRef(entry, child, base, world)
  }

  #mustResolve(entry: Entry, before: NonNullable<EdgeSlot['resolution']>): boolean {
    if (before.kind !== 'file') return before.kind !== 'url' || this.#scope.kind === 'full'
    if (this.#scope.kind === 'full') return this.#haveBasesMoved || !this.#leadsWhereItLed(entry, before)
    if (this.#named !== null && !this.#named.has(before.path)) return false
    return this.#looksGone(before.path)
  }

  /**
   * A reference that has one reading before all others, and still leads to that file: no further spelling
   * is tried. `false` says only that it takes a closer look.
   */
  #leadsWhereItLed({ kind, text, whole }: Entry, before: Extract<EdgeSlot['resolution'], { readonly kind: 'file' }>): boolean {
    const { path, ref, anchor, match, others } = before
    if (kind !== 'path' || whole !== undefined || match !== null || others.length > 0) return false
    if (this.#looksGone(path) || takesCloserLook(ref)) return false
    if (anchor === null) return ref === text
    if (anchor.includes('#') || takesCloserLook(anchor) || anchor.includes('/')) return false
    // A file whose name is all of the text would come first.
    return text === `${ref}#${anchor}` && this.#looksGone(`${path}#${anchor}`)
  }

  // Targets

  async targets(): Promise<void> {
    this.#memory.uses ??= usesOf(this.#memory)
    const uses = this.#memory.uses.targets
    this.#pace.begin()
    let done = 0
    const paths = this.#unfinishedFirst([...uses.keys()])
    this.#total += paths.length
    for (const path of paths) {
      done += 1
      if (done % 500 === 0) this.#options.progress?.('sources', done, paths.length)
      const anchors = uses.get(path)!
      const known = this.#memory.targets.get(path)
      const isComplete = known !== undefined && hasViews(known, anchors)
      if (isComplete && this.#named !== null && !this.#named.has(path)) continue
      if (this.#pace.isOver()) {
        this.#skip(path)
        continue
      }
      const work = this.#refreshTarget(path, anchors, known, isComplete)
      if (work !== undefined) await work
      const rest = this.#pace.rest()
      if (rest !== undefined) await rest
    }
    for (const [path, target] of this.#memory.targets) {
      if (uses.has(path)) continue
      this.#memory.targets.delete(path)
      this.#isChanged = true
      if (this.#looksGone(path)) this.#movedTargets.add(target.path)
    }
  }

  #looksGone(path: string): boolean {
    const look = this.#stats.look(path)
    return look.kind !== 'there' || look.file?.kind !== 'file'
  }

  #refreshTarget(
    path: string,
    anchors: ReadonlySet<string | null>,
    known: TargetRecord | undefined,
    isComplete: boolean,
  ): Promise<void> | undefined {
    const look = this.#stats.look(path)
    if (look.kind !== 'there' || look.file?.kind !== 'file') return undefined
    if (isComplete && !this.#ignoresCache && known !== undefined && isUnmoved(known, look)) return undefined
    return this.#readTarget(path, [...anchors], look, known)
  }

  async #readTarget(
    path: string,
    anchors: readonly (string | null)[],
    look: Extract<Look, { readonly kind: 'there' }>,
    known: TargetRecord | undefined,
  ): Promise<void> {
    const { files, config } = this.#deps
    const maxBytes = config.maxSourceMiB * mebibyte
    const into = (this.#scratch ??= new Uint8Array(scratchBytes))
    const reading = await readTarget({ files, absolute: this.#absolute(path), path, look, anchors, maxBytes, into })
    if (reading === null) {
      // It went away, or moved while it was read: the next look knows more.
      this.#skip(path)
      return
    }
    const isSame = known !== undefined && known.raw === reading.record.raw && known.raw !== null
    const record = isSame ? { ...reading.record, windows: known.windows, indexId: known.indexId } : reading.record
    this.#memory.targets.set(path, record)
    this.#isChanged = true
    if ((known !== undefined && !isSame) || this.#wasMissing.has(path)) this.#movedTargets.add(path)
    this.#hooks.onTarget?.(reading)
  }

  // What came out

  outcome(): SweepOutcome {
    const memory = this.#memory
    const hasEdges = (child: ChildRecord | undefined) => child !== undefined && child.edges.length > 0
    const found = [...memory.children.values()].filter(child => hasEdges(child) && !hasEdges(this.#before.get(child.path)))
    const gone = [...this.#before.values()].filter(child => hasEdges(child) && !hasEdges(memory.children.get(child.path)))
    if (this.#unfinished.size > 0) {
      this.#notes.add(`sweep incomplete: ${this.#unfinished.size} of ${this.#total} files not looked at`)
    }
    const wasUnfinished = memory.unfinished
    if (this.#scope.kind === 'files') {
      // A look at a few files finishes those only.
      const left = [...wasUnfinished].filter(path => !this.#named?.has(path))
      memory.unfinished = new Set([...left, ...this.#unfinished])
    } else memory.unfinished = this.#unfinished
    if (memory.unfinished.size !== wasUnfinished.size) this.#isChanged = true
    return {
      movedTargets: [...this.#movedTargets].sort(),
      movedChildren: [...this.#movedChildren].sort(),
      movedScopes: this.#movedScopes(),
      found: found.map(child => child.path).sort(),
      gone: gone.map(child => child.path).sort(),
      stale: this.#stale,
      total: this.#total,
      notes: [...this.#notes],
      isChanged: this.#isChanged,
    }
  }

  #movedScopes(): SweepOutcome['movedScopes'] {
    return [...this.#movedChildren].sort().flatMap(path => {
      const before = new Map(this.#before.get(path)?.edges.map(slot => [slot.id, slot.scopeId]))
      const after = new Map(this.#memory.children.get(path)?.edges.map(slot => [slot.id, slot.scopeId]))
      return [...new Set([...before.keys(), ...after.keys()])].map(edge => ({
        edge,
        before: before.get(edge) ?? null,
        after: after.get(edge) ?? null,
      }))
    })
  }

  #changed(change: () => void): void {
    change()
    this.#isChanged = true
  }

  #absolute(path: string): string {
    return absoluteOf(this.#deps.root, path)
  }

  #unfinishedFirst<T>(all: readonly T[], pathOf: (one: T) => string = String): readonly T[] {
    const { unfinished } = this.#memory
    if (unfinished.size === 0) return all
    const first = all.filter(one => unfinished.has(pathOf(one)))
    return first.length === 0 ? all : [...first, ...all.filter(one => !unfinished.has(pathOf(one)))]
  }
}

/** It may mean several places, or ends in something that is no name. */
function takesCloserLook(ref: string): boolean {
  return ref.startsWith('.') || ref.endsWith('/') || ref.endsWith('.') || /[#\\<\0]/u.test(ref)
}

function usesOf(memory: Memory): Uses {
  const targets = new Map<string, Set<string | null>>()
  let hasOpen = false
  const use = (path: string, anchor: string | null) => {
    const anchors = targets.get(path)
    if (anchors === undefined) targets.set(path, new Set([anchor]))
    else anchors.add(anchor)
  }
  for (const child of memory.children.values()) {
    for (const { resolution } of child.edges) {
      if (resolution === null || resolution.kind === 'url') continue
      if (resolution.kind !== 'file') hasOpen = true
      if (resolution.kind === 'file') {
        for (const path of [resolution.path, ...resolution.others]) use(path, resolution.anchor)
      }
      if (resolution.kind === 'wikilinks') for (const path of resolution.paths) use(path, resolution.anchor)
    }
  }
  return { targets, hasOpen }
}

function hasViews(target: TargetRecord, anchors: ReadonlySet<string | null>): boolean {
  for (const anchor of anchors) if (!target.views.has(anchor)) return false
  return true
}

function isUnmoved(known: TargetRecord, look: Extract<Look, { readonly kind: 'there' }>): boolean {
  if (!known.isSettled || look.file === undefined || !isSameFile(known.file, look.file)) return false
  if (known.link === null || look.link === null) return known.link === look.link
  return isSameFile(known.link, look.link)
}

function isSameResolution(a: NonNullable<EdgeSlot['resolution']>, b: NonNullable<EdgeSlot['resolution']>): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
