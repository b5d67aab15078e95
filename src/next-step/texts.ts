/** Every sentence that people read of next-step. Each reason has its words once. */
import { clip } from '../text/clip.ts'
import type { Grant, Loop, Spent } from './types.ts'

const cut = (text: string, max: number) => clip(text, max, 'utf16', '…')

/** Words of a hold; the ones with a number or a rule take it from `detail`. */
export function holdText(hold: string, detail = ''): string {
  const texts: Readonly<Record<string, string>> = {
    'goal-edit': 'this step changes the goal; press Run',
    'goal-inactive': 'the goal is paused or blocked',
    'goal-driver': 'the goal drives itself',
    question: 'the agent asked you',
    asked: 'the agent asked you',
    approval: 'a permission is open',
    risky: `this step needs your Run${detail === '' ? '' : ` (${detail})`}`,
    typing: 'you are writing',
    background: `${detail === '' ? 'some' : detail} task(s) still running`,
    'other-loop': 'another loop is scheduled',
    queued: 'the session is busy',
    running: 'the session is busy',
    'plan-mode': 'plan mode is on',
    check: 'checking',
    judge: 'checking',
  }
  return cut(texts[hold] ?? hold, 80)
}

const stops: Readonly<Record<string, string>> = {
  person: 'you stopped it',
  human: 'you took over',
  aborted: 'the turn was stopped',
  error: 'the turn failed',
  'max-tokens': 'the answer reached the output limit',
  blocked: 'the turn was blocked',
  refused: 'the model refused',
  cap: 'all rounds are used',
  tokens: 'the tokens are used',
  time: 'the time is used',
  stalled: 'the rounds made no progress',
  'nothing-to-do': 'nothing is left to do',
  'no-offer': 'no step was found',
  'until-met': 'the condition holds',
  'until-error': 'the condition could not be checked',
  'judge-done': 'the work was judged done',
  'judge-impossible': 'the work was judged impossible',
  'judge-unavailable': 'the judge did not answer',
  'goal-paused': 'the goal was paused',
  'goal-blocked': 'the goal is blocked',
  'goal-complete': 'the goal is complete',
  'goal-cleared': 'the goal was cleared',
  'driver-rearmed': 'the goal drives itself again',
  'queue-failed': 'the step could not be sent',
  'lease-lost': 'another process took the loop over',
  off: 'next is off here',
  closed: 'the session was closed',
  cleared: 'the session was cleared',
  forked: 'the session was forked',
  restart: 'the host was restarted',
}

/** Why a loop ended, in words. */
export const stopText = (reason: string): string => stops[reason] ?? reason

/** What a person is told when a loop ended by itself. */
export function stoppedNotice(reason: string, rounds: number, of: number): string {
  const more = reason === 'cap' || reason === 'tokens' || reason === 'time' ? ' /next arm gives a new allowance.' : ''
  return cut(`Autorun stopped after ${rounds} of ${of} rounds: ${stopText(reason)}.${more}`, 160)
}

/** What the person who pressed Run is told when the host did not take the step. */
export const notSentNotice = (isStillThere: boolean): string =>
  `The step could not be sent${isStillThere ? '; Run tries again' : ''}.`

export interface StatusParts {
  readonly isOff: boolean
  readonly model: string
  readonly local: boolean
  readonly isReady: boolean
  readonly loop: Pick<Loop, 'grant' | 'hold'> | null
  readonly spent: Spent
  readonly holdDetail: string
  readonly stopped: string | null
}

/** The status line. */
export function statusText(parts: StatusParts): string {
  const { isOff, model, local, isReady, loop, spent, holdDetail, stopped } = parts
  if (isOff) return 'next: off here — /next on'
  if (model === '' && !local) return 'next: off — /next model <provider/model> turns it on'
  const head = `next: on (${model === '' ? 'no model' : model})`
  if (loop !== null) {
    if (loop.hold !== null) return cut(`${head} · waits: ${holdText(loop.hold, holdDetail)}`, 120)
    return cut(`${head} · ${autorunText(loop.grant, spent)}`, 120)
  }
  if (stopped !== null && stopped !== 'person' && stopped !== 'human') return cut(`${head} · stopped: ${stopText(stopped)}`, 120)
  if (model === '') return cut(`${head} — /next model <provider/model> adds one`, 120)
  return cut(isReady ? `${head} · offer ready` : head, 120)
}

export function autorunText(grant: Grant, spent: Spent): string {
  return `autorun ${spent.rounds}/${grant.rounds}, ${Math.round(spent.tokens / 1_000)}k tokens, ${Math.floor(spent.ms / 60_000)} min`
}

