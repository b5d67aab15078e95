/**
 * A model's reply to the question what to add, change and retire, however it was written down: normalised to keys
 * and items. What it does not say changes nothing.
 */
import { isAgentRow } from './assemble.ts'
import { collapse, type OperationKey } from './clauses.ts'
import { type ScalarKey, scalarKeys } from './entry-lines.ts'
import { type Folded, type Line, twinKey } from './fold.ts'
import { clauseId, parseId } from './ids.ts'
import { parseIds } from './operations.ts'
import { retireKeys, type Section, sections } from './types.ts'

export type Value =
  | { readonly kind: 'text'; readonly section: Section; readonly text: string }
  | { readonly kind: 'scalar'; readonly key: ScalarKey; readonly text: string }
  | { readonly kind: 'operation'; readonly key: OperationKey; readonly text: string }

export type Reply =
  | {
      readonly kind: 'ok'
      readonly values: readonly Value[]
      readonly relevant: readonly string[]
      readonly ignoredKeys: readonly string[]
      readonly gateMissing: boolean
    }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'unparseable' }

const operationKeys: readonly string[] = [...retireKeys, 'restore', 'edit']
const isKnown = (key: string): boolean =>
  key === 'relevant' || operationKeys.includes(key) || sections.some(one => one === key) || scalarKeys.some(one => one === key)

const gate = /^\W*GATE[\s*_]*:[\s*_]*(ok|blocked)\b(.*)$/i
const keyRow = /^ {0,3}(?:\*\*)?([A-Za-z][A-Za-z_]{1,30})(?:\*\*:|:\*\*|:)(?=\s|$)(.*)$/
const itemRow = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s+(.*)|)$/

export function parseReply(text: string): Reply {
  const whole = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .trim()
  const fromJson = ofJson(whole)
  if (fromJson !== undefined) return fromJson
  const rows = withoutFence(whole.split('\n'))
  const at = rows.slice(0, 6).findIndex(row => gate.test(row))
  if (at !== -1) {
    const [, word, rest] = gate.exec(rows[at]!)!
    if (word!.toLowerCase() === 'blocked') return { kind: 'blocked', reason: reasonOf(rest!) }
  }
  const { groups, ignoredKeys } = groupsOf(rows.slice(at + 1))
  const used = new Set(groups.map(group => group.key))
  if (used.size === 0 && at === -1) return { kind: 'unparseable' }
  if (at === -1 && used.size < 2) return { kind: 'unparseable' }
  return { kind: 'ok', ...valuesOf(groups), ignoredKeys, gateMissing: at === -1 }
}

function reasonOf(rest: string): string {
  const reason = collapse(rest.replace(/^[\s*_]*(?:—|–|-{1,2}|:)?/, '').replace(/\*+\s*$/, ''))
  return reason === '' ? 'no reason given' : reason
}

