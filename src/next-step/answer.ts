/** What a person, an agent or a script asked for, and its answer. Who may ask for what is decided here. */
import { abandon, claim, ineligible, recover, supersede } from './claim.ts'
import type { Command, LeaseAnswer } from './effects.ts'
import { arm, disarm } from './loop.ts'
import type { Moment } from './moment.ts'
import type { ArmReply } from './types.ts'
import { isModelName } from './types.ts'
import { viewOf } from './view.ts'

const personOnly = new Set(['arm', 'run', 'on', 'dismiss'])

type Fields = Readonly<Record<string, unknown>>

export function answerCommand(m: Moment, command: Command, lease: LeaseAnswer | null): void {
  const reply = (ok: boolean, fields: Fields) => replyTo(m, command, ok, fields)
  const refuse = (code: string, fields: Fields = {}) => reply(false, { code, ...fields })
  const needsPerson = personOnly.has(command.name) || (command.name === 'model' && command.spec !== undefined)
  if (needsPerson && command.by !== 'person') {
    m.note('refuse', 'needs-person')
    refuse('NEXT_NEEDS_PERSON', { subject: command.name })
    return
  }
  switch (command.name) {
    case 'arm': {
      const answer = arm(m, command, lease)
      if ('refused' in answer) {
        refuse(answer.refused, answer.holder === undefined ? {} : { holder: answer.holder })
        return
      }
      if (!answer.waits) armReply(m, { already: answer.already, ...(command.id !== undefined && { id: command.id }) }, null)
      return
    }
    case 'disarm': {
      const was = m.loop === null ? 'disarmed' : 'armed'
      disarm(m, 'person')
      reply(true, { was })
      return
    }
    case 'run':
      run(m, command, reply, refuse)
      return
    case 'suggest':
      suggest(m, command, reply)
      return
    case 'state':
      reply(true, { ...stateOf(m), ...(command.wire === true && { view: viewOf(m, m.holdDetail()) }) })
      return
    case 'off':
      off(m, reply)
      return
    case 'on':
      on(m, reply)
      return
    case 'dismiss':
      dismiss(m, reply, refuse)
      return
    case 'model':
      model(m, command, reply, refuse)
      return
    default:
      command.name satisfies never
      return
  }
}

function replyTo(m: Moment, { name, id }: Pick<Command, 'name' | 'id'>, ok: boolean, fields: Fields): void {
  m.add({ do: 'reply', name, ...(id !== undefined && { id }), ok, ...fields })
}

/** @param displaced - `null`: there was no driver to displace. */
export function armReply(m: Moment, { id, already }: ArmReply, displaced: boolean | null): void {
  const grant = m.loop?.grant ?? m.local.lastGrant
  replyTo(m, { name: 'arm', ...(id !== undefined && { id }) }, true, { already, displaced, grant })
}

type Reply = (ok: boolean, fields: Fields) => void
type Refuse = (code: string, fields?: Fields) => void

function run(m: Moment, { offer }: Command, reply: Reply, refuse: Refuse): void {
  const { row } = m
  if (row === null || row.gen === null) {
    refuse(offer === undefined ? 'NEXT_NO_OFFER' : 'NEXT_STALE')
    return
  }
  if (offer !== undefined && offer !== row.gen) {
    refuse('NEXT_STALE', { subject: String(offer) })
    return
  }
  if (row.status === 'consumed') {
    refuse('NEXT_ALREADY_RUN')
    return
  }
  if (row.status === 'superseded') {
    refuse('NEXT_STALE')
    return
  }
  if (row.status === 'analyzing') {
    refuse('NEXT_NOT_READY')
    return
  }
  if (row.status !== 'ready' || row.turn === null) {
    refuse('NEXT_NO_OFFER')
    return
  }
  const { gen, turn, text } = row
  m.setRow({ status: 'consumed', by: 'person' })
  m.setLocal({ pending: { gen, turn, by: 'person', isAdmitted: false } })
  m.note('run', 'person')
  m.add({ do: 'submit', as: 'person', offer: gen, turn, text })
  reply(true, { offer: gen, turn, text })
}

