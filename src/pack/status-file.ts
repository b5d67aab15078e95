/** `status.md`: the report of the last save, in words. Pure. */
import type { Cite } from './cites.ts'
import type { Redacted, SaveDocument, SaveNote } from './types.ts'

const inWords: Partial<Readonly<Record<SaveNote, string>>> = {
  cut: 'over the cap',
  'no-model': 'no model',
  'model-unparseable': 'reply not understood',
  'git-unknown': 'git unknown',
  lockless: 'no lock',
}

/** Why a save is degraded, in words for people; empty for one that is not. */
export function degradedWords(document: Pick<SaveDocument, 'notes' | 'reason'>): string {
  const words = document.notes.flatMap(note => {
    if (note === 'model-blocked') return [`model blocked: ${document.reason ?? 'no reason given'}`]
    return inWords[note] ?? []
  })
  return words.join(', ')
}

export function statusText(document: SaveDocument, at: number, redacted: readonly Redacted[], cites: readonly Cite[]): string {
  const { lines, fidelity } = document
  const shown = `${lines.shown} of ${lines.live} lines shown`
  const degraded = degradedWords(document)
  const listed = (items: readonly string[]): string => (items.length === 0 ? 'none' : items.join(', '))
  const rows = [
    `stream: ${document.stream}`,
    `at: ${new Date(at).toISOString()}`,
    `outcome: ${document.outcome}`,
    `detail: ${degraded === '' ? shown : `${degraded}; ${shown}`}`,
    `revision: ${document.revision}`,
    `fidelity: ${fidelity.score} (lines ${fidelity.lines}, artifacts ${fidelity.artifacts}, frontier ${fidelity.frontier})`,
    `dropped: ${listed(document.dropped)}`,
    `shortened: ${listed(document.shortened)}`,
    `retired: ${listed(document.retired.map(({ id, key }) => `${id} ${key}`))}`,
    `rejected: ${listed(document.rejected.map(({ entry, key, token, why }) => `${entry} ${key} ${token} ${why}`))}`,
    `unrouted: ${listed(document.unrouted)}`,
    `redacted: ${listed(redacted.map(({ rule, count }) => `${rule} ×${count}`))}`,
    `migrated: ${listed(document.migrated ?? [])}`,
    'cites:',
    ...cites.map(({ id, cite, stamp }) => `- ${id} ${cite} @${stamp}`),
  ]
  return `${rows.join('\n')}\n`
}

export function blockedText(stream: string, at: number, reason: string): string {
  return `stream: ${stream}\nat: ${new Date(at).toISOString()}\noutcome: blocked\nreason: ${reason.replace(/\s+/g, ' ')}\n`
}

/** Cites of a report that was written before. */
export function citesIn(text: string): readonly Cite[] {
  const at = text.indexOf('\ncites:\n')
  if (at === -1) return []
  return text
    .slice(at)
    .split('\n')
    .flatMap(row => {
      const match = /^- (\S+) (.+) @([0-9a-f]{12})$/.exec(row)
      return match === null ? [] : [{ id: match[1]!, cite: match[2]!, stamp: match[3]! }]
    })
}
