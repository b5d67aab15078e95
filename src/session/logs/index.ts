/** A host's session log as our events, whatever its format; told apart by content. Streaming; never stops at a bad line. */
import type { SessionEvent } from '../events.ts'
import { readClaudeCode } from './claude-code.ts'
import { readDsh } from './dsh.ts'
import { readEvents } from './events.ts'
import { type Chunks, type Line, maxLineBytes, parseRow, type Row, splitLines, textOf } from './lines.ts'
import { badLog, createTally, type Log, type LogFormat, type LogOptions, type Tally } from './reader.ts'
import { decodeFrames, type Frames, zstdMagic } from './zstd.ts'

export type { Chunks } from './lines.ts'
export type { Log, LogFormat, LogOptions, LogSummary } from './reader.ts'

/** Rows read ahead, to tell a transcript apart and to find its session, folder and time. */
const maxAhead = 200

export interface OpenOptions extends LogOptions {
  /** Bytes of one line; 32 MiB. */
  readonly maxLineBytes?: number
}

/** Begin to read a log. Throws `SESSION_BAD_LOG` (exit 2) when the bytes are none that is known. */
export async function openLog(chunks: Chunks, options: OpenOptions): Promise<Log> {
  const { first, all } = await peek(chunks)
  const isZstd = zstdMagic.every((byte, index) => first[index] === byte) || isSkippable(first)
  const frames = isZstd ? decodeFrames(all) : undefined
  const lines = splitLines(frames?.frames ?? all, options.maxLineBytes ?? maxLineBytes)
  const tally = createTally()
  const ahead = await readAhead(lines)
  const reader = readerOf(ahead, isZstd, tally, options)
  return {
    format: reader.format,
    session: reader.session,
    project: reader.project,
    events: eventsOf(reader, [...ahead], lines, tally),
    summary: () => summaryOf(reader, tally, frames),
  }
}

interface Reader {
  readonly format: LogFormat
  readonly session: string
  readonly project: string
  readonly start?: SessionEvent
  /** The first row read is a header. */
  readonly hasHeader: boolean
  read(row: Row): readonly SessionEvent[]
  end?(): readonly SessionEvent[]
}

function readerOf(ahead: readonly Line[], isZstd: boolean, tally: Tally, options: LogOptions): Reader {
  const rows = ahead.map(parseRow)
  const header = rows[0]
  if (header?.['type'] === 'session') return { format: 'dsh', hasHeader: true, ...readDsh(header, tally, options) }
  if (isZstd) {
    if (rows.length > 0) throw badLog('its first row is no session header')
    // The crash came before the header was whole: there is nothing, but it is a log of that host.
    return { format: 'dsh', session: '', project: '', hasHeader: false, read: () => [] }
  }
  if (header?.['kind'] === 'outrigger-events') return { format: 'events', hasHeader: true, ...readEvents(header, tally) }
  const known = rows.filter(row => row !== undefined)
  if (!known.some(row => textOf(row['sessionId']) !== undefined)) throw badLog('no row names a session')
  return { format: 'claude-code', hasHeader: false, ...readClaudeCode(known, tally, options) }
}

async function* eventsOf(
  reader: Reader,
  ahead: Line[],
  lines: AsyncGenerator<Line, void>,
  tally: Tally,
): AsyncGenerator<SessionEvent, void> {
  function* out(events: readonly SessionEvent[]) {
    for (const event of events) {
      tally.events++
      yield event
    }
  }
  if (reader.start !== undefined) yield* out([reader.start])
  if (reader.hasHeader) ahead.shift()
  const take = (line: Line): readonly SessionEvent[] => {
    const row = parseRow(line)
    if (row !== undefined) return reader.read(row)
    tally.skip('bad')
    return []
  }
  for (const line of ahead.splice(0)) yield* out(take(line))
  for await (const line of lines) yield* out(take(line))
  yield* out(reader.end?.() ?? [])
}

const summaryOf = (reader: Reader, tally: Tally, frames: Frames | undefined) => ({
  format: reader.format,
  session: reader.session,
  events: tally.events,
  skipped: { ...tally.skipped },
  gaps: tally.gaps,
  torn: frames?.torn() ?? null,
})

/** The first line tells most formats apart; a transcript may begin with rows that name no session yet. */
async function readAhead(lines: AsyncGenerator<Line, void>): Promise<Line[]> {
  const ahead: Line[] = []
  while (ahead.length < maxAhead) {
    const next = await lines.next()
    if (next.done === true) break
    ahead.push(next.value)
    const first = parseRow(ahead[0])
    if (first?.['type'] === 'session' || first?.['kind'] === 'outrigger-events') break
    if (isComplete(ahead)) break
  }
  return ahead
}

function isComplete(ahead: readonly Line[]): boolean {
  const rows = ahead.slice(-3).map(parseRow)
  return rows.some(row => row?.['sessionId'] !== undefined && row['cwd'] !== undefined && row['timestamp'] !== undefined)
}

/** The first bytes, and all bytes with them in front. */
async function peek(chunks: Chunks): Promise<{ readonly first: Uint8Array; readonly all: AsyncIterable<Uint8Array> }> {
  const iterator = (async function* () {
    yield* chunks
  })()
  const head: Uint8Array[] = []
  let size = 0
  while (size < 4) {
    const next = await iterator.next()
    if (next.done === true) break
    head.push(next.value)
    size += next.value.length
  }
  async function* all() {
    yield* head
    yield* iterator
  }
  return { first: Uint8Array.from(head.flatMap(chunk => [...chunk.subarray(0, 4)])).subarray(0, 4), all: all() }
}

const isSkippable = (first: Uint8Array) =>
  first.length === 4 && (first[0]! & 0xf0) === 0x50 && first[1] === 0x2a && first[2] === 0x4d && first[3] === 0x18