/** Never a second call for a turn: what is stored is the answer. */
function suggest(m: Moment, { by }: Command, reply: Reply): void {
  const reason = ineligible(m)
  if (reason !== null) {
    reply(true, { kind: 'off', reason })
    return
  }
  if (m.isTurnOpen) {
    reply(true, { kind: 'quiet', reason: 'turn-running' })
    return
  }
  recover(m)
  const turn = m.completedTurn
  if (turn === null) {
    reply(true, { kind: 'quiet', reason: 'no-completed-turn' })
    return
  }
  const isSettled =
    m.row?.turn === turn && m.row.status !== 'failed' && (m.row.status !== 'superseded' || m.row.reason === 'dismissed')
  if (!isSettled) {
    if (by !== 'person') {
      reply(true, { kind: 'quiet', reason: 'no-offer' })
      return
    }
    claim(m, 'suggest')
  }
  const { row } = m
  switch (row?.status) {
    case 'ready': {
      const { turn: of, gen, text, intent, via } = row
      reply(true, { kind: 'offer', offer: { turn: of, gen, text, intent, via } })
      return
    }
    case 'analyzing':
      reply(true, { kind: 'pending', gen: row.gen })
      return
    case 'quiet':
      reply(true, { kind: 'quiet', reason: row.reason })
      return
    case 'consumed':
      reply(true, { kind: 'quiet', reason: 'already-run' })
      return
    case 'superseded':
      reply(true, { kind: 'quiet', reason: row.reason === 'dismissed' ? 'dismissed' : 'no-offer' })
      return
    case 'failed':
      reply(true, { kind: 'failed', reason: row.reason })
      return
    default:
      reply(true, { kind: 'quiet', reason: 'no-offer' })
      return
  }
}

function off(m: Moment, reply: Reply): void {
  abandon(m, 'off')
  m.setStored({ off: true, owner: null })
  if (m.row !== null && m.row.status !== 'off') m.note('off', 'person')
  if (m.row?.status !== 'off') offRow(m)
  disarm(m, 'off')
  reply(true, {})
}

function offRow(m: Moment): void {
  m.setRow({
    status: 'off',
    turn: null,
    gen: null,
    text: '',
    intent: 'worker-step',
    via: null,
    goal: null,
    reason: 'person',
    error: null,
    by: null,
  })
}

function on(m: Moment, reply: Reply): void {
  const wasOff = m.stored.off
  m.setStored({ off: false })
  m.note('on', 'person')
  if (wasOff && !m.isTurnOpen && m.row?.turn !== m.completedTurn) claim(m, 'on')
  reply(true, {})
}

function dismiss(m: Moment, reply: Reply, refuse: Refuse): void {
  const { row } = m
  if (row?.status !== 'ready') {
    refuse('NEXT_NO_OFFER')
    return
  }
  m.setStored({ declined: [...m.stored.declined, row.text].slice(-5) })
  m.note('dismiss', 'person')
  supersede(m, 'dismissed')
  disarm(m, 'human')
  reply(true, {})
}

function model(m: Moment, { spec }: Command, reply: Reply, refuse: Refuse): void {
  if (spec !== undefined) {
    if (spec !== 'clear' && !isModelName(spec)) {
      refuse('NEXT_BAD_MODEL', { subject: String(spec).slice(0, 100) })
      return
    }
    m.override = spec === 'clear' ? null : spec
    m.add({ do: 'set-model', override: m.override })
    m.note('model', 'person', { detail: { model: m.model } })
  }
  const source = m.override !== null ? 'override' : m.world.config.model !== '' ? 'config' : 'none'
  reply(true, { model: m.model, source })
}

/** The document of `state`. */
export function stateOf(m: Moment): Fields {
  const { config } = m.world
  const { do: _, ...loop } = m.loopLine()
  const { maxChars, contextChars, maxRounds, maxTokens, maxMinutes } = config
  return {
    enabled: ineligible(m) === null,
    reason: ineligible(m),
    model: m.model,
    local: config.local,
    offer: m.row,
    loop: { ...loop, holder: m.stored.note?.owner ?? null },
    limits: { maxChars, contextChars, maxRounds, maxTokens, maxMinutes },
    status: m.status(),
  }
}
