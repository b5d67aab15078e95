/**
 * The work on one event of one session: the state and the actions as they grow, and what every kind of
 * moment does: look, say, stamp. The moments themselves are in `beginning.ts`, `at-work.ts` and `ending.ts`.
 */
import type { Store } from '../../ports/store.ts'
import type { Action } from '../../session/actions.ts'
import type { LedgerLine, Step, StepContext } from '../../session/engine.ts'
import type { SessionEvent } from '../../session/events.ts'
import { cutEnd } from '../../text/data.ts'
import { dropAcks, pendingAcks } from '../acks.ts'
import type { KeelDeps } from '../deps.ts'
import { type Look, lookAt, remember } from '../look.ts'
import { caps, type MessageOptions, type Told } from '../messages.ts'
import { names } from '../naming.ts'
import { isAlone, markLive } from '../peers.ts'
import { forgetTold, type KeelState, type Said, say } from '../session.ts'
import type { Ack, BoundaryResult, Edge, KeelProject, Refreshed } from '../types.ts'
import { statusText } from '../watching.ts'

export interface MomentParts {
  readonly keel: KeelProject
  readonly deps: KeelDeps
  readonly hasAckTool: boolean
}

/** Below this a message would be all frame: it waits for the next moment. */
export const leastRoom = 400

export class Moment {
  readonly keel: KeelProject
  readonly deps: KeelDeps
  readonly event: SessionEvent
  readonly context: StepContext
  readonly actions: Action[] = []
  state: KeelState
  private readonly hasAckTool: boolean
  private readonly ledger: LedgerLine[] = []
  private acks: readonly Ack[] = []

  constructor({ keel, deps, hasAckTool }: MomentParts, state: KeelState, event: SessionEvent, context: StepContext) {
    this.keel = keel
    this.deps = deps
    this.hasAckTool = hasAckTool
    this.state = state
    this.event = event
    this.context = context
  }

  result(): Step<KeelState> {
    return { state: this.state, actions: this.actions, ledger: this.ledger }
  }

  /** Refresh all that is known. Answers the sources that moved since this session last did, whoever noticed first. */
  async refreshKnown(): Promise<Refreshed> {
    const refreshed = await this.keel.refresh({ kind: 'known' }, this.budget)
    const { targets, mark } = this.keel.movedSince(this.state.mark)
    if (mark !== this.state.mark) this.state = { ...this.state, mark }
    return { ...refreshed, movedTargets: targets }
  }

  /** Look, and remember what was seen. */
  async look(): Promise<Look> {
    const assessment = this.keel.assessment()
    if (assessment.edges.some(edge => edge.state === 'suspect')) this.acks = await this.waitingAcks()
    const look = lookAt(this.state, assessment, this.acks)
    this.state = remember(this.state, look, assessment, edge => this.keel.scopeId(edge))
    return look
  }

  /** Write stamps: new ones, what was acknowledged, what was reviewed. Answers the documents written. */
  async boundary(): Promise<readonly string[]> {
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

  async withDiffs(edges: readonly Edge[], wanted: number = caps.diffs): Promise<readonly Told[]> {
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

  /** Room and words of the messages of this moment. */
  message(chars: number = this.context.chars): MessageOptions {
    return { chars, hasAckTool: this.hasAckTool }
  }

  add(text: string, summary: string, said: Partial<Said>): void {
    if (!this.keel.config.tell) return
    if (this.context.chars < leastRoom) {
      this.note('not-told', 'kept the message for the next moment', 'no-room')
      return
    }
    const id = this.context.newId()
    this.actions.push({ kind: 'add-context', id, engine: 'keel', text, summary: cutEnd(summary, 120) })
    this.state = say(this.state, id, said)
    this.note('told', summary)
  }

  status(look: Look): void {
    const text = statusText(this.keel, look.suspects.length)
    this.actions.push({ kind: 'status', id: this.context.newId(), engine: 'keel', text })
  }

  note(what: string, text: string, reason?: string): void {
    this.ledger.push({ what, text, ...(reason !== undefined && { reason }) })
  }

  /** No document declares a source: nothing is said and nothing written; when the last one goes, the status says so once. */
  async hasNoChildren(): Promise<boolean> {
    if (this.keel.assessment().children > 0) return false
    if (this.state.hadChildren) {
      this.state = { ...forgetTold(this.state), hadChildren: false, scopes: new Map(), reviewed: new Map(), base: new Set() }
      this.actions.push({ kind: 'status', id: this.context.newId(), engine: 'keel', text: null })
      await this.keel.writeStatus()
    }
    return true
  }

  async saveCache(): Promise<void> {
    if (this.keel.assessment().children > 0) await this.keel.save()
  }

  isAlone(): Promise<boolean> {
    return this.withStore(store => isAlone(store, this.event.session, this.event.at), false)
  }

  markLive(): Promise<void> {
    return this.withStore(store => markLive(store, this.event.session, this.event.at), undefined)
  }

  private waitingAcks(): Promise<readonly Ack[]> {
    return this.withStore(store => pendingAcks(store, this.event.session), [])
  }

  /** A store that cannot be opened takes nothing away but what lives in it. */
  async withStore<T>(use: (store: Store) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await use(await this.deps.store())
    } catch {
      return otherwise
    }
  }

  get budget(): { readonly budgetMs: number } {
    return { budgetMs: this.keel.config.sweepBudgetMs }
  }
}
