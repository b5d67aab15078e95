/** Results and failures as text, for models and people who do not read the document. */
import { at, count, quoted, recoveryMessage, rewritesMessage, riskMessage } from './messages.ts'
import type { CellError, RunResult } from './types.ts'

const maxFailureChars = 4_000
const maxMessageChars = 1_000
const note = '[outrigger] '

/** The first line says what, then where, then what to do. */
export function failureText(error: CellError, cell: number, changed: readonly string[] = []): string {
  const message = error.message.length > maxMessageChars ? `${error.message.slice(0, maxMessageChars)}…` : error.message
  const named = error.phase === 'kernel' ? message : `${error.name}: ${message}`
  const lines = [`${error.code} ${named}`.split('\n').join('\n  ')]
  if (error.position !== undefined) lines.push(...frameLines(error, cell))
  const others = (error.frames ?? []).filter(frame => frame.cell !== cell)
  for (const frame of others.slice(0, 3)) lines.push(`  in ${frame.name ?? 'a function'} of cell ${frame.cell}, ${at(frame)}`)
  for (const cause of (error.causes ?? []).slice(0, 4)) lines.push(`  cause: ${quoted(cause)}`)
  if (error.state === 'partial' && changed.length > 0)
    lines.push(`  names set before this point keep their new values: ${names(changed)}`)
  for (const help of error.help ?? []) lines.push(`  help: ${help}`)
  if (error.edit !== undefined) lines.push(`  help: edit_run_code with ${JSON.stringify(error.edit)}`)
  const text = lines.join('\n')
  return text.length > maxFailureChars ? `${text.slice(0, maxFailureChars - 1)}…` : text
}

function frameLines({ position, frame }: CellError, cell: number): string[] {
  const head = `  cell ${cell}, ${at(position!)} |`
  if (frame === undefined) return [head.slice(0, -2)]
  // Tabs keep the caret below its place.
  const before = frame.text.slice(0, Math.max(0, frame.column - 1)).replace(/[^\t]/g, ' ')
  return [`${head}   ${frame.text}`, `${' '.repeat(head.length - 1)}|   ${before}^`]
}

function names(all: readonly string[]): string {
  return all.length <= 10 ? all.join(', ') : `${all.slice(0, 10).join(', ')} and ${all.length - 10} more`
}

/** Logs, the value, the failure, then notes. @param modelChars - at most so many of the logs, and of the value. */
export function resultText(result: RunResult, modelChars: number): string {
  const parts: string[] = []
  const logs = result.logs.map(entry => entry.text).join('\n')
  if (logs !== '') parts.push(cutMiddle(logs, modelChars, `repl_state logs cell ${result.cell}`))
  const value = valueText(result)
  if (value !== undefined)
    parts.push(cutMiddle(value, modelChars, `repl_state page handle ${result.handle ?? `v${result.cell}`}`))
  if (result.error !== undefined)
    parts.push(failureText(result.error, result.cell, [...result.bindings.added, ...result.bindings.changed]))
  const notes = notesOf(result)
  if (parts.length === 0 && notes.length === 0) return '(ran; nothing printed or returned)'
  return [...parts, ...notes.map(text => note + text)].join('\n')
}

function valueText(result: RunResult): string | undefined {
  if (result.valueKind === 'none') return undefined
  if (typeof result.value === 'string') return result.value
  if (result.value !== undefined) {
    const line = JSON.stringify(result.value)
    return line.length > 100 ? JSON.stringify(result.value, null, 2) : line
  }
  return result.preview
}

/** One line each; text of programs only quoted. */
export function notesOf(result: RunResult): readonly string[] {
  const notes: string[] = []
  const told = result.recovery === undefined ? undefined : recoveryMessage(result.recovery)
  if (told !== undefined) notes.push(told)
  if (result.durability.atRisk.length > 0) notes.push(riskMessage(result.durability.atRisk))
  for (const warning of result.warnings) notes.push(warning.message)
  const rewritten = rewritesMessage(result)
  if (rewritten !== undefined) notes.push(rewritten)
  if (result.tip !== undefined) notes.push(result.tip.text)
  const late = new Map<number, string[]>()
  for (const { cell, text } of result.late ?? []) late.set(cell, [...(late.get(cell) ?? []), text])
  for (const [cell, texts] of late)
    notes.push(
      `Output of cell ${cell} after it had ended: ${texts
        .slice(0, 8)
        .map(text => quoted(text))
        .join(' ')}${texts.length > 8 ? ` and ${texts.length - 8} more` : ''}`,
    )
  return notes.map(text => text.replaceAll('\n', ' '))
}

/** The first three quarters and the last quarter. */
export function cutMiddle(text: string, max: number, where: string): string {
  if (text.length <= max) return text
  const head = Math.floor(max * 0.75)
  const tail = max - head
  const first = text.slice(0, head).replace(/[\ud800-\udbff]$/, '')
  const last = text.slice(-tail).replace(/^[\udc00-\udfff]/, '')
  return `${first}\n… ${count(text.length - first.length - last.length)} characters omitted; ${where} …\n${last}`
}
