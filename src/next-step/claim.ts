/** From a completed turn to its one offer: the claim, the local tier, the model's answer. Each step acts on the current `gen` only. */
import type { Usage } from '../session/events.ts'
import { suggestInput } from './input.ts'
import { type Candidate, candidatesOf } from './local.ts'
import { startCheck } from './loop.ts'
import type { Moment } from './moment.ts'
import { type Judged, judgeText } from './offer.ts'
import { identityOf } from './types.ts'

const maxUnasked = 3

export type ClaimReason = 'turn-ended' | 'redelivered' | 'compacted' | 'goal-changed' | 'arm' | 'suggest' | 'on'

/** Why this session gets no offers; `null`: it does. */
export function ineligible(m: Moment): string | null {
  const { isChild, isInteractive, isMounted } = m.facts
  if (isChild) return 'not-root'
  if (!isInteractive) return 'not-interactive'
  if (!isMounted) return 'not-mounted'
  if (m.stored.off) return 'off'
  return m.model === '' && !m.world.config.local ? 'not-enabled' : null
}

/** Claim the newest turn, which is completed. The only way to an offer. */
export function claim(m: Moment, why: ClaimReason): void {
  const turn = m.completedTurn
  if (turn === null) return
  const reason = ineligible(m)
  if (reason !== null) {
    if (m.local.skipped !== reason) m.note('skip', reason, { turn, gen: null })
    m.setLocal({ skipped: reason })
    return
  }
  m.setLocal({ skipped: null })
  const isAsked = why === 'suggest' || why === 'on' || why === 'arm'
  const unasked = m.stored.claims.turn === turn ? m.stored.claims.count : 0
  if (!isAsked && unasked >= maxUnasked) {
    m.note('skip', 'generation-limit', { turn })
    return
  }
  abandon(m, 'newer-claim')
  const gen = m.world.mint.claim()
  m.setStored({ owner: m.world.owner, isUnstarted: false, claims: { turn, count: unasked + (isAsked ? 0 : 1) } })
  m.setRow({
    turn,
    gen,
    status: 'analyzing',
    text: '',
    intent: 'worker-step',
    via: null,
    goal: identityOf(m.facts.goals.goal),
    reason: null,
    error: null,
    by: null,
  })
  m.note('claim', why)
  m.setLocal({ generation: { gen, turn, isAsked: false } })
  if (startCheck(m, turn)) return
  ask(m)
}

function candidates(m: Moment): readonly Candidate[] {
  if (!m.world.config.local) return []
  const { work, todos, answer } = m.facts
  return candidatesOf({ work, todos, answer: answer ?? '' }, contextOf(m))
}

const contextOf = (m: Moment) => ({
  maxChars: m.world.config.maxChars,
  said: m.facts.said,
  declined: m.stored.declined.slice(-5),
})

/** Go on with the claim that is current: ask the model, or take what needs none. */
export function ask(m: Moment): void {
  const { generation } = m.local
  if (generation === null || generation.isAsked) return
  const { config, now, mint, outline } = m.world
  const hints = candidates(m)
  const first = hints[0]
  const { model } = m
  if (first !== undefined && (model === '' || config.prefer === 'local')) {
    ready(m, first, 'local')
    return
  }
  if (model === '') {
    quiet(m, 'nothing-local')
    return
  }
  const input = suggestInput({
    facts: m.facts,
    maxChars: config.maxChars,
    contextChars: config.contextChars,
    outline,
    check: m.local.lastCheck,
    hints,
    fired: m.stored.fired,
    declined: m.stored.declined,
    hex: mint.hex(),
  })
  if (input === null) {
    quiet(m, 'nothing-yet')
    return
  }
  const { gen, turn } = generation
  const { timeoutMs } = config
  m.setLocal({ generation: { gen, turn, isAsked: true } })
  m.add({ do: 'ask-model', ask: gen, purpose: 'suggest', turn, model, timeoutMs, ...input })
  m.add({ do: 'wake', key: `model:${gen}`, due: now + timeoutMs })
}

