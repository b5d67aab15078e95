/**
 * keel in a session: one step per event. Looks at the documents as far as the event asks for, says what
 * this session was not told yet, holds the end of a turn once, and writes stamps at the two moments
 * when the agent does not work. Which edges are suspect is decided by the project (`project.ts`), the
 * words are in `messages.ts`, what the session remembers in `session.ts`.
 */
import type { Store } from '../ports/store.ts'
import type { Action } from '../session/actions.ts'
import type { Engine, LedgerLine, Step, StepContext } from '../session/engine.ts'
import type { EventOf, SessionEvent, ToolFinished } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import { mayWrite, touchedBy } from '../session/tools.ts'
import { dropAcks, pendingAcks } from './acks.ts'
import { answerKeelCommand } from './command.ts'
import type { KeelDeps } from './deps.ts'
import { exclusive } from './exclusive.ts'
import { derivesFrom, type Look, lookAt, madeInTurn, remember } from './look.ts'
import {
  caps,
  countedMessage,
  promptMessage,
  remindMessage,
  stampedMessage,
  startMessage,
  stopMessage,
  type Told,
  toolMessage,
} from './messages.ts'
import { names, suspectKey } from './naming.ts'
import { isAlone, markLive, unmarkLive } from './peers.ts'
import { reviewedEdits } from './reviewed.ts'
import {
  decodeState,
  encodeState,
  forgetTold,
  type KeelState,
  noState,
  type OpenTurn,
  openTurn,
  reminderDue,
  type Said,
  say,
  unsay,
} from './session.ts'
import type { Ack, BoundaryResult, Edge, Hex12, KeelProject, Refreshed, SuspectKey } from './types.ts'
import { statusText, watched } from './watching.ts'

export interface KeelEngineOptions {
  /** The session's host offers the tool `keel_ok`. */
  readonly hasAckTool: boolean
}

/** Below this a message would be all frame: it waits for the next moment. */
const leastRoom = 400

type Handled = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

export function createKeelEngine(keel: KeelProject, deps: KeelDeps, options: KeelEngineOptions): Engine<KeelState> {
  const run = (
    state: KeelState,
    event: SessionEvent,
    context: StepContext,
    moment: (step: Moment) => Promise<void>,
  ): Promise<Step<KeelState>> =>
    exclusive(keel, async () => {
      const step = new Moment(keel, deps, options, state, event, context)
      await moment(step)
      return step.result()
    })

  return {
    name: 'keel',
    initial: noState,
    encode: encodeState,
    decode: decodeState,
    handle: (state: KeelState, event: Handled, _facts: SessionFacts, context: StepContext) => {
      if (event.kind === 'command-run') {
        return event.name === 'keel' ? run(state, event, context, step => step.command(event)) : same(state)
      }
      if (event.kind === 'action-failed') return same(unsay(state, event.action))
      if (!concerns(event) || keel.isOff().off) return same(state)
      return run(state, event, context, step => step.handle(event))
    },
    stopping: (state: KeelState, event: EventOf<'turn-ending'>, _facts: SessionFacts, context: StepContext) => {
      if (event.agent !== undefined || keel.isOff().off) return same(state)
      return run(state, event, context, step => step.ending(event))
    },
  }
}

function same(state: KeelState): Promise<Step<KeelState>> {
  return Promise.resolve({ state, actions: [], ledger: [] })
}

/** Helpers' turns are no turns of the session; their tools count for it. */
function concerns(event: Handled): boolean {
  switch (event.kind) {
    case 'session-started':
    case 'compacted':
    case 'tool-finished':
    case 'file-changed':
    case 'session-ended':
      return true
    case 'person-spoke':
    case 'turn-started':
    case 'turn-ended':
      return event.agent === undefined
    default:
      return false
  }
}

/** One event's work: the state and the actions as they grow. */
class Moment {
  private readonly keel: KeelProject
  private readonly deps: KeelDeps
  private readonly options: KeelEngineOptions
  private readonly event: SessionEvent
  private readonly context: StepContext
  private state: KeelState
  private readonly actions: Action[] = []
  private readonly ledger: LedgerLine[] = []
  private acks: readonly Ack[] = []

