/**
 * One step of next-step in one session: what a host told, a person asked for or a timer brought, to new values and what is asked
 * for. Pure: the same values and the same input give the same answer.
 */
import type { EventOf, SessionEvent, Usage } from '../session/events.ts'
import { answerCommand, armReply } from './answer.ts'
import { answered, claim, recover, spend, supersede, unanswered } from './claim.ts'
import type { Input, SessionValue, StepResult, StepWorld } from './effects.ts'
import { doneTodos, foldNext, type NextFacts, noteOurs } from './facts.ts'
import { firstGuard } from './guards.ts'
import { readJudge } from './input.ts'
import { checked, decide, disarm, endLoop, notStarted, personCame, refund } from './loop.ts'
import { Moment } from './moment.ts'
import { notSentNotice, stoppedNotice } from './texts.ts'
import { type Goal, identityOf, sameGoal } from './types.ts'

/** @param folded - the facts with the event in them, when another process of the session folded it already. */
export function step(
  before: SessionValue,
  input: Input,
  world: StepWorld,
  folded?: { readonly facts: NextFacts; readonly was: NextFacts },
): StepResult {
  const was = folded?.was ?? before.facts
  const facts =
    folded?.facts ?? (input.kind === 'event' ? foldNext(before.facts, input.event, world.config.contextChars) : before.facts)
  const m = new Moment(before, facts, world)
  m.mayStart = isCause(input)
  react(m, input, was)
  settle(m)
  return m.result()
}

function react(m: Moment, input: Input, was: NextFacts): void {
  switch (input.kind) {
    case 'event':
      if (input.event.agent === undefined) hear(m, input.event, was, input.isOwn)
      return
    case 'command':
      answerCommand(m, input.command, input.lease)
      return
    case 'timer':
      timer(m, input.key)
      return
    case 'mounted':
      mounted(m)
      return
    case 'lease-lost':
      disarm(m, 'lease-lost')
      return
    case 'changed':
      return
    default:
      input satisfies never
      return
  }
}

/** A turn is begun for something that happened: never because time passed, nor because somebody looked. */
function isCause(input: Input): boolean {
  if (input.kind === 'timer') return false
  if (input.kind === 'changed') return input.byTime !== true
  return input.kind !== 'command' || input.command.name !== 'state'
}

/** What follows whatever happened: claims that another process overtook, the switch, the loop's look at the offer. */
function settle(m: Moment): void {
  const { generation } = m.local
  const isCurrent = generation === null || (m.row?.gen === generation.gen && m.row.status === 'analyzing')
  if (!isCurrent) {
    m.setLocal({ generation: null })
    if (generation.isAsked) {
      m.add({ do: 'cancel-wake', key: `model:${generation.gen}` })
      m.add({ do: 'cancel-model', ask: generation.gen, why: m.stored.off ? 'off' : 'newer-claim' })
    }
  }
  if (m.stored.off) disarm(m, 'off')
  decide(m)
}

function hear(m: Moment, event: SessionEvent, was: NextFacts, isOwn: boolean): void {
  switch (event.kind) {
    case 'session-started':
      if (event.source === 'clear') cleared(m, isOwn)
      return
    case 'person-spoke':
      personCame(m)
      return
    case 'turn-started':
      turnStarted(m, event, was)
      return
    case 'turn-ended':
      turnEnded(m, event, was, isOwn)
      return
    case 'goal-changed':
      goalChanged(m, event, was.goals.goal, isOwn)
      return
    case 'compacted':
      if (!m.isTurnOpen) again(m, 'compacted', isOwn)
      return
    case 'turn-starting':
      if (isOwn) verdict(m, event)
      return
    case 'submit-failed':
      submitFailed(m, event.offer)
      return
    case 'model-answered':
      if (isOwn && !answered(m, event.ask, event.text, event.usage) && !judged(m, event.ask, event.text, event.usage))
        late(m, event.ask)
      return
    case 'model-failed':
      if (isOwn && !unanswered(m, event.ask, event.reason, event.message) && !judged(m, event.ask, null, undefined)) {
        // A call that was given up is over: no answer, but what the loop waited for.
        if (event.reason !== 'canceled') noteLate(m, event.ask)
      }
      return
    case 'check-finished':
      if (!checked(m, event.check, { exit: event.exit, timedOut: event.timedOut === true, output: event.output }) && isOwn) {
        m.note('late', 'check', { gen: null })
      }
      return
    case 'action-done':
      displaced(m, event.action, true)
      return
    case 'action-failed':
      actionFailed(m, event.action, event.reason)
      return
    case 'session-ended':
      ended(m, event.reason)
      return
    default:
      return
  }
}

