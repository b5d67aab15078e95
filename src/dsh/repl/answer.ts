/** A cell's outcome in the words of the host: a value that is JSON or a text, lines of output, the kind of a failure. Pure. */
import type { CodeJsonValue, CodeRunFailure, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import { OutriggerError } from '../../errors.ts'
import { cutMiddle, failureText, notesOf } from '../../repl/render.ts'
import type { Outcome, RunResult } from '../../repl/types.ts'

const kinds: Readonly<Record<Exclude<Outcome, 'ok'>, CodeRunFailure['kind']>> = {
  threw: 'exception',
  rejected: 'exception',
  timeout: 'timeout',
  aborted: 'abort',
  exited: 'worker-exit',
}

/** @param modelChars - at most so many of the output, and of the value. */
export function answerOf(result: RunResult, modelChars: number): CodeRunResult {
  const printed = result.logs.map(entry => entry.text)
  const all = printed.join('\n')
  const shown = all.length <= modelChars ? printed : [cutMiddle(all, modelChars, 'print less, or keep it in a variable')]
  const notes = notesOf(result).map(note => `[outrigger] ${note.replace('repl_state logs shows more', 'print less')}`)
  const value = shownValue(result, modelChars)
  const { error, outcome } = result
  return {
    logs: [...shown, ...notes],
    ...(value !== undefined && { value }),
    ...(error !== undefined &&
      outcome !== 'ok' && {
        error: {
          kind: kinds[outcome],
          message: failureText(error, result.cell, [...result.bindings.added, ...result.bindings.changed]),
        },
      }),
  }
}

function shownValue(result: RunResult, modelChars: number): CodeJsonValue | undefined {
  if (result.valueKind === 'none') return undefined
  const more = `repl.page(${JSON.stringify(result.handle ?? `v${result.cell}`)})`
  if (result.value === undefined) {
    const preview = result.preview ?? ''
    return cutMiddle(preview, modelChars, more)
  }
  const text = typeof result.value === 'string' ? result.value : JSON.stringify(result.value)
  return text.length <= modelChars ? (result.value as CodeJsonValue) : cutMiddle(text, modelChars, more)
}

/** A cell that did not run: what stood in its way is its failure. */
export function failed(error: unknown): CodeRunResult {
  const message =
    error instanceof OutriggerError
      ? `${error.code} ${error.message}${error.hint === undefined ? '' : `\n  help: ${error.hint}`}`
      : `the cell could not be run: ${error instanceof Error ? error.message : String(error)}`
  return { logs: [], error: { kind: 'exception', message } }
}
