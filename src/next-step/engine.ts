/**
 * next-step in a session of the runtime: events, commands and timers go to the pure step (`react.ts`), what it asks for becomes
 * actions. What must not survive the process (loop, claims in flight) stays in the engine's memory and is never stored.
 */
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { Action } from '../session/actions.ts'
import type { Engine, LedgerLine, Step, StepContext } from '../session/engine.ts'
import type { SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import { answerText, documentOf, type ReplyDocument } from './answer-text.ts'
import type { Command, Effect, Input, LeaseAnswer, Mint, SessionValue, StepWorld } from './effects.ts'
import { emptyNextFacts } from './facts.ts'
import { ledgerText } from './ledger-text.ts'
import { needsLease } from './loop.ts'
import { Moment } from './moment.ts'
import { step } from './react.ts'
import { decodeNext, encodeNext, isForgettable, type NextState, noNextState } from './state.ts'
import { isModelName, type NextConfig, noLocal } from './types.ts'
import { type NextView, viewOf } from './view.ts'
import { readWords, usage } from './words.ts'

export interface NextDeps {
  config(): NextConfig
  readonly clock: Clock
  store(): Promise<Store>
  /** `<pid>:<boot id>:<process start>` of this process. */
  owner(): string
  isAlive(owner: string): boolean
  /** Open lines of the session's work stream. */
  outline?(session: string): readonly string[]
  /** Lines of the ledger for `/next log`, newest last. */
  log?(session: string, count: number): Promise<readonly string[]>
}

const modelKey = 'next/model'
export const leaseKey = (session: string): string => `next/${session}`
const leaseMs = 30_000
const renewMs = 10_000
const maxTokens = 200

interface Memory {
  readonly facts: SessionValue['facts']
  readonly local: SessionValue['local']
}

type Handled = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

export function createNextEngine(deps: NextDeps): Engine<NextState> {
  /** Of sessions whose stored part was read again: what this process knew before. */
  const memories = new Map<string, Memory>()
  const views = new Map<string, string>()
  let override: string | null = null
  let isModelRead = false

  async function readModel(): Promise<void> {
    isModelRead = true
    try {
      const stored = (await (await deps.store()).get(modelKey))?.value as { readonly override?: unknown } | undefined
      override = isModelName(stored?.override) ? stored.override : null
    } catch {
      // Without a store the configuration's model counts.
      override = null
    }
  }

  async function writeModel(next: string | null): Promise<void> {
    override = next
    try {
      const store = await deps.store()
      const known = await store.get(modelKey)
      await store.put(modelKey, { override: next }, known?.version ?? 0)
    } catch {
      // It counts in this process all the same.
    }
  }

  const worldOf = (session: string): StepWorld => ({
    now: deps.clock.now(),
    config: deps.config(),
    modelOverride: override,
    owner: deps.owner(),
    isAlive: owner => deps.isAlive(owner),
    mint: mintOf(deps.clock),
    outline: deps.outline?.(session) ?? [],
  })

  async function lease(session: string, take: boolean): Promise<LeaseAnswer> {
    try {
      const answer = await (await deps.store()).lease(leaseKey(session), deps.owner(), leaseMs, { take })
      return answer.held ? { held: true } : { held: false, holder: answer.holder }
    } catch {
      // A store that cannot be used keeps nobody out; without a lease no loop may run.
      return { held: false, holder: 'the store cannot be used' }
    }
  }

  async function release(session: string): Promise<void> {
    try {
      const store = await deps.store()
      const held = (await store.leases()).find(({ key, owner }) => key === leaseKey(session) && owner === deps.owner())
      if (held === undefined) return
      const again = await store.lease(leaseKey(session), deps.owner(), leaseMs)
      if (again.held) await again.release()
    } catch {
      // What is not let go is free when its time is over.
    }
  }

  /** The step over inputs, one after the other, from the same beginning. */
  function play(
    value: SessionValue,
    inputs: readonly Input[],
    world: StepWorld,
  ): { readonly value: SessionValue; readonly effects: readonly Effect[] } {
    const effects: Effect[] = []
    let now = value
    for (const input of inputs) {
      const { effects: more, ...next } = step(now, input, world)
      now = next
      effects.push(...more)
    }
    return { value: now, effects }
  }

  async function run(
    state: NextState,
    session: string,
    project: string,
    input: Input | { readonly kind: 'typed'; readonly command: Command },
    context: StepContext,
  ): Promise<Step<NextState>> {
    if (!isModelRead || (input.kind === 'event' && input.event.kind === 'session-started')) await readModel()
    if (state.memory !== null) memories.set(session, state.memory)
    const known = memories.get(session)
    const memory: Memory = known ?? { facts: emptyNextFacts(project), local: noLocal }
    const value: SessionValue = { stored: state.stored, facts: memory.facts, local: memory.local }
    const world = worldOf(session)
    const inputs: Input[] = known === undefined ? [{ kind: 'mounted' }] : []
    if (input.kind !== 'typed') inputs.push(input)
    else inputs.push({ kind: 'command', command: input.command, lease: await leaseFor(session, value, input.command, world) })
    const wasArmed = value.local.loop !== null
    if (isRenewalInput(input) && wasArmed && !(await lease(session, false)).held) inputs.unshift({ kind: 'lease-lost' })
    let played = play(value, inputs, world)
    // Whoever lost the session to another process starts nothing in it any more.
    if (played.effects.some(effect => effect.do === 'submit' && effect.as === 'plugin') && !(await lease(session, false)).held) {
      played = play(value, [{ kind: 'lease-lost' }, ...inputs], world)
    }
    return finish(state, session, played, { wasArmed, isRenewal: isRenewalInput(input) }, context)
  }

  async function leaseFor(session: string, value: SessionValue, command: Command, world: StepWorld): Promise<LeaseAnswer | null> {
    if (command.name !== 'arm' || !needsLease(new Moment(value, value.facts, world), command)) return null
    return lease(session, command.take === true)
  }

  async function finish(
    state: NextState,
    session: string,
    { value, effects }: { readonly value: SessionValue; readonly effects: readonly Effect[] },
    { wasArmed, isRenewal }: { readonly wasArmed: boolean; readonly isRenewal: boolean },
    context: StepContext,
  ): Promise<Step<NextState>> {
    const actions: Action[] = []
    const ledger: LedgerLine[] = []
    for (const effect of effects) {
      if (effect.do === 'ledger') ledger.push(lineOf(effect))
      else if (effect.do === 'release-lease') await release(session)
      else if (effect.do === 'set-model') await writeModel(effect.override)
      else actions.push(...actionsOf(effect, context))
    }
    const isArmed = value.local.loop !== null
    if (isArmed && (!wasArmed || isRenewal))
      actions.push({ kind: 'wake', id: context.newId(), engine: 'next', key: 'renew', due: deps.clock.now() + renewMs })
    if (wasArmed && !isArmed) actions.push({ kind: 'cancel-wake', id: context.newId(), engine: 'next', key: 'renew' })
    actions.push(...shown(session, value, context))
    const { stored, facts, local } = value
    const { memory } = state
    const isSame = stored === state.stored && facts === memory?.facts && local === memory.local
    const next = isSame ? state : { stored, memory: { facts, local } }
    // Where there never was a step to suggest, nothing is to be kept: not even that there was none.
    return { state: next, actions, ledger: isForgettable(next) ? ledger.filter(({ what }) => !silences.has(what)) : ledger }
  }

  /** The whole view, when it is another one than the surfaces have. */
  function shown(session: string, value: SessionValue, context: StepContext): readonly Action[] {
    const view = viewOf(value, new Moment(value, value.facts, worldOf(session)).holdDetail())
    const json = JSON.stringify(view)
    const before = views.get(session)
    // A door without a place for it would say so at every turn.
    if (!context.carries.has('show-offer')) return []
    if (json === before || (before === undefined && isBlank(view))) return []
    views.set(session, json)
    const offer = view?.kind === 'offer' ? { turn: view.turn, gen: view.gen, text: view.text, intent: view.intent } : null
    return [
      {
        kind: 'show-offer',
        id: context.newId(),
        engine: 'next',
        offer,
        ...(view !== null && { view: view as unknown as Readonly<Record<string, unknown>> }),
      },
    ]
  }

  async function answerWords(
    state: NextState,
    event: Extract<Handled, { readonly kind: 'command-run' }>,
    context: StepContext,
  ): Promise<Step<NextState>> {
    const reply = (text: string, ok: boolean): Step<NextState> => ({
      state,
      actions: [{ kind: 'reply', id: context.newId(), engine: 'next', text, ok }],
      ledger: [],
    })
    const words = readWords(event.args, event.by)
    switch (words.kind) {
      case 'usage':
        return reply(usage, false)
      case 'log': {
        const lines = (await deps.log?.(event.session, words.count)) ?? []
        return reply(lines.length === 0 ? 'nothing yet' : lines.join('\n'), true)
      }
      case 'command':
        return run(state, event.session, event.project, { kind: 'typed', command: words.command }, context)
      default:
        return words satisfies never
    }
  }

  return {
    name: 'next',
    initial: noNextState,
    isForgettable,
    isInFlow: ({ memory }) => memory?.local.loop != null,
    encode: encodeNext,
    decode: decodeNext,
    async handle(state: NextState, event: Handled, _facts: SessionFacts, context: StepContext): Promise<Step<NextState>> {
      if (event.agent !== undefined || event.kind === 'file-changed' || event.kind === 'context-measured') return same(state)
      if (event.kind === 'command-run') return event.name === 'next' ? answerWords(state, event, context) : same(state)
      const { session, project } = event
      const done = await run(state, session, project, inputOf(event), context)
      if (event.kind === 'session-ended') {
        memories.delete(session)
        views.delete(session)
      }
      return done
    },
  }
}

/** What is said of a turn after which nothing is offered. */
const silences: ReadonlySet<string> = new Set(['claim', 'quiet', 'not-claimed'])

const same = (state: NextState): Step<NextState> => ({ state, actions: [], ledger: [] })

const submitPrefix = 'submit-'

function inputOf(event: Handled): Input {
  if (event.kind === 'woke') return { kind: 'timer', key: event.key }
  if (event.kind === 'action-failed' && event.action.startsWith(submitPrefix)) {
    const offer = event.action.slice(submitPrefix.length).split('.')[0]!
    return { kind: 'event', isOwn: true, event: { ...base(event), kind: 'submit-failed', offer, message: event.reason } }
  }
  if (event.kind === 'model-failed') return { kind: 'event', isOwn: true, event: { ...event, ...faultOf(event) } }
  return { kind: 'event', isOwn: true, event }
}

const faults: ReadonlySet<string> = new Set(['unavailable', 'refused', 'rate-limit', 'bad-answer', 'timeout', 'canceled'])

/** Doors give the words of their hosts; what they mean is one of a few things. */
function faultOf({ reason, message }: Extract<Handled, { readonly kind: 'model-failed' }>) {
  if (faults.has(reason)) return { reason }
  const said = message ?? reason.replace(/^host:/, '')
  const words = `${reason} ${said}`
  if (/rate.?limit|too many requests|\b429\b|quota|overload/i.test(words)) return { reason: 'rate-limit', message: said }
  if (/\brefus|content.?(?:filter|policy)|safety/i.test(words)) return { reason: 'refused', message: said }
  return { reason: /timed? ?-?out/i.test(words) ? 'timeout' : 'unavailable', message: said }
}

const base = ({ session, project, at }: Handled) => ({ session, project, at })

const isRenewalInput = (input: { readonly kind: string; readonly key?: string }) =>
  input.kind === 'timer' && input.key === 'renew'

function isBlank(view: NextView | null): boolean {
  return view === null || (view.kind === 'none' && !view.loop.armed && view.loop.stopped === null && !view.mayArm)
}

function mintOf(clock: Clock): Mint {
  const id = () => clock.newId()
  return { claim: id, check: id, judge: () => `j${id()}`, action: id, hex: () => clock.randomHex(8) }
}

function lineOf({ what, reason, turn, gen, detail }: Extract<Effect, { readonly do: 'ledger' }>): LedgerLine {
  const more: Json = { ...(turn !== null && { turn }), ...(gen !== null && { gen }), ...detail }
  return { what, reason, text: ledgerText(what, reason), ...(Object.keys(more as object).length > 0 && { detail: more }) }
}

function actionsOf(effect: Effect, { newId }: StepContext): readonly Action[] {
  const engine = 'next'
  switch (effect.do) {
    case 'ask-model': {
      const { ask, purpose, model, timeoutMs, system, user } = effect
      return [{ kind: 'ask-model', id: ask, engine, purpose, mode: 'aside', model, system, prompt: user, maxTokens, timeoutMs }]
    }
    case 'cancel-model':
      return [{ kind: 'cancel-model', id: newId(), engine, ask: effect.ask }]
    case 'submit': {
      const { as, offer, turn, text } = effect
      const rounds = effect.as === 'plugin' ? { round: effect.round, of: effect.of } : {}
      return [{ kind: 'submit', id: `${submitPrefix}${offer}.${newId()}`, engine, text, as, offer, turn, ...rounds }]
    }
    case 'withdraw':
      return [{ kind: 'withdraw', id: newId(), engine, offer: effect.offer, why: effect.why }]
    case 'verdict':
      return [{ kind: 'verdict', id: newId(), engine, offer: effect.offer, admit: effect.admit, why: effect.why }]
    case 'displace-goal':
      return [{ kind: 'displace-goal', id: effect.action, engine }]
    case 'run-check':
      return [
        {
          kind: 'run-check',
          id: effect.check,
          engine,
          check: effect.check,
          command: effect.command,
          timeoutMs: effect.timeoutMs,
        },
      ]
    case 'cancel-check':
      return [{ kind: 'cancel-check', id: newId(), engine, check: effect.check }]
    case 'status':
      return [
        {
          kind: 'status',
          id: newId(),
          engine,
          text: effect.text !== null && isNews(effect.text) ? effect.text : null,
          urgent: effect.text !== null && /· (?:autorun|waits|stopped)/.test(effect.text),
        },
      ]
    case 'notify':
      return [{ kind: 'notify', id: newId(), engine, level: effect.level, text: effect.text }]
    case 'reply': {
      const { do: _, ...rest } = effect
      const document = documentOf(rest as ReplyDocument)
      return [
        {
          kind: 'reply',
          id: newId(),
          engine,
          ok: document.ok,
          text: answerText(document),
          document: document as unknown as Json,
        },
      ]
    }
    case 'wake':
      return [{ kind: 'wake', id: newId(), engine, key: effect.key, due: effect.due }]
    case 'cancel-wake':
      return [{ kind: 'cancel-wake', id: newId(), engine, key: effect.key }]
    case 'row':
    case 'loop':
    case 'show-offer':
    case 'ledger':
    case 'release-lease':
    case 'set-model':
      return []
    default:
      return effect satisfies never
  }
}

/** A line that is always there is read by nobody: that the engine is on, and with which model, stands in its bar and in `/next`. */
function isNews(text: string): boolean {
  return text.includes(' · ')
}
