/** The loop that a person armed: what it may do, when it holds, fires, gives a round back, ends. */
import { abandon, ask, claim, ineligible, recover, supersede } from './claim.ts'
import type { Command, LeaseAnswer } from './effects.ts'
import { doneTodos } from './facts.ts'
import { atWork, firstGuard } from './guards.ts'
import { judgeInput } from './input.ts'
import type { Moment } from './moment.ts'
import { stallOf } from './stall.ts'
import { stoppedNotice } from './texts.ts'
import { type Grant, identityOf, type NextConfig, noLocal, ranges, sameGoal } from './types.ts'

const startMs = 30_000
const maxUntil = 500
const ceilingFactor = 4
const maxKept = 32

/** Why an arm is refused before the lease is asked for; `null`: it is not, yet. Nothing changes. */
export function armRefusal(m: Moment, command: Command): string | null {
  if (command.by !== 'person') return 'NEXT_NEEDS_PERSON'
  if (grantOf(command, m.world.config, null) === null) return 'NEXT_BAD_GRANT'
  const reason = ineligible(m)
  if (reason === 'off') return 'NEXT_OFF'
  if (reason !== null) return 'NEXT_NOT_ELIGIBLE'
  return m.facts.isStarter ? null : 'NEXT_NO_STARTER'
}

const optionNames = ['rounds', 'tokens', 'minutes', 'until', 'judge', 'goOn', 'allowRisky'] as const

const hasOptions = (command: Command) => optionNames.some(name => command[name] !== undefined)

/** Does this arm need the lease of the session? */
export const needsLease = (m: Moment, command: Command): boolean => armRefusal(m, command) === null && m.loop === null

function grantOf(command: Command, config: NextConfig, left: number | null): Grant | null {
  const whole = (value: unknown, otherwise: number, [min, max]: readonly [number, number]) => {
    const number = value === undefined ? otherwise : value
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max ? number : null
  }
  const flag = (value: unknown) => (value === undefined ? false : typeof value === 'boolean' ? value : null)
  const rounds = whole(command.rounds, Math.min(config.maxRounds, left ?? config.maxRounds), ranges.maxRounds)
  const tokens = whole(command.tokens, config.maxTokens, ranges.maxTokens)
  const minutes = whole(command.minutes, config.maxMinutes, ranges.maxMinutes)
  const [judge, goOn, allowRisky, take] = [command.judge, command.goOn, command.allowRisky, command.take].map(flag)
  const until = command.until === undefined ? null : command.until
  const isCondition = until === null || (typeof until === 'string' && until.trim() !== '' && until.length <= maxUntil)
  if (rounds === null || tokens === null || minutes === null || !isCondition) return null
  if (judge == null || goOn == null || allowRisky == null || take === null) return null
  if (judge && config.judgeModel === '') return null
  return { rounds, tokens, ms: minutes * 60_000, until, judge, goOn, allowRisky }
}

