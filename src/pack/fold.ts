/**
 * Entries into lines: the only place where lines live and die. The same journal gives the same lines,
 * whatever order its entries stand in. Pure and linear.
 */
import { clip } from '../text/clip.ts'
import { collapse, type OperationKey } from './clauses.ts'
import { type EntryLine, linesOfEntry, type ScalarKey, scalarMax } from './entry-lines.ts'
import { clauseId, type IdToken } from './ids.ts'
import type { Entry } from './journal.ts'
import { mayRetire, movedAs, parseEdit, parseIds } from './operations.ts'
import type { EntryKind, LineState, Rejected, RejectedWhy, Retired, RetireKey, Section } from './types.ts'

export interface Line {
  /** `cNN.k` */
  readonly id: string
  /** `cNN` where the entry has one text line only, else `id`. */
  readonly shownId: string
  readonly entry: string
  readonly number: number
  /** Where the entry stands among all; lines are sorted by it and by their place. */
  readonly order: number
  readonly place: number
  readonly keyword: string | null
  /** ms since the epoch; `NaN` in a header that is not ours. */
  readonly at: number
  readonly session: string
  readonly kind: EntryKind
  /** As it was captured; `section` is where it stands now. */
  readonly home: Section | null
  readonly section: Section | null
  readonly text: string
  readonly state: LineState
}

export interface FoldedEntry {
  readonly entry: Entry
  readonly lines: readonly EntryLine[]
  readonly lineIds: readonly string[]
}

export interface Folded {
  readonly entries: readonly FoldedEntry[]
  readonly lines: ReadonlyMap<string, Line>
  readonly scalars: Readonly<Record<ScalarKey, string | null>>
  readonly retired: readonly (Retired & { readonly number: number })[]
  readonly rejected: readonly (Rejected & { readonly number: number })[]
  readonly unrouted: readonly { readonly id: string; readonly number: number }[]
  /** Highest number of an entry that can be read. */
  readonly cursor: number
}

type Working = { -readonly [K in keyof Line]: Line[K] } & { textAtHome: string }

const byKind: Readonly<Record<EntryKind, Retired['by']>> = {
  ckpt: 'trailer',
  designation: 'model',
  code: 'code',
  hand: 'hand',
  migration: 'migration',
}

