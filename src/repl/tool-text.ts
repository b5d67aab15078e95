/** Answers of the REPL's tools as the text that a model reads. */
import { count } from './messages.ts'
import { cutMiddle, failureText, resultText } from './render.ts'
import type { EditFailure, EditResult, LogsPage, Page, Recovery } from './types.ts'

export function editAnswerText(result: EditResult, modelChars: number): string {
  if (result.edited) return resultText(result, modelChars)
  if (!('parses' in result)) return refusalText(result.error)
  if (result.parses) return `The changed cell ${result.target} parses. Nothing ran.`
  const why = result.error === undefined ? '' : `\n${failureText(result.error, result.target)}`
  return `The changed cell ${result.target} does not parse. Nothing ran.${why}`
}

/** Why an edit was not made. */
export function refusalText({ code, message, help }: EditFailure): string {
  return [`${code} ${message}`, ...(help ?? []).map(line => `  help: ${line}`)].join('\n')
}

/** @param offset - where the page begins. */
export function pageText({ text, total }: Page | LogsPage, offset: number, modelChars: number): string {
  const end = `${count(total)} in all; this page begins at ${count(offset)}`
  return `${cutMiddle(text, modelChars, 'ask for a smaller page')}\n[outrigger] ${end}.`
}

export function savedText({ name, atRisk = [] }: { readonly name: string; readonly atRisk?: readonly string[] }): string {
  return atRisk.length === 0 ? `Saved as ${name}.` : `Saved as ${name}, without ${listed(atRisk)}.`
}

/** What a new worker has of the names. */
export function backText({ counts, bindings }: Recovery): string {
  const { exact, replayed, snapshot, lost } = counts
  const kept = exact + replayed + snapshot
  const gone = bindings.filter(({ status }) => status === 'lost').map(({ name }) => name)
  return `A new worker; ${kept} name${kept === 1 ? ' is' : 's are'} back${lost === 0 ? '' : `; not back: ${listed(gone)}`}.`
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 10).join(', ')}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`
}