/** The model's text for a claim. @returns `false`: it is not the current one's. */
export function answered(m: Moment, gen: string, text: string, usage: Usage | undefined): boolean {
  if (!isCurrent(m, gen)) return false
  m.add({ do: 'cancel-wake', key: `model:${gen}` })
  spend(m, usage)
  settle(m, judgeText(text, contextOf(m)))
  return true
}

/** The model gave no text. A step that needs no model takes its place. */
export function unanswered(m: Moment, gen: string, reason: string, message: string | undefined): boolean {
  if (!isCurrent(m, gen)) return false
  m.add({ do: 'cancel-wake', key: `model:${gen}` })
  const first = candidates(m)[0]
  if (first === undefined) fail(m, reason, message)
  else {
    m.note('failed', reason)
    ready(m, first, 'local')
  }
  return true
}

export function spend(m: Moment, usage: Usage | undefined): void {
  if (m.loop === null || usage === undefined) return
  const used = usage.input + usage.output
  // What cannot be counted gives nothing back.
  if (!(used > 0)) return
  const { rounds, tokens } = m.loop.spent
  m.setLoop({ spent: { rounds, tokens: tokens + used } })
}

function isCurrent(m: Moment, gen: string): boolean {
  const { row, local } = m
  return local.generation?.gen === gen && local.generation.isAsked && row?.gen === gen && row.status === 'analyzing'
}

function settle(m: Moment, judged: Judged): void {
  switch (judged.kind) {
    case 'offer':
      ready(m, judged, 'model')
      return
    case 'quiet':
      quiet(m, judged.reason)
      return
    case 'failed':
      fail(m, judged.reason, undefined)
      return
    default:
      judged satisfies never
      return
  }
}

function ready(m: Moment, { text, intent }: Pick<Candidate, 'text' | 'intent'>, via: 'model' | 'local'): void {
  done(m)
  m.setRow({ status: 'ready', text, intent, via })
  m.note('ready', via)
}

function quiet(m: Moment, reason: string): void {
  done(m)
  m.setRow({ status: 'quiet', reason })
  m.note('quiet', reason)
}

function fail(m: Moment, reason: string, message: string | undefined): void {
  done(m)
  m.setRow({ status: 'failed', reason, error: message === undefined ? null : message.slice(0, 200) })
  m.note('failed', reason)
}

function done(m: Moment): void {
  m.setLocal({ generation: null })
  m.setStored({ owner: null })
}

/** Let the claim in flight go; its answer will be late. */
export function abandon(m: Moment, why: string): void {
  const { generation } = m.local
  if (generation === null) return
  m.setLocal({ generation: null })
  if (!generation.isAsked) return
  m.add({ do: 'cancel-wake', key: `model:${generation.gen}` })
  m.add({ do: 'cancel-model', ask: generation.gen, why })
}

/** An offer that is shown or looked for is no longer the right one. */
export function supersede(m: Moment, why: string): boolean {
  const status = m.row?.status
  if (status !== 'ready' && status !== 'analyzing') return false
  abandon(m, why)
  m.setRow({ status: 'superseded', reason: why })
  m.setStored({ owner: null })
  m.note('supersede', why)
  return true
}

/** What a process that is gone left half done. */
export function recover(m: Moment): void {
  const { row, stored, world } = m
  const isGone = (owner: string | null) =>
    owner === null ||
    (owner === world.owner ? m.local.generation === null && m.local.pending === null && m.loop === null : !world.isAlive(owner))
  if (row?.status === 'analyzing' && isGone(stored.owner)) {
    m.setRow({ status: 'failed', reason: 'interrupted' })
    m.setStored({ owner: null })
    m.note('recover', 'interrupted')
  }
  if (row?.status === 'consumed' && stored.isUnstarted && isGone(stored.owner)) {
    const isNewest = m.facts.turn === null || m.facts.turn.turn === row.turn
    m.setRow(isNewest ? { status: 'ready', by: null } : { status: 'superseded', reason: 'newer-turn', by: null })
    m.setStored({ owner: null, isUnstarted: false })
    m.note('recover', 'unstarted')
  }
}
