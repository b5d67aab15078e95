/** What one entry says: text, scalars and operations in order, whatever its kind. Pure. */
import { type Clause, collapse, type OperationKey, parseClauses } from './clauses.ts'
import type { Entry } from './journal.ts'
import { retireKeys, type Section, sections } from './types.ts'

export const scalarKeys = ['status', 'goal', 'deliverable'] as const
export type ScalarKey = (typeof scalarKeys)[number]

/** Characters of a scalar. */
export const scalarMax: Readonly<Record<ScalarKey, number>> = { status: 80, goal: 300, deliverable: 300 }

export type EntryLine =
  | {
      readonly kind: 'text'
      readonly section: Section | null
      readonly keyword: string | null
      readonly text: string
      /** From 1, over the text lines of the entry. */
      readonly place: number
    }
  | { readonly kind: 'scalar'; readonly key: ScalarKey; readonly text: string }
  | { readonly kind: 'operation'; readonly key: OperationKey; readonly text: string }

export function linesOfEntry(entry: Pick<Entry, 'kind' | 'body' | 'state'>): readonly EntryLine[] {
  if (entry.state === 'torn') return []
  return entry.kind === 'ckpt' ? linesOfClauses(clausesOfBody(entry.body)) : linesOfValues(entry.body)
}

/** Clauses of a stored trailer; of all comments in it, when somebody edited it. */
export function clausesOfBody(body: string): readonly Clause[] {
  const mark = '<!-- ckpt'
  const first = body.indexOf(mark)
  if (first === -1) return parseClauses(body).clauses
  const clauses: Clause[] = []
  for (let at = first; at !== -1; ) {
    const from = at + mark.length
    const close = body.indexOf('-->', from)
    const end = close === -1 ? body.length : close
    clauses.push(...parseClauses(body.slice(from, end)).clauses)
    at = body.indexOf(mark, end)
  }
  return clauses
}

function linesOfClauses(clauses: readonly Clause[]): readonly EntryLine[] {
  let place = 0
  return clauses.map(clause => {
    if (clause.kind === 'operation') return { kind: 'operation', key: clause.key, text: clause.text }
    place += 1
    return { kind: 'text', section: clause.section, keyword: clause.keyword, text: clause.text, place }
  })
}

const operationKeys: ReadonlySet<string> = new Set([...retireKeys, 'restore', 'edit'])

/** One `key: value` a line, between the marks of a comment. */
function linesOfValues(body: string): readonly EntryLine[] {
  const lines: EntryLine[] = []
  let place = 0
  for (const row of body.split('\n')) {
    const match = /^([a-z_]+): ?(.*)$/.exec(row)
    if (match === null) continue
    const key = match[1]!
    const text = collapse(match[2]!.replaceAll('--&gt;', '-->'))
    if (text === '') continue
    if (operationKeys.has(key)) lines.push({ kind: 'operation', key: key as OperationKey, text })
    else if (scalarKeys.some(known => known === key)) lines.push({ kind: 'scalar', key: key as ScalarKey, text })
    else if (sections.some(known => known === key)) {
      place += 1
      lines.push({ kind: 'text', section: key as Section, keyword: null, text, place })
    }
  }
  return lines
}

/** The body of an entry that is not a trailer. */
export function bodyOfValues(kind: string, values: readonly (readonly [key: string, value: string])[]): string {
  const rows = values.map(([key, value]) => `${key}: ${collapse(value).replaceAll('-->', '--&gt;')}\n`)
  return `<!-- ${kind}\n${rows.join('')}-->`
}
