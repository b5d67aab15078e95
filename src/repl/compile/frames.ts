/** Stacks of V8 as frames in cells: positions in the sources, frames of the engine left out. */
import type { PositionMap } from './positions.ts'
import type { Program, SourcePosition } from './program.ts'

export interface MappedFrame extends SourcePosition {
  readonly cell: number
  readonly name?: string
}

export interface MappedStack {
  /** The topmost frame inside the cell asked for. */
  readonly position: SourcePosition | undefined
  /** Frames in other cells and in this one, topmost first, at most 10. */
  readonly frames: readonly MappedFrame[]
}

const frame = /^\s+at (?:(?:async )?(.*?) \()?(?:.*?, )?cell-(\d+)(\.functions)?\.ts:(\d+):(\d+)\)?$/

/** Names that V8 makes of generated code. */
function readable(name: string | undefined): string | undefined {
  if (name === undefined || name === '' || name.includes('<anonymous>') || name === 'eval' || /__cell\d*\b/.test(name))
    return undefined
  return name.replace(/^(?:async|new|Object\.|global\.) ?/, match => (match === 'new ' ? match : ''))
}

/**
 * @param programOf - the program of a cell, while it is kept.
 * @param cell - the cell whose position is asked for.
 */
export function mapStack(stack: string, programOf: (cell: number) => Program | undefined, cell: number): MappedStack {
  const frames: MappedFrame[] = []
  let position: SourcePosition | undefined
  for (const line of stack.split('\n')) {
    const match = frame.exec(line)
    if (match === null) continue
    const number = Number(match[2])
    const program = programOf(number)
    if (program === undefined) continue
    const map: PositionMap = match[3] === undefined ? program.positions : program.functionPositions
    const offset = map.fromGenerated(Number(match[4]), Number(match[5]))
    if (offset === undefined) continue
    const refined = position === undefined && number === cell && frames.length === 0 ? refine(stack, program, offset) : offset
    const place = map.locate(refined)
    if (number === cell) position ??= place
    const name = readable(match[1])
    if (frames.length < 10) frames.push({ cell: number, ...place, ...(name !== undefined && { name }) })
  }
  return { position, frames }
}

/** A name that is not defined may be reported at the start of its statement: it stands at its first free occurrence from there on. */
function refine(stack: string, program: Program, offset: number): number {
  const name = /^ReferenceError: (\S+) is not defined/.exec(stack)?.[1]
  if (name === undefined) return offset
  return program.occurrences.get(name)?.find(place => place >= offset) ?? offset
}

/** A message of V8 without names of generated code: a rewritten reference is called by its name, a helper's result by nothing in particular. */
export function readableMessage(message: string): string {
  return message.replace(/\b__cell\d*\.[nt]\.([\w$]+)/g, '$1').replace(/\b__cell\d*\.f\(\.\.\.\)/g, '(intermediate value)')
}