  constructor(
    keel: KeelProject,
    deps: KeelDeps,
    options: KeelEngineOptions,
    state: KeelState,
    event: SessionEvent,
    context: StepContext,
  ) {
    this.keel = keel
    this.deps = deps
    this.options = options
    this.state = state
    this.event = event
    this.context = context
  }

  result(): Step<KeelState> {
    return { state: this.state, actions: this.actions, ledger: this.ledger }
  }

  async handle(event: Handled): Promise<void> {
    switch (event.kind) {
      case 'session-started':
        return this.started()
      case 'compacted':
        return this.compacted()
      case 'person-spoke':
        return this.spoke()
      case 'turn-started':
        return this.turnStarted(event)
      case 'tool-finished':
        return this.toolFinished(event)
      case 'file-changed':
        await this.keel.refresh({ kind: 'files', paths: [event.path] }, this.budget)
        return
      case 'turn-ended':
        return this.turnEnded(event)
      case 'session-ended':
        await this.withStore(store => unmarkLive(store, event.session), undefined)
        await this.keel.unclaim(event.session)
        return this.saveCache()
      default:
        return
    }
  }

  async command(event: EventOf<'command-run'>): Promise<void> {
    const reply = await answerKeelCommand(event.args, { keel: this.keel, deps: this.deps })
    this.actions.push({ kind: 'reply', id: this.context.newId(), engine: 'keel', ...reply })
  }

  private async started(): Promise<void> {
    await this.keel.refresh({ kind: 'full', searchMoves: true }, this.budget)
    if (await this.hasNoChildren()) return
    await this.boundary()
    await this.markLive()
    this.state = { ...forgetTold(this.state), open: null, hasHeld: false, toast: null }
    const look = await this.look()
    this.state = { ...this.state, base: look.keys }
    this.sayStart(look)
    const { paths } = watched(this.keel)
    if (paths.length > 0) this.actions.push({ kind: 'watch', id: this.context.newId(), engine: 'keel', paths })
    this.status(look)
    await this.saveCache()
  }

  private async compacted(): Promise<void> {
    await this.keel.refresh({ kind: 'known' }, this.budget)
    if (await this.hasNoChildren()) return
    this.state = forgetTold(this.state)
    this.sayStart(await this.look())
  }

  private sayStart(look: Look): void {
    if (look.open.length === 0) return
    const told = look.open.map(edge => ({ edge }))
    this.add(startMessage(told, this.message(this.context.chars)), `keel: ${look.open.length} behind`, {
      keys: look.open.map(suspectKey),
    })
  }

  private async spoke(): Promise<void> {
    const { open } = this.state
    if (open === null) return this.prompt({ number: null, awaits: 'start' })
    if (open.awaits === 'words') {
      this.state = { ...this.state, open: { ...open, awaits: null } }
      return
    }
    return this.prompt(null)
  }

  private async turnStarted(event: EventOf<'turn-started'>): Promise<void> {
    const { open } = this.state
    if (open !== null && open.number === null) {
      this.state = { ...this.state, open: { number: event.turn, awaits: null } }
      return
    }
    if (open !== null && open.number === event.turn) return
    return this.prompt({ number: event.turn, awaits: event.by === 'person' ? 'words' : null })
  }

  /** @param opens - the turn that opens; `null`: more words in an open turn. */
  private async prompt(opens: OpenTurn | null): Promise<void> {
    await this.keel.refresh({ kind: 'known' }, this.budget)
    if (await this.hasNoChildren()) {
      if (opens !== null) this.state = openTurn(this.state, opens, [])
      return
    }
    const look = await this.look()
    if (opens !== null) {
      this.state = openTurn(this.state, opens, look.keys)
      await this.markLive()
    }
    const parts: string[] = []
    const said: { -readonly [K in keyof Said]?: Said[K] } = {}
    const room = (): number => this.context.chars - parts.reduce((sum, part) => sum + part.length + 2, 0)
    if (this.state.stamped.length > 0 && room() > caps.note) {
      parts.push(stampedMessage(this.state.stamped))
      said.stamped = this.state.stamped
    }
    if (this.state.counted.length > 0 && room() > caps.note) {
      parts.push(countedMessage(this.state.counted))
      said.counted = this.state.counted
    }
    if (look.fresh.length > 0 && room() >= leastRoom) {
      parts.push(promptMessage(await this.withDiffs(look.fresh), this.message(room())))
      said.keys = look.fresh.map(suspectKey)
    }
    if (opens !== null) {
      const reminded = new Set<SuspectKey>()
      for (const [turns, edges] of this.due(look)) {
        if (room() < leastRoom) break
        parts.push(remindMessage(turns, edges, this.message(room())))
        for (const edge of edges) reminded.add(suspectKey(edge))
      }
      if (reminded.size > 0) said.reminded = [...reminded]
    }
    if (parts.length === 0) return
    this.add(parts.join('\n\n'), summaryOf(look.fresh.length, said), said)
  }

