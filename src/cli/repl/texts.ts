/** State, history and sessions as tables for people. */

import { reasonWords } from '../../repl/messages.ts'
import type { History, SessionState } from '../../repl/types.ts'
import type { ListedSession } from './list.ts'

export function stateText(state: SessionState): string {
  const lines = [`${state.mode} · head: cell ${state.head} · ${state.cwd}`]
  if (state.worker !== null) lines.push(`worker ${state.worker.pid}, ${state.worker.rssMb} MB${pending(state.pending)}`)
  const width = Math.max(0, ...state.bindings.map(({ name }) => name.length))
  for (const { name, kind, type, preview, cell, recover, reason } of state.bindings) {
    lines.push(
      `  ${name.padEnd(width)}  ${kind} ${type}`.trimEnd() +
        (preview === '' ? '' : `  ${preview.split('\n')[0]!}`) +
        `  (cell ${cell}, ${recover === 'lost' ? `lost at a restart: ${reasonWords(reason)}` : recover})`,
    )
  }
  if (state.bindings.length === 0) lines.push('  no names')
  for (const { name, cell, reason } of state.lost) lines.push(`  lost: ${name} (${reasonWords(reason)}, cell ${cell})`)
  for (const { name, cell } of state.named) lines.push(`  state ${name}: cell ${cell}`)
  return lines.join('\n')
}

function pending({ timers, handles }: SessionState['pending']): string {
  const parts = [
    timers > 0 ? `${timers} timer${timers === 1 ? '' : 's'}` : '',
    handles > 0 ? `${handles} open handle${handles === 1 ? '' : 's'}` : '',
  ].filter(part => part !== '')
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`
}

export function historyText({ cells, head }: History): string {
  if (cells.length === 0) return 'no cells yet'
  return cells
    .map(({ cell, outcome, names, lines, description, edit, source }) => {
      const notes = [
        names.length > 0 ? names.join(' ') : '',
        edit === undefined ? '' : `edit of cell ${edit.target}`,
        description ?? '',
      ].filter(note => note !== '')
      const row = `${String(cell).padStart(4)}${cell === head ? '*' : ' '} ${outcome.padEnd(8)} ${lines} line${lines === 1 ? '' : 's'}${notes.length === 0 ? '' : `  ${notes.join(' · ')}`}`
      return source === undefined ? row : `${row}\n${source.replace(/^/gm, '      ')}`
    })
    .join('\n')
}

export function listText(sessions: readonly ListedSession[]): string {
  if (sessions.length === 0) return 'no sessions; `outrigger repl` starts one'
  const width = Math.max(...sessions.map(({ name }) => name.length))
  return sessions
    .map(
      ({ name, cells, lastUse, mode, size }) =>
        `${name.padEnd(width)}  ${cells} cell${cells === 1 ? '' : 's'}  ${lastUse ?? 'never used'}  ${mode}  ${Math.ceil(size / 1024)} KiB`,
    )
    .join('\n')
}
