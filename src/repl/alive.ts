/** The names of a session in one line, for a model whose conversation was shortened. */
import { count } from './messages.ts'
import type { BindingState, SessionState } from './types.ts'

const maxChars = 2_048
const maxPreviewChars = 60

/** At most 2,048 characters; `undefined` when there are no names. */
export function aliveText({ bindings }: Pick<SessionState, 'bindings'>): string | undefined {
  if (bindings.length === 0) return undefined
  let text = `REPL names still alive (${count(bindings.length)}): `
  for (const [index, binding] of bindings.entries()) {
    const shown = `${index === 0 ? '' : '; '}${described(binding)}`
    const more = ` and ${count(bindings.length - index)} more`
    if (text.length + shown.length + more.length > maxChars) return text + more
    text += shown
  }
  return text
}

function described({ name, kind, type, preview, cell }: BindingState): string {
  if (kind === 'function' || kind === 'class') return `${name}: ${kind} (cell ${cell})`
  const line = preview.replace(/\s+/g, ' ')
  const shown = line.length > maxPreviewChars ? `${line.slice(0, maxPreviewChars - 1).replace(/[\ud800-\udbff]$/, '')}…` : line
  // A preview that begins with its type says it itself.
  if (shown === '' || type === '') return `${name}: ${type || kind}`
  return shown.startsWith(type) ? `${name}: ${shown}` : `${name}: ${type} ${shown}`
}
