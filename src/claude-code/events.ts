/** Claude Code's own events as ours, where they say more than the ones of its command hooks. Pure. */
import { capText } from '../session/caps.ts'
import type { EventOf, TurnEndReason } from '../session/events.ts'

/** Where the words of a person come from; the others are the host's or another plugin's. */
export const personOrigins: readonly string[] = ['composer', 'bridge', 'sdk', 'slack-ping', 'unclassified']

export interface Place {
  readonly session: string
  readonly project: string
  readonly at: number
}

/** Of the host's event at the end of a turn. */
export interface Completed {
  readonly answer?: string | null
  readonly isAborted?: boolean
  readonly turnId?: string
  readonly agentId?: string
  readonly reason?: string
  readonly usage?: unknown
}

/** @param steps - texts of the turn's steps, oldest first. @param lastStop - why the last step stopped. */
export function turnEnded(
  place: Place,
  completed: Completed,
  steps: readonly string[],
  lastStop: string | undefined,
): EventOf<'turn-ended'> {
  const answer = capText(completed.answer ?? steps.at(-1) ?? '')
  const earlier = (steps.at(-1) === completed.answer || completed.answer == null ? steps.slice(0, -1) : steps)
    .filter(text => text !== '')
    .map(text => capText(text))
  const usage = usageOf(completed.usage)
  return {
    ...place,
    ...(completed.agentId !== undefined && { agent: completed.agentId }),
    kind: 'turn-ended',
    turn: 0,
    ...(completed.turnId !== undefined && { turnId: completed.turnId }),
    reason: reasonOf(completed, lastStop),
    answer,
    ...(earlier.length > 0 && { earlier }),
    ...(usage !== undefined && { usage }),
  }
}

function reasonOf({ reason, isAborted }: Completed, lastStop: string | undefined): TurnEndReason {
  if (isAborted === true || reason === 'aborted') return 'aborted'
  if (reason === 'refusal') return 'refused'
  if (reason === 'error') return 'error'
  return lastStop === 'max_tokens' ? 'max-tokens' : 'completed'
}

/** Tokens of a request or a turn, whatever the host calls its fields. */
export function usageOf(value: unknown): { readonly input: number; readonly output: number } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Readonly<Record<string, unknown>>
  const count = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (typeof fields[name] === 'number' ? fields[name] : 0), 0)
  const input = count(
    'input_tokens',
    'inputTokens',
    'cache_read_input_tokens',
    'cacheReadInputTokens',
    'cache_creation_input_tokens',
    'cacheCreationInputTokens',
  )
  const output = count('output_tokens', 'outputTokens')
  return input + output === 0 ? undefined : { input, output }
}

/** Helpers that still run. */
export function runningHelpers(list: readonly unknown[]): number {
  return list.filter(each => {
    const { status } = (each ?? {}) as { status?: unknown }
    return status === 'pending' || status === 'running' || status === 'waiting'
  }).length
}