/** One fence around everything, and what is said before it. */
function withoutFence(rows: readonly string[]): readonly string[] {
  const open = rows.slice(0, 6).findIndex(row => /^\s{0,3}(?:`{3,}|~{3,})/.test(row))
  if (open === -1 || rows.slice(0, open).some(row => gate.test(row) || isKnown(keyOf(row)))) return rows
  const sign = rows[open]!.trim()[0]!
  const close = rows.findLastIndex((row, at) => at > open && new RegExp(`^\\s{0,3}${sign}{3,}\\s*$`).test(row))
  return rows.slice(open + 1, close === -1 ? undefined : close)
}

const keyOf = (row: string): string => keyRow.exec(row)?.[1]?.toLowerCase() ?? ''

interface Group {
  readonly key: string
  readonly items: string[]
}

function groupsOf(rows: readonly string[]): { readonly groups: readonly Group[]; readonly ignoredKeys: readonly string[] } {
  const groups: Group[] = []
  const ignored = new Set<string>()
  let group: Group | null = null
  for (const row of rows) {
    const item = itemRow.exec(row)
    const key = item === null ? keyRow.exec(row) : null
    const word = key?.[1]?.toLowerCase()
    if (word !== undefined && (isKnown(word) || /^\S/.test(row))) {
      if (isKnown(word)) {
        group = { key: word, items: [] }
        groups.push(group)
        if (key![2]!.trim() !== '') group.items.push(key![2]!)
      } else {
        ignored.add(word)
        group = null
      }
      continue
    }
    if (item !== null) {
      const text = item[1] ?? ''
      const operation = keyRow.exec(text)
      const of = operation?.[1]?.toLowerCase()
      if (of !== undefined && operationKeys.includes(of)) groups.push({ key: of, items: [operation![2]!] })
      else group?.items.push(text)
    } else if (row.trim() !== '' && group !== null && group.items.length > 0) {
      group.items.push(`${group.items.pop()!} ${row.trim()}`)
    } else if (row.trim() !== '' && group !== null) group.items.push(row)
  }
  return { groups, ignoredKeys: [...ignored] }
}

function valuesOf(groups: readonly Group[]): { readonly values: readonly Value[]; readonly relevant: readonly string[] } {
  const values: Value[] = []
  const relevant: string[] = []
  for (const { key, items } of groups) {
    for (const item of items) {
      const text = collapse(item)
      if (text === '' || /^\(?none\)?\.?$/i.test(text)) continue
      if (key === 'relevant') relevant.push(...parseIds(text).tokens.map(token => token.text))
      else if (operationKeys.includes(key)) values.push({ kind: 'operation', key: key as OperationKey, text })
      else if (scalarKeys.some(one => one === key)) values.push({ kind: 'scalar', key: key as ScalarKey, text })
      else values.push({ kind: 'text', section: key as Section, text })
    }
  }
  return { values, relevant }
}

/** The same keys as a JSON object; lists are arrays. */
function ofJson(text: string): Reply | undefined {
  if (!text.startsWith('{')) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  const groups: Group[] = []
  const ignoredKeys: string[] = []
  let gateMissing = true
  for (const [name, value] of Object.entries(parsed)) {
    const key = name.toLowerCase()
    const items = (Array.isArray(value) ? value : [value]).filter(item => typeof item === 'string')
    if (key === 'gate') {
      const match = gate.exec(`GATE: ${items[0] ?? ''}`)
      if (match?.[1]?.toLowerCase() === 'blocked') return { kind: 'blocked', reason: reasonOf(match[2]!) }
      gateMissing = match === null
    } else if (isKnown(key)) groups.push({ key, items })
    else ignoredKeys.push(key)
  }
  if (gateMissing && groups.length < 2) return { kind: 'unparseable' }
  return { kind: 'ok', ...valuesOf(groups), ignoredKeys, gateMissing }
}

/** What of a reply is new: copies of lines, imitated lines of ours and what is there already fall away. */
export function newValues(
  values: readonly Value[],
  folded: Folded,
  mask: (text: string) => string,
): readonly (readonly [key: string, text: string])[] {
  const known = new Set<string>()
  const shown = new Map<string, Line>()
  for (const line of folded.lines.values()) {
    if (!shown.has(line.shownId)) shown.set(line.shownId, line)
    shown.set(line.id, line)
    if (line.state === 'live' && line.section !== null) known.add(twinKey(line.section, line.text))
  }
  return values.flatMap((value): readonly (readonly [string, string])[] => {
    const text = collapse(mask(value.text))
    if (text === '') return []
    if (value.kind !== 'text') return [[value.key, text]]
    if (isCopy(text, shown) || isAgentRow(text) || known.has(twinKey(value.section, text))) return []
    known.add(twinKey(value.section, text))
    return [[value.section, value.section === 'decisions' && !hasReason(text) ? `${text} — why not given` : text]]
  })
}

const hasReason = (text: string): boolean => / (?:—|–|-|--) /.test(text) || /\bbecause\b/i.test(text)

function isCopy(text: string, lines: ReadonlyMap<string, Line>): boolean {
  const match = /^(.*) \((c\d[^()\s]*)\)$/.exec(text)
  const id = match === null ? null : parseId(match[2]!)
  if (match === null || id === null) return false
  const line = lines.get(typeof id.clause === 'number' ? clauseId(id.entry, id.clause) : id.entry)
  if (line === undefined) return false
  const body = match[1]!.replace(/ \[(?:verify|ran: exit (?:-?\d+|unknown))\]$/, '')
  const whole = collapse(line.text)
  return body === whole || (body.endsWith('…') && whole.startsWith(body.slice(0, -1)))
}