const noteLate = (m: Moment, ask: string) => m.note('late', /^j/.test(ask) ? 'judge' : 'model-answer', { gen: ask })

/** An answer that nobody waits for: noted, and nothing else. */
function late(m: Moment, ask: string): void {
  m.mayStart = false
  noteLate(m, ask)
}

function cleared(m: Moment, isOwn: boolean): void {
  refund(m, 'cleared', { tell: true, superseding: true })
  disarm(m, 'cleared')
  if (isOwn) supersede(m, 'cleared')
}

/** Is this turn the message that waits for it? */
function isOurs(m: Moment, { by, offer }: Pick<EventOf<'turn-started'>, 'by' | 'offer'>): boolean {
  const { pending } = m.local
  if (pending === null) return false
  if (offer !== undefined) return pending.gen === offer
  return pending.by === 'autorun' ? by === 'plugin' : by === 'person'
}

function turnStarted(m: Moment, event: EventOf<'turn-started'>, was: NextFacts): void {
  if (was.turn !== null && event.turn <= was.turn.turn) return
  const { pending } = m.local
  if (pending !== null && isOurs(m, event)) {
    const { gen, turn, by } = pending
    m.add({ do: 'cancel-wake', key: `start:${gen}` })
    m.setLocal({ pending: null, running: by === 'autorun' ? gen : null })
    m.setStored({ isUnstarted: false, owner: null })
    m.note('start', by === 'autorun' ? 'autorun' : 'run', { turn, gen })
    if (by === 'autorun' && m.row?.gen === gen) m.facts = noteOurs(m.facts, m.row.text, m.world.config.contextChars)
    return
  }
  beginElsewhere(m, event.by, event.turn)
}

/** A turn that is none of ours. */
function beginElsewhere(m: Moment, by: EventOf<'turn-started'>['by'], turn: number): void {
  m.setLocal({ running: null })
  if (by === 'person') {
    personCame(m)
    return
  }
  refund(m, 'newer-turn', { tell: true, superseding: true })
  if (m.local.pending !== null) m.setLocal({ pending: null })
  // Another process may have claimed the turn already, when it is one that nobody told us of before its end.
  if (m.row?.turn !== turn) supersede(m, 'newer-turn')
  const { check } = m.local
  if (check !== null) {
    m.add({ do: 'cancel-check', check: check.id, why: 'newer-turn' })
    m.setLocal({ check: null })
  }
  if (by === 'goal') disarm(m, 'driver-rearmed')
}

function turnEnded(m: Moment, event: EventOf<'turn-ended'>, was: NextFacts, isOwn: boolean): void {
  const known = was.turn
  if (known !== null && event.turn < known.turn) {
    if (isOwn) m.note('skip', 'stale-turn', { turn: event.turn, gen: null })
    return
  }
  if (known !== null && event.turn === known.turn && !known.isOpen) {
    if (isOwn) redelivered(m)
    return
  }
  if (known === null || event.turn > known.turn) beginElsewhere(m, 'host', event.turn)
  countTokens(m, event)
  endRound(m, event)
  if (event.reason !== 'completed') {
    if (isOwn) m.note('skip', `turn-${event.reason}`, { turn: event.turn, gen: null })
    disarm(m, event.reason === 'aborted' || event.reason === 'interrupted' ? 'aborted' : event.reason)
    return
  }
  if (isOwn) claim(m, 'turn-ended')
}

function redelivered(m: Moment): void {
  const turn = m.completedTurn
  if (turn === null) return
  recover(m)
  const { row } = m
  if (row?.turn === turn && row.status === 'failed' && row.reason === 'interrupted') claim(m, 'redelivered')
  else m.note('skip', 'already-claimed', { turn })
}

function countTokens(m: Moment, { usage, answer }: EventOf<'turn-ended'>): void {
  spend(m, usage ?? { input: 0, output: Math.ceil(answer.length / 4) })
}

/** What the round that ended came to. */
function endRound(m: Moment, { mark }: EventOf<'turn-ended'>): void {
  const { loop } = m
  const gen = m.local.running
  m.setLocal({ running: null, ...(mark !== undefined && { lastMark: mark }) })
  if (loop === null) return
  const { work } = m.facts
  const done = doneTodos(m.facts)
  const goal = identityOf(m.facts.goals.goal)
  const isMoved = mark === undefined ? work.written.length > 0 : !loop.marks.includes(mark)
  const hasProgress = isMoved || !sameGoal(goal, loop.goal) || done > loop.todosDone
  m.setLoop({
    marks: mark === undefined || loop.marks.includes(mark) ? loop.marks : [...loop.marks, mark].slice(-300),
    todosDone: Math.max(done, loop.todosDone),
    goal,
    rounds: loop.rounds.map(round =>
      round.gen === gen && !round.isOver
        ? { ...round, isOver: true, hasProgress, isIdle: work.calls === 0 && work.written.length === 0 && !hasProgress }
        : round,
    ),
  })
}

