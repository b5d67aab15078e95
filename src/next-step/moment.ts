/** One step in the making: the values as they are now, and what was asked for so far. The rules are in `claim.ts`, `loop.ts`, `react.ts`. */
import type { Effect, OfferShown, SessionValue, StepResult, StepWorld } from './effects.ts'
import type { NextFacts } from './facts.ts'
import { atWork, firstGuard } from './guards.ts'
import { statusText } from './texts.ts'
import { type Local, type Loop, noLocal, type Row, type Spent, type Stored } from './types.ts'

export class Moment {
  readonly world: StepWorld
  readonly before: SessionValue
  stored: Stored
  facts: NextFacts
  local: Local
  override: string | null
  /** What is handled now may begin a turn. */
  mayStart = true
  readonly effects: Effect[] = []

  constructor(before: SessionValue, facts: NextFacts, world: StepWorld) {
    this.world = world
    this.before = before
    this.stored = before.stored
    this.facts = facts
    this.local = before.local
    this.override = world.modelOverride
  }

  get row(): Row | null {
    return this.stored.row
  }

  get loop(): Loop | null {
    return this.local.loop
  }

  get model(): string {
    return this.override ?? this.world.config.model
  }

  /** The newest turn when it is over and was completed, else `null`. */
  get completedTurn(): number | null {
    const { turn } = this.facts
    return turn !== null && !turn.isOpen && turn.reason === 'completed' ? turn.turn : null
  }

  get isTurnOpen(): boolean {
    return this.facts.turn?.isOpen === true
  }

  add(effect: Effect): void {
    this.effects.push(effect)
  }

  /** One line of the ledger; the newest offer's turn and gen go with it unless others are given. */
  note(
    what: string,
    reason: string,
    more: { turn?: number | null; gen?: string | null; detail?: Readonly<Record<string, string | number>> } = {},
  ): void {
    const { turn = this.row?.turn ?? this.facts.turn?.turn ?? null, gen = this.row?.gen ?? null, detail } = more
    this.add({ do: 'ledger', what, reason, turn, gen, ...(detail !== undefined && { detail }) })
  }

  setLocal(change: Partial<Local>): void {
    this.local = { ...this.local, ...change }
  }

  setStored(change: Partial<Stored>): void {
    this.stored = { ...this.stored, ...change }
  }

  setLoop(change: Partial<Loop>): void {
    if (this.local.loop !== null) this.local = { ...this.local, loop: { ...this.local.loop, ...change } }
  }

  setRow(change: Partial<Row>): void {
    const empty: Row = {
      v: 1,
      turn: null,
      gen: null,
      status: 'analyzing',
      text: '',
      intent: 'worker-step',
      via: null,
      goal: null,
      reason: null,
      error: null,
      by: null,
      at: '',
    }
    const row: Row = { ...(this.stored.row ?? empty), ...change, at: new Date(this.world.now).toISOString() }
    this.setStored({ row })
    this.add({ do: 'row', row })
  }

  get spent(): Spent {
    const { loop, lastSpent } = this.local
    if (loop === null) return lastSpent
    return { ...loop.spent, ms: Math.min(Math.max(this.world.now - loop.armedAt, 0), loop.grant.ms) }
  }

  /** Everything that this process remembers of the session goes. */
  release(): void {
    this.local = { ...noLocal, stopped: this.local.stopped, lastSpent: this.local.lastSpent, lastGrant: this.local.lastGrant }
  }

  loopLine(): Extract<Effect, { readonly do: 'loop' }> {
    const { loop, stopped, lastGrant } = this.local
    return {
      do: 'loop',
      armed: loop !== null,
      reason: loop === null ? stopped : null,
      hold: loop?.hold ?? null,
      grant: loop?.grant ?? lastGrant,
      spent: this.spent,
    }
  }

  status(): string | null {
    const { isChild, isInteractive, isMounted } = this.facts
    if (isChild || !isInteractive || !isMounted) return null
    const { loop, stopped } = this.local
    return statusText({
      isOff: this.stored.off,
      model: this.model,
      local: this.world.config.local,
      isReady: this.row?.status === 'ready',
      loop,
      spent: this.spent,
      holdDetail: this.holdDetail(),
      stopped,
    })
  }

  /** What a hold's words need beside its name. */
  holdDetail(): string {
    const { loop } = this.local
    if (loop?.hold === 'background') return String(atWork(this.facts))
    if (loop?.hold !== 'risky' || this.row === null) return ''
    const { facts, row } = this
    return firstGuard({ facts, row, loop, isChecking: false, risk: 'hold' })?.detail ?? ''
  }

  /** The lines that follow from what changed. */
  result(): StepResult {
    const shown = offerOf(this.before.stored.row)
    const shows = offerOf(this.stored.row)
    if (shown?.gen !== shows?.gen) this.add({ do: 'show-offer', offer: shows })
    if (isOtherLine(this.before.local, this.local)) this.add(this.loopLine())
    const status = this.status()
    if (status !== this.local.status) {
      this.setLocal({ status })
      this.add({ do: 'status', text: status })
    }
    const newest = this.facts.turn
    if (newest !== this.stored.newest) this.setStored({ newest })
    const { stored, facts, local, effects } = this
    return { stored, facts, local, effects }
  }
}

export function offerOf(row: Row | null): OfferShown | null {
  if (row?.status !== 'ready') return null
  const { turn, gen, text, intent } = row
  return { turn, gen, text, intent }
}

/** Does the loop show anything else now? Time that passes alone is no change. */
function isOtherLine(before: Local, now: Local): boolean {
  if (before.loop === now.loop && before.stopped === now.stopped) return false
  if (before.loop === null || now.loop === null) return before.loop !== now.loop || before.stopped !== now.stopped
  const { hold, grant, spent } = before.loop
  return (
    hold !== now.loop.hold ||
    grant !== now.loop.grant ||
    spent.rounds !== now.loop.spent.rounds ||
    spent.tokens !== now.loop.spent.tokens
  )
}
