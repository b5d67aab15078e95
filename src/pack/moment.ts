/**
 * The work on one event of one session: the state and the actions as they grow. What to do at which event
 * is in `engine.ts` and `flows/`.
 */
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Action, ActionOf } from '../session/actions.ts'
import type { LedgerLine, Step, StepContext } from '../session/engine.ts'
import type { SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import type { Records } from './records.ts'
import { type PackState, streamOf } from './session.ts'
import { statusOf } from './status.ts'
import type { PackProject } from './types.ts'
import { percentOf } from './zones.ts'

export interface MomentParts {
  readonly pack: PackProject
  readonly records: Records
  readonly clock: Clock
  /** The host has no other way to teach: M0 is said at the start of a session. */
  readonly teachesAtStart: boolean
}

type Unsigned<A> = A extends Action ? Omit<A, 'id' | 'engine'> : never

export class Moment {
  readonly pack: PackProject
  readonly records: Records
  readonly clock: Clock
  readonly teachesAtStart: boolean
  readonly event: SessionEvent
  readonly facts: SessionFacts
  readonly context: StepContext
  state: PackState
  private readonly actions: Action[] = []
  private readonly ledger: LedgerLine[] = []
  private hasReplied = false

  constructor(parts: MomentParts, state: PackState, event: SessionEvent, facts: SessionFacts, context: StepContext) {
    this.pack = parts.pack
    this.records = parts.records
    this.clock = parts.clock
    this.teachesAtStart = parts.teachesAtStart
    this.state = state
    this.event = event
    this.facts = facts
    this.context = context
  }

  get session(): string {
    return this.event.session
  }

  get stream(): string | null {
    return streamOf(this.state)
  }

  /** Of the window, by the last measure; 0 when it is not known. */
  get percent(): number {
    return this.facts.context === null ? 0 : percentOf(this.facts.context)
  }

  /** No turn, nothing queued, nobody asked, nothing in the background. */
  get isIdle(): boolean {
    return (['running', 'queued', 'approval', 'asked', 'background'] as const).every(reason => !this.context.busy.has(reason))
  }

  /** The state after this event; the status line goes out when it is another one. */
  result(): Step<PackState> {
    const line = statusOf(this.state, { now: this.event.at, percent: this.percent })
    const shown = line.text === null ? '' : `${line.isUrgent ? '!' : ''}${line.text}`
    if (shown !== this.state.shown && this.event.kind !== 'session-ended') {
      this.ask({ kind: 'status', text: line.text, ...(line.isUrgent && { urgent: true }) })
      this.set({ shown })
    }
    return { state: this.state, actions: this.actions, ledger: this.ledger }
  }

  set(change: Partial<PackState>): void {
    this.state = { ...this.state, ...change }
  }

  /** @returns the action's id. */
  ask(action: Unsigned<Action>): string {
    const id = this.context.newId()
    this.actions.push({ id, engine: 'pack', ...action } as Action)
    return id
  }

  notify(text: string, level: ActionOf<'notify'>['level'] = 'info', ms?: number): void {
    this.ask({ kind: 'notify', level, text, ...(ms !== undefined && { ms }) })
  }

  /** Answer the command that is being handled; what comes later is a notice. */
  say(ok: boolean, text: string, ms?: number): void {
    const { event } = this
    // A host that asks by itself reads no answer; the ledger has what was done.
    if (event.kind === 'command-run' && event.by === 'host') return
    if (event.kind !== 'command-run' || this.hasReplied) {
      this.notify(text, ok ? 'info' : 'warning', ms)
      return
    }
    this.hasReplied = true
    this.ask({ kind: 'reply', ok, text: `${event.name}: ${text}` })
  }

  note(what: string, text: string, more: { readonly reason?: string; readonly detail?: Json } = {}): void {
    this.ledger.push({ what, text, ...more })
  }

  /** `true` the first time in this session. */
  tellsFirst(key: string): boolean {
    if (this.state.told.includes(key)) return false
    this.set({ told: [...this.state.told, key] })
    return true
  }

  wake(key: string, ms: number): void {
    this.ask({ kind: 'wake', key, due: this.event.at + ms })
  }

  cancelWake(key: string): void {
    this.ask({ kind: 'cancel-wake', key })
  }
}

/** The words of what went wrong; a fault that is not ours is thrown on. */
export function reasonOf(error: unknown): string {
  if (error instanceof OutriggerError) return error.message
  throw error
}