  /** Told suspects that are due for a reminder, by how many turns ago that was. */
  private due(look: Look): ReadonlyMap<number, readonly Edge[]> {
    const groups = new Map<number, Edge[]>()
    for (const edge of look.open) {
      const turns = reminderDue(this.state, suspectKey(edge), this.keel.config.remindAfterTurns)
      if (turns !== null) groups.set(turns, [...(groups.get(turns) ?? []), edge])
    }
    return new Map([...groups].sort(([a], [b]) => a - b))
  }

  private async toolFinished(event: ToolFinished): Promise<void> {
    this.state = settleTurn(this.state)
    const written = event.written ?? []
    const isNamed = written.length > 0 && touchedBy(event.tool, event.input).written.length > 0
    const mayHaveWritten = written.length > 0 || mayWrite(event.tool)
    if (!mayHaveWritten) return this.rememberRead(event.read ?? [])
    const refreshes: Refreshed[] = []
    if (written.length > 0) refreshes.push(await this.keel.refresh({ kind: 'files', paths: written }, this.budget))
    if (!isNamed) refreshes.push(await this.keel.refresh({ kind: 'known' }, this.budget))
    if (await this.hasNoChildren()) return
    this.rememberRead([...(event.read ?? []), ...written])
    const unnamed = refreshes.flatMap(one => one.movedChildren).filter(child => !written.includes(child))
    const mayCount = unnamed.length > 0 && (await this.isAlone())
    await this.countEdits(new Set([...written, ...(mayCount ? unnamed : [])]), refreshes)
    const look = await this.look()
    const moved = new Set([...written, ...refreshes.flatMap(one => one.movedTargets)])
    const concerned = look.fresh.filter(edge => derivesFrom(edge, moved) !== null)
    if (concerned.length === 0) return
    const targets = [...new Set(concerned.map(edge => derivesFrom(edge, moved)!))].sort()
    this.add(
      toolMessage(targets, await this.withDiffs(concerned), this.message(this.context.chars)),
      `keel: ${names(targets)} changed, ${concerned.length} to review`,
      { keys: concerned.map(suspectKey) },
    )
  }

  /** Targets that the agent has read or written, with their content now. */
  private rememberRead(paths: readonly string[]): void {
    const seen = new Map(this.state.seen)
    for (const path of paths) {
      if (!this.keel.edgesOf(path).some(edge => edge.target === path)) continue
      const content = this.keel.contentId(path)
      if (content !== null) seen.set(path, content)
    }
    if (!isSameMap(seen, this.state.seen)) this.state = { ...this.state, seen }
  }

  /** Edits of documents that count as their review. */
  private async countEdits(children: ReadonlySet<string>, refreshes: readonly Refreshed[]): Promise<void> {
    const edges = this.keel.assessment().edges.filter(edge => children.has(edge.child))
    for (const child of new Set(edges.map(edge => edge.child))) await this.keel.claim(this.event.session, child)
    const moved = new Map(refreshes.flatMap(one => one.movedScopes).map(one => [one.edge, one.before]))
    const acks = reviewedEdits({
      edges,
      before: edge => this.state.scopes.get(edge) ?? moved.get(edge) ?? null,
      after: edge => this.keel.scopeId(edge),
      wasTold: key => this.state.told.has(key),
      knowsTarget: target => {
        const seen = this.state.seen.get(target)
        return seen !== undefined && seen === this.keel.contentId(target)
      },
      config: this.keel.config,
      session: this.event.session,
    })
    if (acks.length === 0) return
    this.state = { ...this.state, reviewed: new Map([...this.state.reviewed, ...acks.map(ack => [ack.edge, ack] as const)]) }
    this.note('reviewed', `counted edits as the review of ${acks.length} ${acks.length === 1 ? 'edge' : 'edges'}`)
  }