/** The offer was made for what is no longer so: the turn gets another. */
function again(m: Moment, why: 'compacted' | 'goal-changed', isOwn: boolean): void {
  const hadFire = m.local.pending?.by === 'autorun'
  refund(m, why, { tell: true, superseding: true })
  const had = isOwn && supersede(m, why)
  const waits = m.row?.status === 'superseded' && m.row.reason === why && m.row.turn === m.completedTurn
  const { goal } = m.facts.goals
  const mayClaim = why === 'compacted' || goal === null || goal.phase === 'active' || goal.phase === 'complete'
  if (isOwn && mayClaim && m.completedTurn !== null && (hadFire || had || (why === 'goal-changed' && waits))) claim(m, why)
}

function goalChanged(m: Moment, event: EventOf<'goal-changed'>, was: Goal | null, isOwn: boolean): void {
  const { goal } = m.facts.goals
  const isOther = !sameGoal(identityOf(was), identityOf(goal)) || was?.phase !== goal?.phase
  const reason = goalDisarms(was, goal, event.operation)
  if (isOther) {
    refund(m, 'goal-changed', { tell: true, superseding: true })
    if (reason !== null && isOwn) supersede(m, 'goal-changed')
  }
  if (reason !== null) disarm(m, reason)
  const waits = m.row?.status === 'superseded' && m.row.reason === 'goal-changed'
  if (isOther || waits) again(m, 'goal-changed', isOwn)
}

/** Does this change of the goal end the loop? */
function goalDisarms(was: Goal | null, goal: Goal | null, operation: string | undefined): string | null {
  if (goal === null) return was === null || was.phase === 'complete' ? null : 'goal-cleared'
  if (goal.phase !== 'active') return was !== null && was.phase !== goal.phase ? `goal-${goal.phase}` : null
  const isArmed = goal.activation === 'armed'
  return isArmed && (was?.activation !== 'armed' || operation === 'resume') ? 'driver-rearmed' : null
}

function verdict(m: Moment, { offer, withPerson }: EventOf<'turn-starting'>): void {
  const { pending, loop } = m.local
  const answer = (admit: boolean, why: string) => m.add({ do: 'verdict', offer, admit, why })
  if (pending?.gen !== offer) {
    const why = m.local.withdrawn.findLast(([gen]) => gen === offer)?.[1] ?? 'unknown-offer'
    if (why === 'unknown-offer') m.note('refuse', why, { gen: offer })
    answer(false, why)
    return
  }
  if (pending.by === 'person') {
    answer(true, 'run')
    return
  }
  if (withPerson === true) {
    answer(false, 'human')
    refund(m, 'human', { tell: false, superseding: true })
    personCame(m)
    return
  }
  if (loop === null || m.row === null) {
    answer(false, 'unknown-offer')
    return
  }
  if (m.world.now >= loop.armedAt + loop.grant.ms) {
    answer(false, 'time')
    refund(m, 'time', { tell: false })
    disarm(m, 'time')
    return
  }
  const guard = firstGuard({ facts: m.facts, row: m.row, loop, isChecking: false, risk: m.world.config.risk }, 'fence')
  if (guard !== null) {
    answer(false, guard.reason)
    refund(m, guard.reason, { tell: false })
    return
  }
  m.setLocal({ pending: { ...pending, isAdmitted: true } })
  answer(true, 'pending')
}

function submitFailed(m: Moment, offer: string): void {
  const { pending } = m.local
  if (pending?.gen !== offer) return
  if (pending.by === 'autorun') {
    refund(m, 'queue-failed', { tell: false })
    disarm(m, 'queue-failed')
    return
  }
  m.setLocal({ pending: null })
  m.note('refund', 'queue-failed')
  if (m.row?.gen !== offer || m.row.status !== 'consumed') return
  const isNewest = m.facts.turn === null || (m.facts.turn.turn === pending.turn && !m.facts.turn.isOpen)
  m.setRow(isNewest ? { status: 'ready', by: null } : { status: 'superseded', reason: 'newer-turn', by: null })
  m.add({ do: 'notify', level: 'warning', text: notSentNotice(isNewest) })
}

