/**
 * The journal of reviews: one record a gesture, added with one write, never changed. It is shared and
 * merged by union, so its order is that of the times in it. Lines that cannot be read are counted and
 * skipped.
 */
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import { identityOf, isSameFile } from './freshness.ts'
import { journalPath, legacyJournalPath, makeKeelFolder } from './places.ts'
import type { JournalReading, JournalRecord, LegacyRecord, StampKind } from './types.ts'

/** Of one line, its line end included. */
export const maxRecordBytes: number = 4096

const kinds: ReadonlySet<unknown> = new Set<StampKind>(['stamp', 'ok', 'updated', 'manual', 'carry', 'fix'])
const actors: ReadonlySet<unknown> = new Set(['code', 'agent', 'person', 'hand'])
const encoder = new TextEncoder()

export interface Journal {
  /** What the file holds now; read again only when it is another one. */
  read(): Omit<JournalReading, 'degraded'>
  /** The latest record of each edge. */
  latest(): ReadonlyMap<string, JournalRecord>
  /** What the last reading could not read, as degraded notes; does not read. */
  notes(): readonly string[]
  /**
   * Add records in order, each with one write.
   *
   * @returns how many are in the file; fewer than handed in when it could not be written.
   */
  append(records: readonly JournalRecord[]): Promise<number>
}

export function createJournal(files: Files, root: string, mask: (text: string) => string): Journal {
  const path = `${root}/${journalPath}`
  let held: { readonly identity: ReturnType<typeof identityOf>; readonly reading: Parsed } | undefined
  let notes: readonly string[] = []

  function load(): Parsed {
    const reading = loadNow()
    const { why, unreadable } = reading
    notes = [
      ...(why === undefined ? [] : [`journal not read (${why})`]),
      ...(unreadable === 0 ? [] : [`journal: ${unreadable} lines unreadable`]),
    ]
    return reading
  }

  function loadNow(): Parsed {
    const stat = lookAt(files, path)
    if (stat === undefined) return nothingRead
    if (stat === 'unreadable') return { ...nothingRead, why: 'its folder cannot be read' }
    if (held !== undefined && isSameFile(held.identity, stat)) return held.reading
    const bytes = readJournalFile(files, path)
    const reading = typeof bytes === 'string' ? { ...nothingRead, why: bytes } : parseJournal(bytes)
    held = { identity: identityOf(stat), reading }
    return reading
  }

  return {
    read: () => ({ ...pick(load()), legacy: readLegacy(files, root) }),
    latest: () => load().latest,
    notes: () => notes,
    async append(records) {
      let written = 0
      try {
        if (records.length > 0) await makeKeelFolder(files, root)
        for (const record of records) {
          // Whole lines follow whole lines, whoever writes them: only the first can meet a torn one.
          await files.append(path, lineOf(record, mask, written === 0 && isTorn(files, path)))
          written += 1
        }
      } catch (error) {
        // Short write, no room, no permission: what is there stays, the next record begins on a line of its own.
        if (!(error instanceof OutriggerError)) throw error
      }
      held = undefined
      return written
    },
  }
}

/** Records of a journal's bytes, for readers without a project. */
export function readJournal(bytes: Uint8Array): { readonly records: readonly JournalRecord[]; readonly unreadable: number } {
  return pick(parseJournal(bytes))
}

interface Parsed {
  readonly records: readonly JournalRecord[]
  readonly unreadable: number
  readonly latest: ReadonlyMap<string, JournalRecord>
  /** There is a file, and it cannot be read. */
  readonly why?: string
}

const nothingRead: Parsed = { records: [], unreadable: 0, latest: new Map() }

function pick({ records, unreadable }: Parsed): { readonly records: readonly JournalRecord[]; readonly unreadable: number } {
  return { records, unreadable }
}

