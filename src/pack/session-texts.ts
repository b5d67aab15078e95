/** Answers of pack as a host's chat shows them. Pure. */
import type { DiffDocument, ListDocument, ShowDocument } from './types.ts'

export function renderDiff({ from, to, added, removed, changed, scalars }: DiffDocument): string {
  const lines = [
    ...scalars.map(({ key, from: old, to: now }) => `~ ${key}: ${old} → ${now}`),
    ...added.map(({ id, section, text }) => `+ ${section}: ${text} (${id})`),
    ...removed.map(
      ({ id, section, text, why, reason }) => `- ${section}: ${text} (${id}; ${reason === null ? why : `${why}: ${reason}`})`,
    ),
    ...changed.map(({ id, section, to: now }) => `~ ${section}: ${now} (${id})`),
  ]
  return [`revision ${from} → ${to}`, ...(lines.length === 0 ? ['no line differs'] : lines)].join('\n')
}

export function renderShow({ stream, entries, missing, state }: ShowDocument): string {
  const parts = entries.map(entry => `${entry.id} ${entry.at} ${entry.session}\n${entry.text}`)
  if (missing.length > 0) parts.push(`not in "${stream}": ${missing.join(', ')}`)
  if (state !== null) parts.push(state.text)
  return parts.join('\n\n') || `"${stream}" was not saved yet`
}

export function renderList({ streams }: ListDocument): string {
  if (streams.length === 0) return 'no streams here yet'
  return streams
    .map(({ stream, revision, saved, entries, unsaved, trust }) => {
      const news = unsaved > 0 ? `, ${unsaved} not in the state yet` : ''
      return `${stream}: revision ${revision}, ${saved === null ? 'never saved' : `saved ${saved}`}, ${entriesText(entries)}${news}${trust === 'own' ? '' : `, ${trust}`}`
    })
    .join('\n')
}

export function entriesText(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`
}