  /** The agent would stop now. */
  async ending(event: EventOf<'turn-ending'>): Promise<void> {
    this.state = settleTurn(this.state)
    await this.keel.refresh({ kind: 'known' }, this.budget)
    if (await this.hasNoChildren()) return
    const stamped = await this.boundary()
    const look = await this.look()
    const made = madeInTurn(this.state, look)
    const why = this.whyNotHeld(event, made)
    if (why === null) await this.hold(made)
    else if (made.length > 0) this.note('not-held', `did not hold the turn: ${made.length} to review`, why)
    this.toast(look, made, stamped)
    this.status(look)
    await this.keel.writeStatus()
    await this.saveCache()
  }

  private whyNotHeld(event: EventOf<'turn-ending'>, made: readonly Edge[]): string | null {
    const { config } = this.keel
    if (made.length === 0) return 'nothing-new'
    if (!config.tell || config.hold === 'off') return 'switched-off'
    if (event.again || this.state.hasHeld) return 'held-already'
    if (this.context.busy.has('background')) return 'background'
    return this.context.chars < leastRoom ? 'no-room' : null
  }

  private async hold(made: readonly Edge[]): Promise<void> {
    const { stamped } = this.state
    const told = await this.withDiffs(made, caps.stopItems)
    const { text, named } = stopMessage(told, stamped, this.message(this.context.chars))
    const id = this.context.newId()
    this.actions.push({ kind: 'hold-stop', id, engine: 'keel', text })
    this.state = say(this.state, id, { keys: named.map(suspectKey), stamped, held: true })
    this.note('hold', `held the turn once: ${made.length} to review`)
  }

  private async turnEnded(event: EventOf<'turn-ended'>): Promise<void> {
    this.state = { ...this.state, open: null }
    await this.keel.unclaim(event.session)
    if (event.reason !== 'completed') await this.keel.refresh({ kind: 'known' }, this.budget)
    if (this.keel.assessment().children > 0) this.status(await this.look())
  }

  /** Write stamps: new ones, what was acknowledged, what was reviewed. Answers the documents written. */
  private async boundary(): Promise<readonly string[]> {
    const { session } = this.event
    const acks = await this.waitingAcks()
    const reviewed = [...this.state.reviewed.values()]
    const result = await this.keel.boundary({
      acks: [...reviewed, ...acks],
      onBusy: 'leave',
      who: { kind: 'agent', session },
      byAgent: true,
      session,
    })
    if (result.busy) {
      this.note('not-stamped', 'left the stamps for the next boundary', 'busy')
      return []
    }
    await this.settle(result, acks)
    for (const { child, why } of result.skipped) this.note('stamp-skipped', `stamp skipped: ${child}`, why)
    if (result.written.length > 0) this.note('stamped', `stamped ${names(result.written)}`)
    return result.written
  }

  private async settle(result: BoundaryResult, acks: readonly Ack[]): Promise<void> {
    const skipped = new Set(result.skipped.map(one => one.child))
    const childOf = new Map(this.keel.assessment().edges.map(edge => [edge.id, edge.child]))
    const isDone = (ack: Ack): boolean => !skipped.has(childOf.get(ack.edge) ?? '')
    const done = acks.filter(isDone)
    if (done.length > 0) await this.withStore(store => dropAcks(store, this.event.session, done), undefined)
    this.acks = acks.filter(ack => !isDone(ack))
    const counted = result.stamped.filter(one => one.kind === 'updated').map(({ child, source, old }) => ({ child, source, old }))
    this.state = {
      ...this.state,
      reviewed: new Map([...this.state.reviewed].filter(([, ack]) => !isDone(ack))),
      stamped: [...new Set([...this.state.stamped, ...result.written])],
      counted: [...this.state.counted, ...counted],
    }
  }

  /** Look, and remember what was seen. */
  private async look(): Promise<Look> {
    const assessment = this.keel.assessment()
    if (assessment.edges.some(edge => edge.state === 'suspect')) this.acks = await this.waitingAcks()
    const look = lookAt(this.state, assessment, this.acks)
    this.state = remember(this.state, look, assessment, edge => this.keel.scopeId(edge))
    return look
  }

  private waitingAcks(): Promise<readonly Ack[]> {
    return this.withStore(store => pendingAcks(store, this.event.session), [])
  }

