/**
 * A project's documents as a test scripts them: contents are 12-digit ids that the test sets, and a
 * refresh notices exactly what its scope covers. The rules of states are the few that sessions need.
 */
import { createHash } from 'node:crypto'
import { sourceName, suspectKey } from '../../src/keel/naming.ts'
import type {
  Ack,
  Assessment,
  BoundaryOptions,
  Edge,
  EdgeDiff,
  Hex12,
  KeelConfig,
  KeelProject,
  Refreshed,
  Stamped,
} from '../../src/keel/types.ts'

export const hex = (text: string): Hex12 => createHash('sha1').update(text).digest('hex').slice(0, 12) as Hex12

export const fakeConfig: KeelConfig = {
  ignore: null,
  frozen: null,
  vendored: null,
  compare: 'normalized',
  stamps: 'inline',
  stampNew: 'auto',
  tell: true,
  hold: 'created',
  remindAfterTurns: [1, 5],
  ack: { reason: 'optional', updated: 'scope', personOnly: [] },
  check: { strict: false, chain: false },
  sweepBudgetMs: 8000,
  maxSourceMiB: 256,
  baselineMiB: 64,
  watch: { max: 200, pollMs: 2000 },
  statusFile: true,
}

interface Declared {
  readonly child: string
  readonly ref: string
  readonly anchor: string | null
  readonly kind: Edge['kind']
  stamp: Edge['stamp']
}

export class FakeKeel implements KeelProject {
  readonly root = '/p'
  config: KeelConfig
  off = false
  /** Somebody else writes stamps. */
  busy = false
  /** Children that cannot be written. */
  blocked = new Set<string>()
  degraded: string[] = []
  readonly calls: string[] = []
  readonly boundaries: BoundaryOptions[] = []
  readonly claims = new Map<string, Set<string>>()
  private readonly files = new Map<string, Hex12>()
  private readonly texts = new Map<string, Hex12>()
  private declared: Declared[] = []
  private seenFiles = new Map<string, Hex12>()
  private seenTexts = new Map<string, Hex12>()
  /** Targets in the order in which their moves were noticed. */
  private readonly moves: string[] = []
  private seenDeclared: Declared[] = []

  constructor(config: Partial<KeelConfig> = {}) {
    this.config = { ...fakeConfig, ...config }
  }

  /** Content of a source; `null` removes it. */
  source(path: string, content: string | null): void {
    if (content === null) this.files.delete(path)
    else this.files.set(path, hex(content))
  }

  /** Text of a document, stamps aside. */
  text(child: string, content: string): void {
    this.texts.set(child, hex(content))
  }

  declare(
    child: string,
    ref: string,
    stamp: string | null,
    more: { anchor?: string; kind?: Edge['kind']; bad?: string } = {},
  ): void {
    if (!this.texts.has(child)) this.text(child, child)
    this.declared.push({
      child,
      ref,
      anchor: more.anchor ?? null,
      kind: more.kind ?? 'path',
      stamp:
        more.bad !== undefined
          ? { kind: 'bad', value: more.bad }
          : stamp === null
            ? { kind: 'none', value: null }
            : { kind: 'hex', value: hex(stamp) },
    })
  }

  forget(child: string): void {
    this.declared = this.declared.filter(one => one.child !== child)
    this.texts.delete(child)
  }

  stampOf(child: string, ref: string): string | null {
    return this.declared.find(one => one.child === child && one.ref === ref)?.stamp.value ?? null
  }

  isOff(): { off: boolean; file: string } {
    return { off: this.off, file: '.outrigger/keel/off' }
  }

