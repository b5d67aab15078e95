/**
 * Lines into the text of a state, within both limits. Every live line is whole, shortened or named as left out.
 * Pure and linear: each line is measured once.
 */
import { OutriggerError } from '../errors.ts'
import { clip, lengthInGraphemes } from '../text/clip.ts'
import { estimateTokens } from '../text/fit.ts'
import { collapse } from './clauses.ts'
import type { ScalarKey } from './entry-lines.ts'
import type { Line } from './fold.ts'
import { entryId } from './ids.ts'
import { rangesOf, shortRanges } from './ranges.ts'
import { type Section, sections } from './types.ts'

export type LiveLine = Line & { readonly section: Section }

export interface Frontier {
  /** `git: …` with all names, with some, and without any. */
  readonly git: readonly string[]
  readonly test: readonly string[]
  readonly ran: readonly string[]
  readonly todo: readonly string[]
}

export interface AssembleInput {
  readonly stream: string
  readonly saved: string
  /** `none` without one. */
  readonly session: string
  readonly previousSession: string
  readonly scalars: Readonly<Record<ScalarKey, string | null>>
  /** Highest number of an entry. */
  readonly cursor: number
  readonly revision: number
  readonly frontier: Frontier
  readonly agents: readonly string[]
  /** Sorted, oldest first. */
  readonly lines: readonly LiveLine[]
  /** Behind a line, as ` [verify]`. */
  markOf(line: LiveLine): string
  readonly maxChars: number
  readonly maxTokens: number
  readonly lineMax: number
  /** The last line of `stale` before the one about lines that do not fit: what a goal does not need. */
  readonly leftOut?: string
}

export interface Assembled {
  readonly text: string
  readonly tokens: number
  /** How each live line stands there. */
  readonly fates: ReadonlyMap<string, 'whole' | 'shortened' | 'dropped'>
  /** Names of what was left out. */
  readonly dropped: readonly string[]
  readonly shortened: readonly string[]
  /** Names of files or commands were left out of the frontier. */
  readonly frontierCut: boolean
}

const tokensOfBytes = (bytes: number): number => Math.ceil((2 * bytes) / 7)

const placeholder = 'nothing is on record here; check a fact before relying on it'

interface Item {
  readonly line: LiveLine
  text: string
  chars: number
  bytes: number
  shortened: boolean
  out: boolean
}

export function assemble(input: AssembleInput): Assembled {
  const items = input.lines.map(line => itemOf(line, input))
  const bySection = new Map<Section, Item[]>(sections.map(section => [section, []]))
  for (const item of items) bySection.get(item.line.section)!.push(item)

  for (const frontier of frontiers(input.frontier)) {
    const fixed = render(input, frontier, bySection, new Set(), null)
    const base = { chars: fixed.length, bytes: Buffer.byteLength(fixed) }
    if (!fits(base, input)) continue
    const overflow = cut(input, base, items, bySection)
    if (overflow === undefined) continue
    const shown = new Set(items.filter(item => !item.out))
    const text = render(input, frontier, bySection, shown, overflow.line)
    return {
      text,
      tokens: estimateTokens(text),
      fates: new Map(items.map(item => [item.line.id, item.out ? 'dropped' : item.shortened ? 'shortened' : 'whole'])),
      dropped: overflow.names,
      shortened: items.filter(item => item.shortened && !item.out).map(item => item.line.shownId),
      frontierCut: frontier !== input.frontier,
    }
  }
  throw new OutriggerError('PACK_CAP_TOO_SMALL', `the head of the notes of "${input.stream}" alone is longer than the limit`, {
    subject: input.stream,
    hint: `raise pack.maxChars (${input.maxChars} now) or pack.maxTokens (${input.maxTokens} now)`,
    exit: 1,
  })
}

interface Size {
  readonly chars: number
  readonly bytes: number
}

const fits = ({ chars, bytes }: Size, { maxChars, maxTokens }: Pick<AssembleInput, 'maxChars' | 'maxTokens'>): boolean =>
  chars <= maxChars && tokensOfBytes(bytes) <= maxTokens

/** Less and less of it: commands, todos, then names of files. */
function* frontiers(whole: Frontier): Generator<Frontier> {
  yield whole
  for (let ran = whole.ran.length - 1; ran >= 0; ran--) yield { ...whole, ran: whole.ran.slice(0, ran) }
  const noRan = { ...whole, ran: [] }
  for (let todo = whole.todo.length - 1; todo >= 0; todo--) yield { ...noRan, todo: whole.todo.slice(0, todo) }
  for (let git = 1; git < whole.git.length; git++) yield { ...noRan, todo: [], git: whole.git.slice(git) }
}

function itemOf(line: LiveLine, input: AssembleInput): Item {
  const whole = collapse(line.text)
  const text = shorten(whole, input.lineMax)
  return measured({ line, text: `${text}${input.markOf(line)}`, shortened: text !== whole, out: false, chars: 0, bytes: 0 })
}

