/** A `state.md` read back: its head, and the lines that it shows. Pure; takes whatever a person made of it. */
import { isOwnRow } from './assemble.ts'
import type { scalarKeys } from './entry-lines.ts'
import { parseId } from './ids.ts'
import { type Section, sections } from './types.ts'

export interface StateRow {
  readonly section: Section
  /** As shown behind the text; `null` without one. */
  readonly id: string | null
  readonly text: string
  /** Behind the text: that the line was not checked yet, or what its command said. */
  readonly mark: string
}

export interface StateFile {
  readonly stream: string | null
  readonly saved: string | null
  readonly session: string | null
  readonly previousSession: string | null
  readonly revision: number | null
  readonly cursor: number
  readonly scalars: Readonly<Record<(typeof scalarKeys)[number], string | null>>
  readonly rows: readonly StateRow[]
}

/** `null`: it is no state of ours or of the older tool. */
export function parseState(text: string): StateFile | null {
  const head = new Map<string, string>()
  const rows: StateRow[] = []
  let section: Section | 'frontier' | null = null
  for (const raw of text.replace(/\r\n?/g, '\n').split('\n')) {
    const key = /^([a-z_]+):(?: (.*))?$/.exec(raw)
    if (key !== null) {
      section = [...sections, 'frontier' as const].find(known => known === key[1]) ?? section
      if (sections.every(known => known !== key[1]) && key[1] !== 'frontier' && !head.has(key[1]!)) {
        head.set(key[1]!, (key[2] ?? '').trim())
      }
      continue
    }
    const item = /^\s*[-*+] (.*)$/.exec(raw)
    if (item === null || section === null || section === 'frontier') continue
    const row = item[1]!.trim()
    if (row !== '' && !isOwnRow(row)) rows.push(rowOf(section, row))
  }
  if (!head.has('stream') && !head.has('journal_cursor') && rows.length === 0) return null
  const [saved, session] = (head.get('saved') ?? '').split(' ')
  return {
    stream: head.get('stream') ?? null,
    saved: saved === undefined || saved === '' ? null : saved,
    session: session === undefined || session === '' ? null : session,
    previousSession: known(head.get('previous_session') ?? head.get('predecessor')),
    revision: numberOf(head.get('revision')),
    cursor: numberOf(/^c(\d+)$/.exec(head.get('journal_cursor') ?? '')?.[1]) ?? 0,
    scalars: { status: known(head.get('status')), goal: known(head.get('goal')), deliverable: known(head.get('deliverable')) },
    rows,
  }
}

const known = (value: string | undefined): string | null =>
  value === undefined || ['', 'none', 'unknown'].includes(value) ? null : value

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** `<text>[ [verify]| [ran: exit N]] (<id>)` */
function rowOf(section: Section, row: string): StateRow {
  const match = /^(.*) \((c\d[^()\s]*)\)$/.exec(row)
  const hasId = match !== null && parseId(match[2]!) !== null
  const body = hasId ? match[1]! : row
  const mark = hasId ? (/ \[(?:verify|ran: exit (?:-?\d+|unknown))\]$/.exec(body)?.[0] ?? '') : ''
  return { section, id: hasId ? match[2]! : null, text: body.slice(0, body.length - mark.length), mark }
}