/** Words of why there is no offer, for `No suggestion: <why>`. */
export function failureText(reason: string | null, error: string | null): string {
  const texts: Readonly<Record<string, string>> = {
    timeout: 'the model did not answer in time',
    unavailable: 'the model is not available',
    refused: 'the model refused',
    'rate-limit': 'the model is over its limit',
    'bad-answer': 'the answer could not be read',
    'refused:command': 'the answer was a command, not a step',
    'refused:secret': 'the answer held a secret',
    'too-long': 'the answer was too long',
    interrupted: 'looking for it was interrupted',
  }
  return texts[reason ?? ''] ?? error ?? reason ?? 'no answer'
}

/** Words of why there is nothing to offer, or why an offer is gone. */
export function quietText(reason: string | null): string {
  const texts: Readonly<Record<string, string>> = {
    nothing: 'nothing useful is left to do',
    'nothing-local': 'the session itself shows no open step, and no model is named',
    'nothing-yet': 'nothing was said yet',
    'empty-goal': 'the answer named no change of the goal',
    empty: 'the answer was empty',
    'turn-running': 'the agent is working',
    'no-completed-turn': 'no turn is completed yet',
    'already-run': 'this step was run already',
    dismissed: 'you sent it away',
    'no-offer': 'there is none for this turn',
    'newer-turn': 'a newer turn began',
    human: 'you went on yourself',
    'goal-changed': 'the goal changed',
    compacted: 'the context was compacted',
    cleared: 'the session was cleared',
  }
  if (reason?.startsWith('filtered:') === true) return 'the answer was no step'
  return texts[reason ?? ''] ?? reason ?? 'no reason is known'
}

/** Words of why a session gets no offers. */
export function ineligibleText(reason: string): string {
  const texts: Readonly<Record<string, string>> = {
    'not-root': 'it is a helper of another session',
    'not-interactive': 'nobody is at it: it only prints',
    'not-mounted': 'its preset is without next',
    off: 'next is off here',
    'not-enabled': 'no model is named and local is false',
  }
  return texts[reason] ?? reason
}

/** A number with its word. */
export const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

/** Tokens as people count them. */
export function tokensOf(tokens: number): string {
  if (tokens < 1_000) return `${tokens} tokens`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1_000)}k tokens`
  return `${Math.round(tokens / 100_000) / 10}M tokens`
}

/** A time that has passed. */
export const minutesOf = (ms: number): string => (ms < 60_000 ? 'under 1 min' : `${Math.floor(ms / 60_000)} min`)

export const displacedText = 'This loop now starts the turns; the goal keeps its objective but not its own rounds.'

export interface Refusal {
  readonly message: string
  readonly hint: string
  readonly exit: 1 | 2 | 3 | 4
}

const refusal = (exit: Refusal['exit'], message: string, hint: string): Refusal => ({ message, hint, exit })

/** Every refusal of a command: what it says, and what to do. */
export const refusals: Readonly<Record<string, Refusal>> = {
  NEXT_HELD: refusal(4, "another process runs this session's loop", '--take takes over'),
  NEXT_CEILING: refusal(2, 'this process fired as often as it may in this session', 'name --rounds to go past the ceiling'),
  NEXT_STALE: refusal(4, 'the session moved on', 'ask for a new suggestion'),
  NEXT_ALREADY_RUN: refusal(4, 'this offer was run already', 'wait for the next one'),
  NEXT_NOT_READY: refusal(1, 'the next step is still being looked for', 'try again in a moment'),
  NEXT_NO_OFFER: refusal(1, 'there is no offer now', 'ask for a suggestion'),
  NEXT_NEEDS_PERSON: refusal(
    2,
    'only a person at a terminal or in the host may do this',
    'type it yourself: /next in the host, or outrigger next at a terminal',
  ),
  NEXT_BAD_GRANT: refusal(
    2,
    'no such allowance',
    'rounds 1–256, tokens 10,000–100,000,000, minutes 1–1,440, a condition of 1–500 characters; a judge needs judgeModel',
  ),
  NEXT_NOT_ELIGIBLE: refusal(2, 'this session cannot have a loop', 'use an interactive main session with next in its preset'),
  NEXT_OFF: refusal(2, 'next is off in this session', '/next on turns it on'),
  NEXT_NO_STARTER: refusal(2, 'this host cannot start turns', 'press Run yourself'),
  NEXT_BAD_MODEL: refusal(2, 'a model is named provider/model', 'like deepseek-official/deepseek-v4-flash, or clear'),
  NEXT_NO_SESSION: refusal(2, 'no session of this project is live', 'open one in a host, or name one with --session'),
}
