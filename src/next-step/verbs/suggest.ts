/** `next suggest`: the step that a recorded session would be offered. Stores nothing; asks a model only when one is named. */
import { OutriggerError } from '../../errors.ts'
import { decodeInput } from '../../session/decode.ts'
import type { SessionEvent } from '../../session/events.ts'
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import { emptyNextFacts, foldNext, type NextFacts } from '../facts.ts'
import { suggestInput } from '../input.ts'
import { type Candidate, candidatesOf } from '../local.ts'
import { judgeText } from '../offer.ts'
import { failureText, quietText } from '../texts.ts'
import { type GoalIdentity, type Intent, identityOf, isModelName, type NextConfig } from '../types.ts'

export interface SuggestInput {
  readonly session: string
  readonly at?: number
  readonly model?: string
  readonly showInput: boolean
}

export interface SuggestOutput {
  readonly kind: 'offer' | 'quiet' | 'failed'
  readonly turn: number | null
  readonly offer?: { readonly turn: number; readonly text: string; readonly intent: Intent; readonly via: 'model' | 'local' }
  readonly reason?: string
  readonly goal: (GoalIdentity & { readonly objective: string; readonly phase: string }) | null
  readonly candidates: readonly Candidate[]
  readonly input?: { readonly system: string; readonly user: string }
}

export interface SuggestDeps {
  config(): NextConfig
  openLog(path: string, caller: Caller): Promise<{ readonly project: string; readonly events: AsyncIterable<SessionEvent> }>
  /** Ask a model of the person's configuration. Throws an error with exit 3 when there is none. */
  ask?(request: {
    readonly model: string
    readonly system: string
    readonly user: string
    readonly maxTokens: number
    readonly timeoutMs: number
    readonly signal: AbortSignal
  }): Promise<string>
  randomHex(digits: number): string
}

const input = {
  type: 'object',
  properties: {
    session: { type: 'string', description: "a host's session log, or a folder that holds one", minLength: 1, maxLength: 4_096 },
    at: { type: 'integer', description: 'after this turn; default the last one', minimum: 1, maximum: 10_000_000 },
    model: { type: 'string', description: 'provider/model to ask; left out: only what needs no model', maxLength: 400 },
    showInput: { type: 'boolean', description: 'add what a model reads', default: false },
  },
  required: ['session'],
  additionalProperties: false,
} as const satisfies InputSchema

export function suggestOperation(deps: SuggestDeps): Operation<SuggestInput, SuggestOutput> {
  return {
    name: 'next.suggest',
    summary: 'Names the next step of a recorded session; changes nothing.',
    input,
    readOnly: true,
    decode: value => {
      const given = decodeInput(input, value) as unknown as SuggestInput
      if (given.model === undefined || isModelName(given.model)) return given
      throw new OutriggerError('NEXT_BAD_MODEL', `"${given.model}" names no model`, {
        subject: 'model',
        hint: 'a model is named provider/model',
      })
    },
    run: (given, caller) => suggest(given, caller, deps),
    render: output => render(output),
    exitCode: ({ kind }) => (kind === 'failed' ? 1 : 0),
    examples: [
      'outrigger next suggest --session session.jsonl.zstd',
      'outrigger next suggest --session log.jsonl --at 4 --show-input --json',
    ],
  }
}

async function suggest(given: SuggestInput, caller: Caller, deps: SuggestDeps): Promise<SuggestOutput> {
  const config = deps.config()
  const opened = await deps.openLog(given.session, caller)
  const facts = await factsAt(opened, given.at, config.contextChars)
  const { turn, goals, work, todos, answer, said } = facts
  const { goal } = goals
  const context = { maxChars: config.maxChars, said, declined: [] }
  const candidates = candidatesOf({ work, todos, answer: answer ?? '' }, context)
  const read = suggestInput({
    ...config,
    facts,
    outline: [],
    check: null,
    hints: candidates,
    fired: [],
    declined: [],
    hex: deps.randomHex(8),
  })
  const about = {
    turn: turn?.turn ?? null,
    goal: goal === null ? null : { ...identityOf(goal)!, objective: goal.objective, phase: goal.phase },
    candidates,
    ...(given.showInput && read !== null && { input: read }),
  }
  if (turn === null || turn.isOpen || turn.reason !== 'completed') return { kind: 'quiet', reason: 'no-completed-turn', ...about }
  const offer = (text: string, intent: Intent, via: 'model' | 'local') => ({
    kind: 'offer' as const,
    offer: { turn: turn.turn, text, intent, via },
    ...about,
  })
  const first = candidates[0]
  if (given.model === undefined)
    return first === undefined ? { kind: 'quiet', reason: 'nothing-local', ...about } : offer(first.text, first.intent, 'local')
  if (read === null) return { kind: 'quiet', reason: 'nothing-yet', ...about }
  if (deps.ask === undefined) {
    throw new OutriggerError('NEXT_NO_MODEL', 'no model can be asked from here', {
      subject: given.model,
      exit: 3,
      hint: 'leave out --model for what needs none',
    })
  }
  const { maxChars: _, timeoutMs } = config
  const text = await deps.ask({ model: given.model, ...read, maxTokens: 200, timeoutMs, signal: caller.signal })
  const judged = judgeText(text, context)
  if (judged.kind === 'offer') return offer(judged.text, judged.intent, 'model')
  return { kind: judged.kind, reason: judged.reason, ...about }
}

/** What the session is known by after a turn; turns after it are not read. */
async function factsAt(
  log: { readonly project: string; readonly events: AsyncIterable<SessionEvent> },
  at: number | undefined,
  chars: number,
): Promise<NextFacts> {
  let facts = emptyNextFacts(log.project)
  for await (const event of log.events) {
    facts = foldNext(facts, event, chars)
    if (at !== undefined && facts.turn !== null && facts.turn.turn >= at && !facts.turn.isOpen) return facts
  }
  if (at !== undefined && (facts.turn === null || facts.turn.turn < at)) {
    throw new OutriggerError('BAD_INPUT', `the log has no turn ${at}`, {
      subject: 'at',
      hint: `its last turn is ${facts.turn?.turn ?? 0}`,
    })
  }
  return facts
}

function render({ kind, offer, reason, candidates }: SuggestOutput): string {
  const first =
    offer === undefined
      ? `No suggestion: ${kind === 'failed' ? failureText(reason ?? null, null) : quietText(reason ?? null)}`
      : `${offer.intent === 'goal-edit' ? 'changes the goal' : 'next'}: ${offer.text}`
  return [first, ...candidates.slice(offer?.via === 'local' ? 1 : 0).map(({ rule, text }) => `  ${rule}: ${text}`)].join('\n')
}