/** @returns the refusal's code, or what `already` says; the reply is the caller's, unless it waits for the goal's driver. */
export function arm(
  m: Moment,
  command: Command,
  lease: LeaseAnswer | null,
): { readonly refused: string; readonly holder?: string } | { readonly already: boolean; readonly waits: boolean } {
  const refused = armRefusal(m, command)
  if (refused !== null) return { refused }
  recover(m)
  const wasArmed = m.loop !== null
  if (wasArmed && !hasOptions(command)) return { already: true, waits: false }
  if (!wasArmed && lease?.held !== true) return { refused: 'NEXT_HELD', ...(lease !== null && { holder: lease.holder }) }
  const { config, now, owner } = m.world
  const left = ceilingFactor * config.maxRounds - m.local.firedInAll
  if (command.rounds === undefined && left <= 0) {
    if (!wasArmed) m.add({ do: 'release-lease' })
    return { refused: 'NEXT_CEILING' }
  }
  const grant = grantOf(command, config, left)
  if (grant === null) return { refused: 'NEXT_BAD_GRANT' }
  if (wasArmed) stopChecks(m, 'regrant')
  m.setLocal({
    loop: {
      grant,
      spent: { rounds: 0, tokens: 0 },
      armedAt: now,
      hasDisplaced: m.loop?.hasDisplaced ?? false,
      hold: null,
      rounds: [],
      marks: m.local.lastMark === null ? [] : [m.local.lastMark],
      todosDone: doneTodos(m.facts),
      goal: identityOf(m.facts.goals.goal),
      repeats: 0,
      repeatOf: null,
      told: [],
      checkedTurn: null,
      checkTimeouts: 0,
      judgedTurn: null,
      judgeFailures: 0,
    },
    stopped: null,
    lastCheck: null,
  })
  m.setStored({ note: { owner, since: new Date(now).toISOString(), rounds: 0, of: grant.rounds } })
  m.add({ do: 'wake', key: 'clock', due: now + grant.ms })
  m.note(wasArmed ? 'regrant' : 'arm', 'person', {
    detail: { rounds: grant.rounds, tokens: grant.tokens, minutes: grant.ms / 60_000 },
  })
  const waits = displace(m, command)
  const turn = m.completedTurn
  if (turn !== null) {
    const isThis = m.row?.turn === turn
    const status = isThis ? m.row?.status : undefined
    if (status === 'ready') startCheck(m, turn)
    else if (status !== 'analyzing' && !(status === 'consumed' && m.local.pending !== null)) claim(m, 'arm')
  }
  return { already: false, waits }
}

function displace(m: Moment, { id }: Command): boolean {
  const { goal } = m.facts.goals
  if (goal === null || goal.phase !== 'active' || goal.activation !== 'armed') return false
  const action = m.world.mint.action()
  m.setLocal({ displacing: { action, command: { already: false, ...(id !== undefined && { id }) } } })
  m.add({ do: 'displace-goal', action, goal: { id: goal.id, revision: goal.revision } })
  return true
}

/** The loop ends; what it had not begun is taken back. */
export function disarm(m: Moment, reason: string): void {
  const { loop } = m
  if (loop === null) return
  if (m.local.pending?.by === 'autorun') refund(m, reason, { tell: true })
  const spent = m.spent
  m.setLocal({
    loop: null,
    stopped: reason,
    lastSpent: { ...spent, rounds: m.loop?.spent.rounds ?? spent.rounds },
    lastGrant: loop.grant,
  })
  stopChecks(m, reason)
  m.setLocal({ running: null, displacing: null })
  m.setStored({ note: null })
  m.add({ do: 'cancel-wake', key: 'clock' })
  m.add({ do: 'release-lease' })
  m.note('disarm', reason, { detail: { rounds: m.local.lastSpent.rounds, of: loop.grant.rounds, tokens: spent.tokens } })
  if (reason !== 'person' && reason !== 'human') {
    m.add({ do: 'notify', level: 'info', text: stoppedNotice(reason, m.local.lastSpent.rounds, loop.grant.rounds) })
  }
  // A claim that waited for the check goes on for the person.
  ask(m)
}

function stopChecks(m: Moment, why: string): void {
  const { check, judge } = m.local
  if (check !== null) m.add({ do: 'cancel-check', check: check.id, why })
  if (judge !== null) {
    m.add({ do: 'cancel-wake', key: `judge:${judge.id}` })
    m.add({ do: 'cancel-model', ask: judge.id, why })
  }
  m.setLocal({ check: null, judge: null })
}

/** Run the condition for a turn, once. @returns whether its answer is to be waited for. */
export function startCheck(m: Moment, turn: number): boolean {
  const { loop } = m
  if (loop === null || loop.grant.until === null) return false
  if (m.local.check?.turn === turn) return true
  if (loop.checkedTurn === turn) return false
  if (m.local.check !== null) m.add({ do: 'cancel-check', check: m.local.check.id, why: 'newer-turn' })
  const id = m.world.mint.check()
  m.setLocal({ check: { id, turn } })
  m.add({ do: 'run-check', check: id, command: loop.grant.until, timeoutMs: m.world.config.checkTimeoutMs })
  m.note('check', 'started')
  return true
}