  private isAlone(): Promise<boolean> {
    return this.withStore(store => isAlone(store, this.event.session, this.event.at), false)
  }

  private markLive(): Promise<void> {
    return this.withStore(store => markLive(store, this.event.session, this.event.at), undefined)
  }

  /** A store that cannot be opened takes nothing away but what lives in it. */
  private async withStore<T>(use: (store: Store) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await use(await this.deps.store())
    } catch {
      return otherwise
    }
  }

  /** No document declares a source: nothing is said and nothing written; when the last one goes, the status says so once. */
  private async hasNoChildren(): Promise<boolean> {
    if (this.keel.assessment().children > 0) return false
    if (this.state.hadChildren) {
      this.state = { ...forgetTold(this.state), hadChildren: false, scopes: new Map(), reviewed: new Map(), base: new Set() }
      this.actions.push({ kind: 'status', id: this.context.newId(), engine: 'keel', text: null })
      await this.keel.writeStatus()
    }
    return true
  }

  private async withDiffs(edges: readonly Edge[], wanted: number = caps.diffs): Promise<readonly Told[]> {
    const told: Told[] = []
    let found = 0
    let asked = 0
    for (const edge of edges) {
      if (edge.class !== 'moved' || edge.old === null || found >= wanted || asked >= 2 * wanted) {
        told.push({ edge })
        continue
      }
      asked++
      const diff = await this.keel.diff(edge)
      if (diff.status === 'ok') found++
      told.push({ edge, diff: diff.text === null ? diff : { ...diff, text: this.deps.mask(diff.text) } })
    }
    return told
  }

  private message(chars: number): { readonly chars: number; readonly hasAckTool: boolean } {
    return { chars, hasAckTool: this.options.hasAckTool }
  }

  private add(text: string, summary: string, said: Partial<Said>): void {
    if (!this.keel.config.tell) return
    if (this.context.chars < leastRoom) {
      this.note('not-told', 'kept the message for the next moment', 'no-room')
      return
    }
    const id = this.context.newId()
    this.actions.push({ kind: 'add-context', id, engine: 'keel', text, summary: summary.slice(0, 120) })
    this.state = say(this.state, id, said)
    this.note('told', summary)
  }

  private toast(look: Look, made: readonly Edge[], stamped: readonly string[]): void {
    if (!this.keel.config.tell || (made.length === 0 && stamped.length === 0)) return
    const documents = new Set(look.open.map(edge => edge.child)).size
    const parts = [
      ...(documents > 0 ? [`${documents} document(s) to review`] : []),
      ...(stamped.length > 0 ? [`stamped ${names(stamped)}`] : []),
    ]
    const text = `keel: ${parts.join('; ')}`
    if (parts.length === 0 || text === this.state.toast) return
    this.state = { ...this.state, toast: text }
    this.actions.push({
      kind: 'notify',
      id: this.context.newId(),
      engine: 'keel',
      level: documents > 0 ? 'warning' : 'info',
      text,
    })
  }

  private status(look: Look): void {
    const text = statusText(this.keel, look.suspects.length)
    this.actions.push({ kind: 'status', id: this.context.newId(), engine: 'keel', text })
  }

  private note(what: string, text: string, reason?: string): void {
    this.ledger.push({ what, text, ...(reason !== undefined && { reason }) })
  }

  private async saveCache(): Promise<void> {
    if (this.keel.assessment().children > 0) await this.keel.save()
  }

  private get budget(): { readonly budgetMs: number } {
    return { budgetMs: this.keel.config.sweepBudgetMs }
  }
}

/** Work has begun: the other half of the turn's beginning does not come right after any more. */
function settleTurn(state: KeelState): KeelState {
  return state.open === null || state.open.awaits === null ? state : { ...state, open: { ...state.open, awaits: null } }
}

function summaryOf(fresh: number, said: Partial<Said>): string {
  if (fresh > 0) return `keel: ${fresh} fell behind`
  const reminded = said.reminded?.length ?? 0
  return reminded > 0 ? `keel: ${reminded} still not reviewed` : `keel: stamps written in ${names(said.stamped ?? [])}`
}

function isSameMap(a: ReadonlyMap<string, Hex12>, b: ReadonlyMap<string, Hex12>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}
