/**
 * Files of the older tool as entries of a journal of ours. Reads them; they stay as they are. Nothing else knows
 * about that tool, so that this file can go one day.
 */
import type { PackDeps } from './deps.ts'
import { linesOfEntry } from './entry-lines.ts'
import { clauseId, parseId } from './ids.ts'
import { type Entry, headerWord, type Journal, type NewEntry, readJournal, storedBody } from './journal.ts'
import { faultOfName } from './names.ts'
import { parseState, type StateFile } from './state-file.ts'
import type { RetireKey, Section } from './types.ts'

export interface OlderFiles {
  /** Absolute. */
  readonly journal: string | null
  readonly state: string | null
}

const maxBytes = 64 * 1024 * 1024

function foldersOf(deps: PackDeps): readonly string[] {
  return deps.cwd === undefined || deps.cwd === deps.root ? [deps.root] : [deps.root, deps.cwd]
}

const isFile = (deps: PackDeps, path: string): boolean => deps.files.stat(path)?.kind === 'file'

/** What the older tool left of a stream: in the root, else in the current folder. */
export function olderFiles(deps: PackDeps, stream: string): OlderFiles {
  const first = (names: readonly string[]): string | null => {
    for (const folder of foldersOf(deps)) {
      const found = names.map(name => `${folder}/${name}`).find(path => isFile(deps, path))
      if (found !== undefined) return found
    }
    return null
  }
  return {
    journal: stream === 'keel' ? null : first([`journal/${stream}.md`]),
    state: first([`pack-${stream}-llm.md`, `relay-${stream}-llm.md`]),
  }
}

export function hasOlder(deps: PackDeps, stream: string): boolean {
  const { journal, state } = olderFiles(deps, stream)
  return journal !== null || state !== null
}

/** Names of the streams that it left, sorted. */
export function olderStreams(deps: PackDeps): readonly string[] {
  const names = new Set<string>()
  for (const folder of foldersOf(deps)) {
    for (const [place, form] of [
      [`${folder}/journal`, /^(.+)\.md$/],
      [folder, /^(?:pack|relay)-(.+)-llm\.md$/],
    ] as const) {
      if (deps.files.stat(place)?.kind !== 'folder') continue
      for (const { name, kind } of deps.files.list(place)) {
        const stream = kind === 'file' ? form.exec(name)?.[1] : undefined
        if (stream !== undefined && faultOfName(stream) === null && isOurs(deps, stream)) names.add(stream)
      }
    }
  }
  return [...names].sort()
}

/** A journal of something else has no entry of ours in it. */
function isOurs(deps: PackDeps, stream: string): boolean {
  const { journal, state } = olderFiles(deps, stream)
  if (state !== null) return true
  return journal !== null && readOlder(deps, journal).entries.length > 0
}

export function readOlder(deps: PackDeps, path: string): Journal {
  const reader = readJournal()
  reader.push(deps.files.read(path, maxBytes))
  return reader.end()
}

/** An entry of the older journal as it is taken over. */
export function migrated(entry: Entry, mask: (text: string) => string): NewEntry {
  return {
    time: entry.time,
    session: headerWord(entry.session),
    kind: entry.kind,
    flags: entry.flags.includes('migrated') ? entry.flags : [...entry.flags, 'migrated'],
    key: entry.key,
    body: closed(storedBody(mask(entry.body))),
  }
}

const closed = (body: string): string => (body.endsWith('-->') ? body : `${body}\n-->`)

const retireOf: Partial<Readonly<Record<Section, RetireKey>>> = {
  next: 'retire_done',
  unknowns: 'retire_answered',
  learnings: 'retire_learned',
  decisions: 'retire_superseded',
  discarded: 'retire_dropped',
  read_if_needed: 'retire_dropped',
}

/** What the older state said beside the journal, and what it did not show any more. */
export function migrationValues(state: StateFile, entries: readonly Entry[]): readonly (readonly [key: string, value: string])[] {
  const values: (readonly [string, string])[] = []
  for (const key of ['status', 'goal', 'deliverable'] as const)
    if (state.scalars[key] !== null) values.push([key, state.scalars[key]])
  const clauses = entries.flatMap(entry =>
    linesOfEntry(entry).flatMap(line =>
      line.kind === 'text' && line.section !== null
        ? [{ id: clauseId(entry.id, line.place), entry: entry.id, number: entry.number, section: line.section, text: line.text }]
        : [],
    ),
  )
  const byStart = new Map<string, typeof clauses>()
  for (const clause of clauses) byStart.set(startOf(clause.text), [...(byStart.get(startOf(clause.text)) ?? []), clause])
  const shown = new Set<string>()
  for (const row of state.rows) {
    const entry = row.id === null ? undefined : parseId(row.id)?.entry
    const near =
      entry === undefined ? (byStart.get(startOf(row.text)) ?? clauses) : clauses.filter(clause => clause.entry === entry)
    const match = near.find(clause => isSame(clause.text, row.text))
    if (match === undefined) values.push([row.section, row.text])
    else shown.add(match.id)
  }
  for (const clause of clauses) {
    const key = retireOf[clause.section]
    if (clause.number <= state.cursor && !shown.has(clause.id) && key !== undefined)
      values.push([key, `${clause.id} — not in the older state`])
  }
  return values
}

const startOf = (text: string): string => text.slice(0, 20).toLowerCase()

/** One starts with the other's first 60 characters; a final `…` does not count. */
function isSame(one: string, other: string): boolean {
  const plain = (text: string): string => text.replace(/…$/, '').trim()
  const [a, b] = [plain(one), plain(other)]
  return a !== '' && b !== '' && (a.startsWith(b.slice(0, 60)) || b.startsWith(a.slice(0, 60)))
}

export function readOlderState(deps: PackDeps, path: string): StateFile | null {
  return parseState(Buffer.from(deps.files.read(path, maxBytes)).toString('utf8'))
}