/** At most `max` characters, never half a grapheme. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  let kept = clip(text, max - 1, 'graphemes')
  while (kept.length > max - 1) kept = clip(kept, lengthInGraphemes(kept) - 1, 'graphemes')
  return `${kept}…`
}

function measured(item: Item): Item {
  const row = rowOf(item.text, item.line.shownId)
  item.chars = row.length
  item.bytes = Buffer.byteLength(row)
  return item
}

const rowOf = (text: string, id: string): string => `- ${text} (${id})\n`

/** Sections in the order in which their lines are left out. */
const leftOutFirst: readonly Section[] = ['read_if_needed', 'stale', 'in_progress', 'discarded', 'learnings']

/** Room that is kept for the line that names what was left out. */
const rooms = [160, 320, 540] as const

interface Overflow {
  readonly names: readonly string[]
  readonly line: string | null
}

/** Leave lines out until the rest fits. `undefined`: not even without any line. */
function cut(
  input: AssembleInput,
  base: Size,
  items: readonly Item[],
  bySection: ReadonlyMap<Section, Item[]>,
): Overflow | undefined {
  for (const item of items) item.out = false
  const total = {
    chars: items.reduce((sum, item) => sum + item.chars, base.chars),
    bytes: items.reduce((sum, item) => sum + item.bytes, base.bytes),
  }
  if (fits(total, input)) return { names: [], line: null }
  for (const item of bySection.get('read_if_needed')!) {
    total.chars -= item.chars
    total.bytes -= item.bytes
    shortenRef(item)
    total.chars += item.chars
    total.bytes += item.bytes
  }
  if (fits(total, input)) return { names: [], line: null }

  const queue = [
    ...leftOutFirst.flatMap(section => bySection.get(section)!),
    ...(['unknowns', 'next', 'decisions'] as const)
      .flatMap(section => bySection.get(section)!)
      .sort((one, other) => Number(isConstraint(one)) - Number(isConstraint(other)) || byAge(one.line, other.line)),
    ...bySection.get('read_first')!,
  ]
  let next = 0
  for (const room of rooms) {
    const fitsWithRoom = () => fits({ chars: total.chars + room, bytes: total.bytes + room }, input)
    while (!fitsWithRoom() && next < queue.length) {
      const item = queue[next]!
      next += 1
      item.out = true
      total.chars -= item.chars
      total.bytes -= item.bytes
    }
    if (!fitsWithRoom()) return undefined
    const overflow = overflowOf(input, items)
    if (overflow.line === null || overflow.line.length + 1 <= room) return overflow
  }
  return undefined
}

const isConstraint = (item: Item): boolean => item.line.keyword === 'constraint'

function byAge(one: Line, other: Line): number {
  return one.order - other.order || one.place - other.place
}

function shortenRef(item: Item): void {
  if (item.text.length <= 80) return
  const text = clip(item.text, 80, 'graphemes', '…')
  if (text === item.text) return
  item.text = text
  item.shortened = true
  measured(item)
}

function overflowOf(input: AssembleInput, items: readonly Item[]): Overflow {
  const out = new Set(items.filter(item => item.out).map(item => item.line))
  if (out.size === 0) return { names: [], line: null }
  const names = rangesOf(input.lines, line => out.has(line as LiveLine))
  const count = out.size === 1 ? '1 line' : `${out.size} lines`
  const line = `- overflow: ${count} left out to fit: ${shortRanges(names)}; see one with: outrigger pack show ${input.stream} <id>`
  return { names, line }
}

function render(
  input: AssembleInput,
  frontier: Frontier,
  bySection: ReadonlyMap<Section, readonly Item[]>,
  shown: ReadonlySet<Item>,
  overflow: string | null,
): string {
  const { stream, scalars } = input
  const rows = [
    `stream: ${stream}`,
    `saved: ${input.saved} ${input.session}`,
    `status: ${scalars.status ?? 'unknown'}`,
    `previous_session: ${input.previousSession}`,
    `goal: ${scalars.goal ?? 'unknown'}`,
    `journal: .outrigger/pack/${stream}/journal.md`,
    `journal_cursor: ${input.cursor === 0 ? 'c00' : entryId(input.cursor)}`,
    `revision: ${input.revision}`,
    'format: outrigger-pack/2',
    '',
    'frontier:',
    ...[...frontier.git.slice(0, 1), ...frontier.test, ...frontier.ran, ...frontier.todo].map(row => `- ${row}`),
  ]
  for (const section of sections) {
    if (section === 'decisions') rows.push(`deliverable: ${scalars.deliverable ?? 'none'}`)
    rows.push(`${section}:`)
    if (section === 'in_progress') rows.push(...input.agents.map(agent => `- ${agent}`))
    const items = bySection.get(section)!
    for (const item of items) if (shown.has(item)) rows.push(rowOf(item.text, item.line.shownId).slice(0, -1))
    if (section === 'unknowns' && items.length === 0) rows.push(`- ${placeholder}`)
  }
  if (input.leftOut !== undefined) rows.push(`- ${input.leftOut}`)
  if (overflow !== null) rows.push(overflow)
  return `${rows.join('\n')}\n`
}

/** Rows of a state that are no line of the journal. */
export function isOwnRow(text: string): boolean {
  return text === placeholder || text.startsWith('overflow: ') || text.startsWith('left out for this goal: ') || isAgentRow(text)
}

export function isAgentRow(text: string): boolean {
  return text.startsWith('agent in flight: ') || text === 'agents: unknown (list timed out)'
}
