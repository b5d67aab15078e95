/** How much all engines together may add to the model's context at one moment, and who gets how much of it. */
import type { EngineName } from '../session/actions.ts'
import type { EventKind, SessionEvent } from '../session/events.ts'

interface Row {
  /** Characters of all engines together. */
  readonly all: number
  /** The same where the host's own cap is smaller (command hooks). */
  readonly narrow: number
  /** Kept for each later engine that may speak. */
  readonly floor: number
  /** Engines that speak at this moment, in their order. */
  readonly speakers: readonly EngineName[]
  /** Counts against what one turn may add. */
  readonly inTurn: boolean
}

const start: Row = { all: 60_000, narrow: 9_800, floor: 2_400, speakers: ['keel', 'repl', 'pack'], inTurn: false }
const words: Row = { all: 9_800, narrow: 9_800, floor: 600, speakers: ['keel', 'repl', 'pack'], inTurn: true }
const tool: Row = { all: 8_000, narrow: 8_000, floor: 1_200, speakers: ['keel', 'companion'], inTurn: true }
const ending: Row = { all: 10_000, narrow: 9_800, floor: 900, speakers: ['keel', 'companion'], inTurn: false }

const rows: Readonly<Partial<Record<EventKind, Row>>> = {
  'session-started': start,
  compacted: start,
  'person-spoke': words,
  'turn-started': words,
  'tool-finished': tool,
  'turn-ending': ending,
}

/** What words and tool calls together may add in one turn. */
const turnChars = 32_000

/** Less than this is no room. */
const leastChars = 600

export interface Room {
  readonly row: Row | undefined
  readonly narrow: boolean
  /** Added at this moment already. */
  readonly used: number
  /** Added in this turn already. */
  readonly usedInTurn: number
}

export function roomAt(event: SessionEvent, options: { readonly narrow: boolean; readonly usedInTurn: number }): Room {
  const isUnpack = event.kind === 'command-run' && event.name === 'unpack'
  return { row: isUnpack ? start : rows[event.kind], narrow: options.narrow, used: 0, usedInTurn: options.usedInTurn }
}

/** Characters that this engine may add now. @param present - the engines that are on. */
export function charsFor(room: Room, engine: EngineName, present: readonly EngineName[]): number {
  const { row } = room
  if (row === undefined) return 0
  const later = present.slice(present.indexOf(engine) + 1).filter(name => row.speakers.includes(name))
  return Math.max(charsLeft(room) - later.length * row.floor, 0)
}

function charsLeft({ row, narrow, used, usedInTurn }: Room): number {
  if (row === undefined) return 0
  const left = (narrow ? row.narrow : row.all) - used
  return row.inTurn ? Math.min(left, turnChars - usedInTurn) : left
}

export function spend(room: Room, chars: number): Room {
  return { ...room, used: room.used + chars, usedInTurn: room.usedInTurn + (room.row?.inTurn === true ? chars : 0) }
}

/** The command that shows what was cut, by engine. */
const commands: Readonly<Record<EngineName, string>> = {
  keel: 'outrigger keel check',
  companion: 'outrigger companion check',
  repl: 'outrigger repl state',
  pack: 'outrigger pack show',
  next: 'outrigger next log',
}

/**
 * A text within its room: as it is, cut at a line end with a last line that says so, or left out
 * (`undefined`): when next to nothing is left, or when it has a closing mark that a cut would take away.
 */
export function fitPart(text: string, chars: number, engine: EngineName): string | undefined {
  if (text.length <= chars) return text
  if (chars < leastChars || hasClosingMark(text, engine)) return undefined
  const last = (cut: number) => `… cut: ${cut} characters; ${commands[engine]} shows all`
  let end = text.lastIndexOf('\n', chars - last(text.length).length - 1)
  if (end <= 0) end = wholeEnd(text, chars - last(text.length).length - 1)
  return `${text.slice(0, end)}\n${last(text.length - end)}`
}

/** Notes of pack stand between two marker lines; a fence must be closed. */
const hasClosingMark = (text: string, engine: EngineName) => engine === 'pack' || /^ {0,3}(?:```|~~~)/m.test(text)

/** Not between the halves of a pair. */
function wholeEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}