export function fold(entries: readonly Entry[]): Folded {
  const lines = new Map<string, Working>()
  const ofEntry = new Map<string, Working[]>()
  /** Live lines by section and text, oldest first. */
  const twins = new Map<string, Working[]>()
  const scalars: Record<ScalarKey, string | null> = { status: null, goal: null, deliverable: null }
  const retired: (Retired & { number: number })[] = []
  const rejected: (Rejected & { number: number })[] = []
  const unrouted: { id: string; number: number }[] = []
  const folded: FoldedEntry[] = []
  let cursor = 0

  const live = (line: Working): void => {
    line.state = 'live'
    if (line.section === null) return
    const key = twinKey(line.section, line.text)
    const group = twins.get(key)
    if (group === undefined) twins.set(key, [line])
    else group.push(line)
  }
  const leave = (line: Working): void => {
    const key = twinKey(line.section!, line.text)
    const group = twins.get(key)
    if (group === undefined) return
    if (group.length === 1) twins.delete(key)
    else group.splice(group.indexOf(line), 1)
  }
  const take = (line: Working, key: RetireKey, reason: string | null): void => {
    leave(line)
    const word = movedAs[key]
    if (word === undefined) {
      line.state = 'retired'
      return
    }
    line.section = 'discarded'
    line.text = `${line.text} — ${word}${reason === null ? '' : `: ${reason}`}`
    live(line)
  }

  for (const [order, entry] of entries.entries()) {
    const parts = linesOfEntry(entry)
    const texts = parts.filter(part => part.kind === 'text')
    const lineIds: string[] = []
    if (entry.state !== 'torn') {
      cursor = Math.max(cursor, entry.number)
      if (parts.length === 0) unrouted.push({ id: entry.id, number: entry.number })
    }
    const at = Date.parse(entry.time)
    const mine: Working[] = []
    const refuse = (key: string, token: string, why: RejectedWhy): void => {
      rejected.push({ entry: entry.id, key, token, why, number: entry.number })
    }
    const retire = (line: Working, key: RetireKey, reason: string | null): void => {
      const group = twins.get(twinKey(line.section!, line.text)) ?? [line]
      const earlier = group.slice(0, group.indexOf(line))
      for (const twin of earlier) take(twin, key, reason)
      take(line, key, reason)
      retired.push({ id: line.shownId, key, by: byKind[entry.kind], reason, number: entry.number })
    }

    for (const part of parts) {
      switch (part.kind) {
        case 'scalar':
          scalars[part.key] = clip(part.text, scalarMax[part.key])
          break
        case 'text': {
          const id = clauseId(entry.id, part.place)
          const line: Working = {
            id,
            shownId: texts.length === 1 ? entry.id : id,
            entry: entry.id,
            number: entry.number,
            order,
            place: part.place,
            keyword: part.keyword,
            at,
            session: entry.session,
            kind: entry.kind,
            home: part.section,
            section: part.section,
            text: part.text,
            textAtHome: part.text,
            state: 'journal',
          }
          lineIds.push(id)
          mine.push(line)
          lines.set(id, line)
          if (part.section !== null) live(line)
          break
        }
        case 'operation':
          operate(part.key, part.text)
          break
        default:
          part satisfies never
      }
    }
    ofEntry.set(entry.id, mine)
    folded.push({ entry, lines: parts, lineIds })

    function operate(key: OperationKey, value: string): void {
      if (key === 'edit') {
        edit(value)
        return
      }
      const { tokens, reason } = parseIds(value)
      for (const { text, id } of tokens) {
        const found = id === null ? 'not-an-id' : key === 'restore' ? restorable(id) : retirable(id, key)
        if (typeof found === 'string') refuse(key, text, found)
        else
          for (const line of found)
            if (key === 'restore') restore(line)
            else if (line.state === 'live') retire(line, key, reason)
      }
    }

    function edit(value: string): void {
      const { token, id, text } = parseEdit(value)
      if (id === null || text === '') {
        refuse('edit', token, 'not-an-id')
        return
      }
      const all = linesOf(id)
      if (all === undefined) {
        refuse('edit', token, 'unknown-id')
        return
      }
      const targets = all.filter(line => line.state === 'live')
      if (targets.length !== 1) {
        refuse(
          'edit',
          token,
          targets.length > 1 ? 'ambiguous' : all.some(line => line.section !== null) ? 'already-retired' : 'wrong-section',
        )
        return
      }
      const line = targets[0]!
      leave(line)
      line.text = text
      if (line.section === line.home) line.textAtHome = text
      live(line)
    }
  }

  /** Lines before this operation that the token names; `undefined`: no such entry or line. */
  function linesOf(id: IdToken): readonly Working[] | undefined {
    if (typeof id.clause === 'number') {
      const line = lines.get(clauseId(id.entry, id.clause))
      return line === undefined ? undefined : [line]
    }
    const all = ofEntry.get(id.entry)
    return all === undefined || all.length === 0 ? undefined : all
  }

  function retirable(id: IdToken, key: RetireKey): readonly Working[] | RejectedWhy {
    const all = linesOf(id)
    if (all === undefined) return 'unknown-id'
    const allowed = mayRetire[key]
    const fitting = all.filter(line => line.state === 'live' && line.section !== null && allowed.includes(line.section))
    if (fitting.length === 0) {
      const isGone = all.some(
        line => line.home !== null && allowed.includes(line.home) && (line.state === 'retired' || line.section !== line.home),
      )
      return isGone ? 'already-retired' : 'wrong-section'
    }
    return fitting.length > 1 && id.clause === null ? 'ambiguous' : fitting
  }

  function restorable(id: IdToken): readonly Working[] | RejectedWhy {
    const all = linesOf(id)
    if (all === undefined) return 'unknown-id'
    const fitting = all.filter(line => line.state === 'retired' || (line.state === 'live' && line.section !== line.home))
    if (fitting.length === 0) return 'wrong-section'
    return fitting.length > 1 && id.clause === null ? 'ambiguous' : fitting
  }

  function restore(line: Working): void {
    if (line.state === 'live') leave(line)
    line.section = line.home
    line.text = line.textAtHome
    live(line)
  }

  for (const group of twins.values()) {
    if (group.length === 1) continue
    const newest = group.reduce((best, line) => (isLater(line, best) ? line : best))
    for (const line of group) if (line !== newest) line.state = 'twin'
  }
  return { entries: folded, lines, scalars, retired, rejected, unrouted, cursor }
}

const isLater = (one: Line, other: Line): boolean =>
  one.order > other.order || (one.order === other.order && one.place > other.place)

/** Lines of one section that differ in white space and case only are one line. */
export function twinKey(section: Section, text: string): string {
  return `${section}\0${collapse(text).toLowerCase()}`
}

/** Live lines, oldest first. */
export function liveLines(folded: Folded): readonly (Line & { readonly section: Section })[] {
  const live: (Line & { readonly section: Section })[] = []
  for (const line of folded.lines.values())
    if (line.state === 'live' && line.section !== null) live.push(line as Line & { readonly section: Section })
  return live.sort((one, other) => one.order - other.order || one.place - other.place)
}