  async refresh(scope: Parameters<KeelProject['refresh']>[0]): Promise<Refreshed> {
    this.calls.push(scope.kind)
    const covers = (path: string): boolean => scope.kind !== 'files' || scope.paths.includes(path)
    const oldScopes = new Map(this.edges().map(edge => [edge.id, this.scopeId(edge.id)]))
    const movedTargets: string[] = []
    for (const path of new Set([...this.files.keys(), ...this.seenFiles.keys()])) {
      if (!covers(path) || this.files.get(path) === this.seenFiles.get(path)) continue
      if (this.seenFiles.size > 0 || scope.kind !== 'full') movedTargets.push(path)
      const now = this.files.get(path)
      if (now === undefined) this.seenFiles.delete(path)
      else this.seenFiles.set(path, now)
    }
    const movedChildren: string[] = []
    for (const child of new Set([...this.texts.keys(), ...this.seenTexts.keys()])) {
      if (!covers(child)) continue
      if (this.texts.get(child) !== this.seenTexts.get(child)) movedChildren.push(child)
      const now = this.texts.get(child)
      if (now === undefined) this.seenTexts.delete(child)
      else this.seenTexts.set(child, now)
    }
    this.seenDeclared = this.declared.filter(one => covers(one.child) || this.seenDeclared.includes(one)).map(one => ({ ...one }))
    this.declared = this.declared.map(one => this.seenDeclared.find(seen => same(seen, one)) ?? one)
    for (const path of movedTargets) this.moves.push(path)
    const assessment = this.assessment()
    const moved = assessment.edges.filter(edge => movedChildren.includes(edge.child))
    return {
      ...assessment,
      movedTargets,
      movedChildren,
      found: [],
      gone: [],
      movedScopes: moved.map(edge => ({ edge: edge.id, before: oldScopes.get(edge.id) ?? null, after: this.scopeId(edge.id) })),
    }
  }

  movedSince(mark: number): { targets: readonly string[]; mark: number } {
    return { targets: [...new Set(this.moves.slice(mark))].sort(), mark: this.moves.length }
  }

  assessment(): Assessment {
    const edges = this.edges()
    return {
      edges,
      problems: [],
      cycles: [],
      children: new Set(edges.map(edge => edge.child)).size,
      sources: new Set(edges.flatMap(edge => edge.target ?? [])).size,
      degraded: this.degraded,
      sweptAt: 0,
    }
  }

  edgesOf(path: string): readonly Edge[] {
    return this.edges().filter(edge => edge.child === path || edge.target === path)
  }

  scopeId(id: string): Hex12 | null {
    const one = this.seenDeclared.find(declared => idOf(declared) === id)
    return one === undefined ? null : (this.seenTexts.get(one.child) ?? null)
  }

  contentId(path: string): Hex12 | null {
    return this.files.get(path) ?? null
  }

  async boundary(options: BoundaryOptions): Promise<Awaited<ReturnType<KeelProject['boundary']>>> {
    this.calls.push('boundary')
    this.boundaries.push(options)
    if (this.busy) return { stamped: [], written: [], skipped: [], busy: true }
    const stamped: Stamped[] = []
    const skipped = new Map<string, string>()
    for (const edge of this.edges()) {
      const ack = options.acks?.find((one: Ack) => one.edge === edge.id && one.content === edge.current)
      const isNew = edge.state === 'pending-stamp' && options.onlyAcks !== true && this.config.stampNew === 'auto'
      if ((ack === undefined && !isNew) || edge.current === null) continue
      if (this.blocked.has(edge.child)) {
        skipped.set(edge.child, 'read-only')
        continue
      }
      stamped.push({
        id: edge.id,
        child: edge.child,
        source: sourceName(edge),
        kind: ack?.kind ?? 'stamp',
        old: edge.old,
        new: edge.current,
      })
      const one = this.declared.find(declared => idOf(declared) === edge.id)!
      one.stamp = { kind: 'hex', value: edge.current }
    }
    this.seenDeclared = this.declared.map(one => ({ ...one }))
    const written = [...new Set(stamped.map(one => one.child))]
    return { stamped, written, skipped: [...skipped].map(([child, why]) => ({ child, why })), busy: false }
  }

