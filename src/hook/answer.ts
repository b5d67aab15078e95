/** Our actions as the JSON that a host reads from a command hook. */
import type { Action, ActionOf, FailureReason } from '../session/actions.ts'
import type { HostEvent } from './translate.ts'

/** Characters of context in one answer; above 10,000 the host shows a preview and a file instead. */
export const maxContextChars: number = 9_800

export interface Answer {
  /** What the host gets. */
  readonly json: Readonly<Record<string, unknown>>
  /** What this answer cannot carry. */
  readonly failed: readonly { readonly action: string; readonly reason: FailureReason }[]
}

const withContext: readonly HostEvent[] = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure']

/** @param hold - the text that keeps the agent going, only at `Stop`. */
export function answerOf(event: HostEvent, actions: readonly Action[], hold: string | null): Answer {
  const failed: { action: string; reason: FailureReason }[] = []
  const texts: string[] = []
  let watched: readonly string[] | undefined
  for (const action of actions) {
    if (action.kind === 'add-context' && withContext.includes(event)) {
      if ([...texts, action.text].join(separator).length <= maxContextChars) texts.push(action.text)
      else failed.push({ action: action.id, reason: 'over-budget' })
    } else if (action.kind === 'watch' && event === 'SessionStart') {
      watched = union(watched ?? [], action)
    } else {
      failed.push({ action: action.id, reason: 'no-carrier' })
    }
  }
  if (event === 'Stop') return { json: hold === null ? {} : { decision: 'block', reason: hold }, failed }
  if (texts.length === 0 && watched === undefined) return { json: {}, failed }
  const additionalContext = texts.join(separator)
  return {
    json: {
      hookSpecificOutput: {
        hookEventName: event,
        ...(additionalContext !== '' && { additionalContext }),
        ...(watched !== undefined && { watchPaths: watched }),
      },
    },
    failed,
  }
}

const separator = '\n\n'

function union(paths: readonly string[], action: ActionOf<'watch'>): readonly string[] {
  return [...new Set([...paths, ...action.paths])].sort()
}