function parseJournal(bytes: Uint8Array): Parsed {
  const records: JournalRecord[] = []
  const latest = new Map<string, JournalRecord>()
  let unreadable = 0
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    if (line.trim() === '') continue
    const record = decodeRecord(line)
    if (record === undefined) {
      unreadable += 1
      continue
    }
    records.push(record)
    const before = latest.get(record.edge)
    if (before === undefined || before.at <= record.at) latest.set(record.edge, record)
  }
  return { records, unreadable, latest }
}

function decodeRecord(line: string): JournalRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as JournalRecord
  const who: unknown = record.who
  const isWhole =
    record.v === 1 &&
    [record.at, record.edge, record.child, record.source].every(field => typeof field === 'string') &&
    [record.old, record.new, record.reason].every(field => field === null || typeof field === 'string') &&
    kinds.has(record.kind) &&
    typeof who === 'object' &&
    who !== null &&
    actors.has((who as JournalRecord['who']).kind)
  return isWhole ? record : undefined
}

function lineOf(record: JournalRecord, mask: (text: string) => string, afterTorn: boolean): Uint8Array {
  const masked = { ...record, reason: record.reason === null ? null : mask(record.reason) }
  const room = maxRecordBytes - (afterTorn ? 2 : 1)
  const text = JSON.stringify(fitted(masked, room))
  return encoder.encode(`${afterTorn ? '\n' : ''}${text}\n`)
}

/** Names are shortened before reasons: an edge is found by its id. */
function fitted(record: JournalRecord, maxBytes: number): JournalRecord {
  let shorter = record
  for (const max of [1000, 400, 120, 40]) {
    if (encoder.encode(JSON.stringify(shorter)).length <= maxBytes) return shorter
    shorter = {
      ...record,
      child: middle(record.child, max),
      source: middle(record.source, max),
      reason: record.reason === null ? null : middle(record.reason, Math.max(max, 120)),
      who: { ...record.who, ...(record.who.name !== undefined && { name: middle(record.who.name, max) }) },
    }
  }
  return shorter
}

function middle(text: string, max: number): string {
  const points = [...text]
  if (points.length <= max) return text
  const half = Math.floor((max - 1) / 2)
  return `${points.slice(0, half).join('')}…${points.slice(-half).join('')}`
}

/** The file ends inside a line: a write was cut short. */
function isTorn(files: Files, path: string): boolean {
  const bytes = readOrEmpty(files, path)
  return bytes.length > 0 && bytes[bytes.length - 1] !== 0x0a
}

function lookAt(files: Files, path: string): ReturnType<Files['stat']> | 'unreadable' {
  try {
    return files.stat(path)
  } catch {
    return 'unreadable' // a folder that may not be looked into
  }
}

/** Its bytes, or why there are none. */
function readJournalFile(files: Files, path: string): Uint8Array | string {
  try {
    return files.read(path)
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    if (error.code === 'FILES_MISSING') return new Uint8Array(0)
    return error.code === 'FILES_NOT_FILE' ? 'not a regular file' : 'no permission'
  }
}

function readOrEmpty(files: Files, path: string): Uint8Array {
  try {
    return files.read(path)
  } catch {
    return new Uint8Array(0) // not there, or may not be read
  }
}

/** Rows of the older tool's journal: list items and table rows, as they stand, with what can be told of them. */
function readLegacy(files: Files, root: string): readonly LegacyRecord[] {
  const text = new TextDecoder().decode(readOrEmpty(files, `${root}/${legacyJournalPath}`))
  const records: LegacyRecord[] = []
  for (const line of text.split(/\r\n|\r|\n/u)) {
    const row = /^\s*[-*|]\s*(?<text>\S.*)$/u.exec(line)?.groups?.['text']
    if (row === undefined || /^[-|: ]+$/u.test(row)) continue
    const edge = /(?<child>\S+)\s*(?:<-|←)\s*(?<source>\S+)/u.exec(row)?.groups
    records.push({
      legacy: true,
      at: /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?/u.exec(row)?.[0] ?? null,
      child: edge?.['child'] ?? null,
      source: edge?.['source'] ?? null,
      text: row.trimEnd(),
    })
  }
  return records
}