  async diff(edge: Edge): Promise<EdgeDiff> {
    this.calls.push('diff')
    return { status: 'ok', why: null, text: `@@ -1 +1 @@\n-${edge.old}\n+${edge.current}\n`, basis: 'baseline' }
  }

  async blame(): Promise<null> {
    return null
  }

  async save(): Promise<void> {
    this.calls.push('save')
  }

  async writeStatus(): Promise<void> {
    this.calls.push('status')
  }

  since(): string {
    return '2026-01-01T00:00:00.000Z'
  }

  async fixes(): Promise<readonly []> {
    return []
  }

  async applyFixes(): Promise<never> {
    throw new Error('not scripted')
  }

  async moveStamps(): Promise<never> {
    throw new Error('not scripted')
  }

  journal(): ReturnType<KeelProject['journal']> {
    return { records: [], legacy: [], unreadable: 0, degraded: [] }
  }

  impact(): readonly [] {
    return []
  }

  async changedSince(): Promise<never> {
    throw new Error('not scripted')
  }

  findFile(name: string): string | null {
    return this.seenTexts.has(name) || this.seenFiles.has(name) ? name : null
  }

  async setOff(off: boolean): Promise<{ on: boolean; file: string; changed: boolean }> {
    const changed = off !== this.off
    this.off = off
    return { on: !off, file: '.outrigger/keel/off', changed }
  }

  watchable(): readonly string[] {
    const edges = this.edges()
    return [
      ...[...new Set(edges.flatMap(edge => edge.target ?? []))].sort(),
      ...[...new Set(edges.map(edge => edge.child))].sort(),
    ]
  }

  async claim(session: string, child: string): Promise<void> {
    this.claims.set(session, new Set([...(this.claims.get(session) ?? []), child]))
  }

  async unclaim(session: string): Promise<void> {
    this.claims.delete(session)
  }

  /** Live suspect keys, for assertions. */
  keys(): readonly string[] {
    return this.edges()
      .filter(edge => edge.state === 'suspect')
      .map(suspectKey)
  }

  edges(): readonly Edge[] {
    return this.seenDeclared.map((one, index) => this.assess(one, index)).sort((a, b) => (a.child < b.child ? -1 : 1))
  }

  private assess(one: Declared, index: number): Edge {
    const content = this.seenFiles.get(one.ref) ?? null
    const base = {
      id: idOf(one),
      child: one.child,
      line: 3 + index,
      column: 5,
      scope: { type: 'file' as const },
      kind: one.kind,
      ref: one.ref,
      anchor: one.anchor,
      target: content === null ? null : one.ref,
      stamp: one.stamp,
      current: content,
      old: one.stamp.kind === 'hex' ? (one.stamp.value as Hex12) : null,
      form: null,
      match: null,
      heading: null,
      suggest: null,
      chain: [],
    }
    const suspect = (reason: NonNullable<Edge['reason']>, kind: Edge['class']): Edge => ({
      ...base,
      state: 'suspect',
      reason,
      class: kind,
    })
    if (content === null && one.kind === 'wikilink' && one.stamp.kind === 'none') {
      return { ...base, state: 'unresolved', reason: null, class: 'unverified' }
    }
    if (content === null) return suspect('source-missing', 'broken')
    if (one.stamp.kind === 'bad') return suspect('bad-stamp', 'broken')
    if (one.stamp.kind === 'none') return { ...base, state: 'pending-stamp', reason: null, class: null }
    if (one.stamp.value === content) return { ...base, state: 'clean', reason: null, class: null, form: 'norm' }
    return suspect('changed', 'moved')
  }
}

function idOf(one: Pick<Declared, 'child' | 'ref' | 'anchor'>): string {
  return createHash('sha1')
    .update(`${one.child}\n${one.ref}\n${one.anchor ?? ''}`)
    .digest('hex')
    .slice(0, 16)
}

function same(a: Declared, b: Declared): boolean {
  return idOf(a) === idOf(b)
}