export function checked(
  m: Moment,
  id: string,
  result: { readonly exit: number | null; readonly timedOut: boolean; readonly output: string },
): boolean {
  const { check, loop } = m.local
  if (check?.id !== id || loop === null) return false
  const { exit, timedOut, output } = result
  m.setLocal({ check: null, lastCheck: { command: loop.grant.until ?? '', exit, timedOut, output: output.slice(-2_000) } })
  const timeouts = timedOut ? loop.checkTimeouts + 1 : 0
  m.setLoop({ checkedTurn: check.turn, checkTimeouts: timeouts })
  m.note('check', timedOut ? 'timeout' : exit === null ? 'no-start' : `exit-${exit}`)
  const cannotStart = !timedOut && (exit === null || exit === 126 || exit === 127)
  if (!timedOut && exit === 0) disarm(m, 'until-met')
  else if (cannotStart || timeouts >= 2) disarm(m, 'until-error')
  ask(m)
  return true
}

/** A fire that has not begun its turn is taken back: its round too. @param superseding - the offer goes with it. */
export function refund(
  m: Moment,
  why: string,
  { tell, superseding = false }: { readonly tell: boolean; readonly superseding?: boolean },
): void {
  const { pending } = m.local
  if (pending === null || pending.by !== 'autorun') return
  const { gen, turn } = pending
  const { loop } = m
  m.add({ do: 'cancel-wake', key: `start:${gen}` })
  if (tell) m.add({ do: 'withdraw', offer: gen, why })
  m.setLocal({
    pending: null,
    withdrawn: [...m.local.withdrawn, [gen, why] as const].slice(-8),
    firedInAll: Math.max(m.local.firedInAll - 1, 0),
  })
  if (loop !== null) {
    m.setLoop({
      spent: { ...loop.spent, rounds: Math.max(loop.spent.rounds - 1, 0) },
      rounds: loop.rounds.filter(round => round.gen !== gen),
    })
  }
  m.note('refund', why, { turn, gen })
  const { note } = m.stored
  m.setStored({
    isUnstarted: false,
    owner: null,
    fired: m.stored.fired.slice(0, -1),
    ...(note !== null && { note: { ...note, rounds: Math.max(note.rounds - 1, 0) } }),
  })
  const { row } = m
  if (row?.gen !== gen || row.status !== 'consumed') return
  const isValid = m.facts.turn === null || (m.facts.turn.turn === turn && !m.facts.turn.isOpen)
  if (isValid && !superseding) {
    m.setRow({ status: 'ready', by: null })
    return
  }
  const reason = superseding ? why : 'newer-turn'
  m.setRow({ status: 'superseded', reason, by: null })
  m.note('supersede', reason)
}

/** A person's words, or a turn that a person began elsewhere: everything that waits ends. */
export function personCame(m: Moment): void {
  refund(m, 'human', { tell: true, superseding: true })
  if (m.local.pending?.by === 'person') m.setLocal({ pending: null })
  supersede(m, 'human')
  disarm(m, 'human')
}

/** Look at the newest completed turn's offer: fire it, hold it, or end. */
export function decide(m: Moment): void {
  const { loop, row } = m
  if (loop === null || m.local.displacing !== null) return
  const turn = m.completedTurn
  if (turn === null || row?.turn !== turn || row.gen === null || m.local.pending !== null) {
    hold(m, null)
    return
  }
  switch (row.status) {
    case 'quiet':
    case 'failed':
    case 'superseded':
      if (atWork(m.facts) > 0) {
        hold(m, 'background')
        return
      }
      disarm(m, row.status === 'quiet' ? 'nothing-to-do' : row.reason === 'dismissed' ? 'human' : 'no-offer')
      return
    case 'ready':
      break
    default:
      hold(m, null)
      return
  }
  if (!sameGoal(row.goal, identityOf(m.facts.goals.goal))) {
    supersede(m, 'goal-changed')
    claim(m, 'goal-changed')
    return
  }
  if (loop.spent.rounds >= loop.grant.rounds) {
    disarm(m, 'cap')
    return
  }
  if (loop.spent.tokens >= loop.grant.tokens) {
    disarm(m, 'tokens')
    return
  }
  if (m.world.now >= loop.armedAt + loop.grant.ms) {
    disarm(m, 'time')
    return
  }
  const guard = firstGuard({ facts: m.facts, row, loop, isChecking: m.local.check !== null, risk: m.world.config.risk })
  if (guard !== null) {
    hold(m, guard.reason)
    return
  }
  // It stays ready for the next event that comes.
  if (!m.mayStart) {
    hold(m, m.local.judge === null ? null : 'judge')
    return
  }
  const { gen, text } = row
  const stall = stallOf(loop, { gen, text }, m.world.config.flatRounds)
  if (stall.kind === 'stalled') {
    m.note('warn', 'stall', { detail: { rule: stall.rule } })
    disarm(m, 'stalled')
    return
  }
  if (stall.kind === 'warn') m.note('warn', 'repeat')
  m.setLoop({ repeats: stall.repeats, repeatOf: gen })
  if (judges(m, turn)) {
    hold(m, 'judge')
    return
  }
  fire(m, turn, gen, text)
}