/** @param text - `null`: it did not answer. */
function judged(m: Moment, ask: string, text: string | null, usage: Usage | undefined): boolean {
  const { judge, loop } = m.local
  if (judge?.id !== ask || loop === null) return false
  m.add({ do: 'cancel-wake', key: `judge:${ask}` })
  m.setLocal({ judge: null })
  spend(m, usage)
  const answer = text === null ? ({ kind: 'unreadable' } as const) : readJudge(text)
  if (answer.kind === 'unreadable') {
    const failures = loop.judgeFailures + 1
    m.note('judge', 'unavailable')
    m.setLoop({ judgedTurn: judge.turn, judgeFailures: failures })
    if (failures >= 2) disarm(m, 'judge-unavailable')
    return true
  }
  m.note('judge', answer.kind, { detail: { why: answer.why } })
  m.setLoop({ judgedTurn: judge.turn, judgeFailures: 0 })
  if (answer.kind === 'done') disarm(m, 'judge-done')
  if (answer.kind === 'impossible') disarm(m, 'judge-impossible')
  return true
}

/** The host's own driver of the goal was switched off, or could not be. */
function displaced(m: Moment, action: string, isDone: boolean, reason = ''): void {
  const { displacing } = m.local
  if (displacing?.action !== action) return
  m.setLocal({ displacing: null })
  if (isDone) {
    const { goals } = m.facts
    if (goals.goal !== null) m.facts = { ...m.facts, goals: { ...goals, goal: { ...goals.goal, activation: 'disarmed' } } }
    m.setLoop({ hasDisplaced: true })
    m.note('displace', 'goal-driver')
  } else
    m.note(
      'warn',
      reason === 'absent' || reason === 'no-carrier' || reason === 'unsupported' ? 'displace-absent' : 'displace-fails',
    )
  armReply(m, displacing.command, isDone)
}

/** What a door could not carry out, by the id under which it was asked for. */
function actionFailed(m: Moment, action: string, reason: string): void {
  if (m.local.displacing?.action === action) {
    displaced(m, action, false, reason)
    return
  }
  if (m.local.check?.id === action) {
    checked(m, action, { exit: null, timedOut: false, output: '' })
    return
  }
  if (unanswered(m, action, 'unavailable', reason)) return
  if (judged(m, action, null, undefined)) return
  submitFailed(m, action)
}

function timer(m: Moment, key: string): void {
  const at = key.indexOf(':')
  const [kind, name] = at === -1 ? [key, ''] : [key.slice(0, at), key.slice(at + 1)]
  if (kind === 'clock' && m.loop !== null && m.world.now >= m.loop.armedAt + m.loop.grant.ms) {
    disarm(m, 'time')
    return
  }
  if (kind === 'start') {
    notStarted(m, name)
    return
  }
  if (kind === 'judge' && m.local.judge?.id === name) {
    m.add({ do: 'cancel-model', ask: name, why: 'timeout' })
    judged(m, name, null, undefined)
  }
  if (kind === 'model' && m.local.generation?.gen === name && m.local.generation.isAsked) {
    m.add({ do: 'cancel-model', ask: name, why: 'timeout' })
    unanswered(m, name, 'timeout', undefined)
  }
}

/** A process meets the session: what a process that is gone left is tidied. */
function mounted(m: Moment): void {
  const { note } = m.stored
  if (m.facts.turn === null && m.stored.newest !== null) {
    const { turn, isOpen, reason } = m.stored.newest
    m.facts = { ...m.facts, turn: { turn, isOpen: false, reason: isOpen ? 'interrupted' : reason } }
  }
  recover(m)
  if (note === null || m.loop !== null || (note.owner !== m.world.owner && m.world.isAlive(note.owner))) return
  m.setStored({ note: null })
  m.setLocal({ stopped: 'restart' })
  m.note('disarm', 'restart', { detail: { rounds: note.rounds, of: note.of } })
  m.add({ do: 'notify', level: 'info', text: stoppedNotice('restart', note.rounds, note.of) })
}

function ended(m: Moment, reason: string): void {
  if (reason === 'clear') {
    refund(m, 'cleared', { tell: true, superseding: true })
    supersede(m, 'cleared')
  }
  const isMine = m.local.generation !== null
  endLoop(m, reason)
  if (m.row?.status === 'analyzing' && (isMine || m.stored.owner === m.world.owner)) {
    m.setRow({ status: 'failed', reason: 'interrupted' })
    m.setStored({ owner: null })
    m.note('failed', 'interrupted')
  }
}
