/**
 * Hints after repeated trouble: which of them the last cell earns, if any. They tire: some cells lie between two, after some short ones of a kind comes a
 * long one, and a cell that succeeds ends the row. What was said before is read from the records of the cells, so that it holds over restarts. Pure.
 */
import type { CellError, ReplConfig, TipTrigger } from './types.ts'

export interface Tip {
  readonly trigger: TipTrigger
  /** The how manieth of its kind in the session, from 1. */
  readonly n: number
  /** At most 300 characters, the long form 900; one line. */
  readonly text: string
}

/** A cell as far as tips look at it. */
export interface TipCell {
  readonly cell: number
  readonly error?: Pick<CellError, 'code' | 'name' | 'message' | 'phase' | 'position' | 'tool'> | undefined
  /** UTF-16 units of its source. */
  readonly units: number
  /** Of what was said after it. */
  readonly tip?: TipTrigger | undefined
  /** A tool that it called answered with a text that is JSON. */
  readonly jsonFrom?: string | undefined
}

const longUnits = 4_000
const shortChars = 300
const longChars = 900

/** The name under which a host that keeps contexts finds a tip again. */
export const tipName = ({ trigger, n }: Pick<Tip, 'trigger' | 'n'>): string => `outrigger:repl-tip/${trigger}/${n}`

/** @param cells - oldest first; the last one has just ended. */
export function tipAfter(
  cells: readonly TipCell[],
  config: Pick<ReplConfig, 'tips' | 'tipCooldown' | 'tipEscalation'>,
): Tip | undefined {
  const last = cells.at(-1)
  if (!config.tips || last?.error === undefined) return undefined
  const before = cells.slice(0, -1)
  const spoken = before.filter(each => each.tip !== undefined)
  // Cells in between, not numbers: a path of a session leaves numbers out.
  const since = spoken.length === 0 ? Number.POSITIVE_INFINITY : before.length - before.lastIndexOf(spoken.at(-1)!)
  if (since <= config.tipCooldown) return undefined
  const failedSince = before.findLastIndex(each => each.error === undefined) + 1
  const row = before.slice(failedSince)
  const found = triggerOf(last, row.at(-1), row)
  if (found === undefined) return undefined
  const { trigger, short, long } = found
  const unresolved = row.filter(each => each.tip === trigger).length
  const n = spoken.filter(each => each.tip === trigger).length + 1
  const text = unresolved >= config.tipEscalation ? cut(`${short} ${long}`, longChars) : cut(short, shortChars)
  return { trigger, n, text }
}

interface Found {
  readonly trigger: TipTrigger
  readonly short: string
  /** Is added to the short form. */
  readonly long: string
}

function triggerOf(last: TipCell, previous: TipCell | undefined, row: readonly TipCell[]): Found | undefined {
  return (
    argumentsTip(last, previous) ?? bindingTip(last, row) ?? parseTip(last, previous) ?? platformTip(last) ?? longCellTip(last)
  )
}

function argumentsTip({ error, jsonFrom }: TipCell, previous: TipCell | undefined): Found | undefined {
  if (error?.code === 'OUT-P001' && previous?.error?.code === 'OUT-P001') {
    const [, tool = 'the tool', rest = ''] = /^([^:\s]{1,100}): ([\s\S]*)$/.exec(error.message) ?? []
    const field = /^arguments\.([\w$]{1,60}) is required/.exec(rest)?.[1]
    const needs = field === undefined ? `The arguments of ${tool} do not fit its schema` : `${tool} needs \`${field}\``
    return {
      trigger: 'arguments',
      short: `${needs}; see capabilities.inspect({symbols: ["${tool}"]}).`,
      long: 'It gives the declaration of the arguments and of the result. Write exactly one object with the names that stand there; leave out what is optional rather than passing undefined.',
    }
  }
  if (error?.name === 'TypeError' && jsonFrom !== undefined) {
    return {
      trigger: 'arguments',
      short: `${jsonFrom} answered with a text that is JSON, not with an object: use JSON.parse on it first.`,
      long: 'return typeof x shows what a value is before you reach into it; capabilities.inspect gives the declared type of a result.',
    }
  }
  return undefined
}

function unknownName({ error }: TipCell): string | undefined {
  if (error?.name !== 'ReferenceError') return undefined
  return /^([\p{ID_Start}$_][\p{ID_Continue}$]{0,59}) (?:is not defined|was lost )/u.exec(error.message)?.[1]
}

function bindingTip(last: TipCell, row: readonly TipCell[]): Found | undefined {
  const name = unknownName(last)
  if (name === undefined || !row.some(each => unknownName(each) === name)) return undefined
  return {
    trigger: 'binding',
    short: `Names can be declared again; \`${name}\` failed because it was never assigned. Check with repl.state.`,
    long: `A cell that throws keeps only what it had finished before: the declaration of \`${name}\` was not reached, or its value could not be computed. return Object.keys(await repl.state()) shows what there is; declare \`${name}\` in a small cell of its own, then go on.`,
  }
}

const isParseFailure = (cell: TipCell | undefined): boolean => cell?.error?.code === 'OUT-C001'

function parseTip(last: TipCell, previous: TipCell | undefined): Found | undefined {
  if (!isParseFailure(last) || !isParseFailure(previous)) return undefined
  return {
    trigger: 'parse',
    short: `Cell ${last.cell} does not parse either${place(last)}. Change that place with edit_run_code instead of sending the cell again; dry_run: true only checks.`,
    long: 'When an error offers an edit, pass it on as it stands. Otherwise put long texts into variables or files, and send a smaller cell: what parses alone shows which part does not.',
  }
}

const notFound =
  /\bENOENT\b|\bENOTDIR\b|command not found|no such file or directory|is not recognized as|cannot find the (?:file|path)/i

function platformTip({ error }: TipCell): Found | undefined {
  if (error === undefined || error.phase !== 'run' || !notFound.test(error.message)) return undefined
  return {
    trigger: 'platform',
    short:
      'A command or a path was not found. Look at what is there before you use it: list the folder, and ask whether the program is installed.',
    long: 'process.cwd() is the directory that relative paths start from, process.platform says which system this is; a program may be absent or have another name here. Build paths from what a listing returned.',
  }
}

function longCellTip(last: TipCell): Found | undefined {
  const { error, units, cell } = last
  if (error === undefined || error.phase !== 'run' || units <= longUnits) return undefined
  const line = error.position?.line ?? 1
  const ran = line <= 1 ? '' : line === 2 ? '; line 1 has already run' : `; lines 1–${line - 1} have already run`
  return {
    trigger: 'long-cell',
    short: `Cell ${cell} failed${place(last)} after running. Fix it with edit_run_code${ran}.`,
    long: 'Names that were set before that place have their new values; what the lines did outside is done and would be done again. Send the rest as a smaller cell, or edit the failing line alone.',
  }
}

const place = ({ error }: TipCell): string =>
  error?.position === undefined ? '' : ` at ${error.position.line}:${error.position.column}`

function cut(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`
}

/** The tool whose answer is JSON as a text: where a program takes it for the value, that is what went wrong. */
export function jsonTextFrom(
  calls: readonly { readonly name: string; readonly outcome: string; readonly value?: unknown }[],
): string | undefined {
  return calls.find(({ outcome, value }) => outcome === 'ok' && typeof value === 'string' && isJsonContainer(value))?.name
}

function isJsonContainer(text: string): boolean {
  if (text.length > 1_000_000 || !/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