/** Why the loop waits now; told once per offer and reason. */
function hold(m: Moment, reason: string | null): void {
  const { loop, row } = m
  if (loop === null) return
  if (loop.hold !== reason) m.setLoop({ hold: reason })
  const key = `${row?.gen ?? ''} ${reason}`
  if (reason === null || reason === 'judge' || loop.told.includes(key)) return
  m.setLoop({ told: [...loop.told, key].slice(-maxKept) })
  m.note('hold', reason)
}

function judges(m: Moment, turn: number): boolean {
  const { loop } = m
  if (loop === null || !loop.grant.judge || loop.spent.rounds < 1 || loop.judgedTurn === turn) return false
  if (m.local.judge !== null) return true
  const { config, mint, now } = m.world
  if (config.judgeModel === '') return false
  const id = mint.judge()
  const { timeoutMs, judgeModel: model } = config
  m.setLocal({ judge: { id, turn } })
  const input = judgeInput({ facts: m.facts, until: loop.grant.until, check: m.local.lastCheck, hex: mint.hex() })
  m.add({ do: 'ask-model', ask: id, purpose: 'judge', turn, model, timeoutMs, ...input })
  m.add({ do: 'wake', key: `judge:${id}`, due: now + timeoutMs })
  m.note('hold', 'judge')
  return true
}

function fire(m: Moment, turn: number, gen: string, text: string): void {
  const { loop } = m
  if (loop === null) return
  const round = loop.spent.rounds + 1
  m.setRow({ status: 'consumed', by: 'autorun' })
  const { note } = m.stored
  m.setStored({
    isUnstarted: true,
    owner: m.world.owner,
    fired: [...m.stored.fired, text].slice(-3),
    ...(note !== null && { note: { ...note, rounds: round } }),
  })
  m.setLoop({
    hold: null,
    spent: { ...loop.spent, rounds: round },
    rounds: [...loop.rounds, { gen, text, isOver: false, isIdle: false, hasProgress: false }].slice(-maxKept),
  })
  m.setLocal({ pending: { gen, turn, by: 'autorun', isAdmitted: false }, firedInAll: m.local.firedInAll + 1 })
  m.note('fire', `round-${round}`)
  m.add({ do: 'submit', as: 'plugin', round, of: loop.grant.rounds, offer: gen, turn, text })
  m.add({ do: 'wake', key: `start:${gen}`, due: m.world.now + startMs })
}

/** Nothing began within its time. */
export function notStarted(m: Moment, gen: string): void {
  if (m.local.pending?.gen !== gen || m.local.pending.by !== 'autorun') return
  refund(m, 'lost', { tell: true })
  disarm(m, 'queue-failed')
}

/** The session is over for this process. */
export function endLoop(m: Moment, reason: string): void {
  disarm(m, reason === 'clear' ? 'cleared' : reason === 'fork' ? 'forked' : 'closed')
  abandon(m, 'closed')
  const { stopped, lastSpent, lastGrant } = m.local
  m.local = { ...noLocal, stopped, lastSpent, lastGrant }
}
