/**
 * The grammar of a checkpoint: clauses that begin with a keyword, at the start or behind `·`, `|`, `;`
 * or a line end that stands outside code spans. Pure and linear.
 */
import { type Block, codeSpans } from '../text/markdown.ts'
import { type RetireKey, retireKeys, type Section } from './types.ts'

/** The keyword's section; `null`: it stays in the journal. */
const sectionOf: Readonly<Record<string, Section | null>> = {
  decision: 'decisions',
  constraint: 'decisions',
  learning: 'learnings',
  definition: 'learnings',
  open: 'next',
  assumption: 'unknowns',
  refs: 'read_if_needed',
  rejected: 'discarded',
  reasoning: null,
  pivot: null,
}

export type OperationKey = RetireKey | 'restore' | 'edit'

export type Clause =
  | { readonly kind: 'text'; readonly keyword: string; readonly section: Section | null; readonly text: string }
  | { readonly kind: 'operation'; readonly key: OperationKey; readonly text: string }

const words = Object.keys(sectionOf)
  .map(word => (word === 'refs' ? 'refs?' : `${word}s?`))
  .join('|')
/** Matched where a clause may begin: a list marker, `**` around the keyword and its colon. */
const start = new RegExp(
  `[ \\t]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)?(\\*\\*)?(${words}|${retireKeys.join('|')}|restore)(?:\\*\\*:|:\\*\\*|:)`,
  'iy',
)

export interface Parsed {
  readonly clauses: readonly Clause[]
  /** Text before the first clause; stays in the journal. */
  readonly before: string
}

/** Clauses of a trailer's body, which is what stands between `<!-- ckpt` and `-->`. */
export function parseClauses(body: string): Parsed {
  const starts: { readonly from: number; readonly textFrom: number; readonly word: string }[] = []
  const whole: Block = { kind: 'paragraph', start: 0, end: body.length, at: 0, depth: 0 }
  const spans = body.includes('`') ? codeSpans(body, whole) : []
  let span = 0
  const look = (from: number, at: number): void => {
    start.lastIndex = at
    const match = start.exec(body)
    if (match !== null) starts.push({ from, textFrom: start.lastIndex, word: match[2]!.toLowerCase() })
  }
  look(0, leadingBlank(body))
  for (const { index } of body.matchAll(/[·|;\n]/g)) {
    while (span < spans.length && spans[span]!.end <= index) span++
    if (span < spans.length && spans[span]!.start <= index) continue
    look(index, index + 1)
  }
  const clauses: Clause[] = []
  for (const [place, { textFrom, word }] of starts.entries()) {
    const text = oneLine(body.slice(textFrom, starts[place + 1]?.from ?? body.length))
    if (text !== '') clauses.push(clauseOf(word, text))
  }
  return { clauses, before: oneLine(body.slice(0, starts[0]?.from ?? body.length)) }
}

function leadingBlank(body: string): number {
  let at = 0
  while (at < body.length && (body[at] === ' ' || body[at] === '\t' || body[at] === '\n')) at++
  return at
}

function clauseOf(word: string, text: string): Clause {
  if (word === 'restore' || word.startsWith('retire_')) return { kind: 'operation', key: word as OperationKey, text }
  const keyword = word === 'ref' ? 'refs' : word in sectionOf ? word : word.slice(0, -1)
  return { kind: 'text', keyword, section: sectionOf[keyword]!, text }
}

/** White space collapsed, separators at the end taken off. */
function oneLine(text: string): string {
  let end = text.length
  while (end > 0 && isSeparatorOrBlank(text[end - 1]!)) end--
  return collapse(text.slice(0, end))
}

const isSeparatorOrBlank = (unit: string): boolean => unit === '·' || unit === '|' || unit === ';' || unit.trim() === ''

const needsCollapse = /[^\S ]| {2}|^ | $/

/** One line: runs of white space are one blank. */
export function collapse(text: string): string {
  return text.length < 2_000 && !needsCollapse.test(text) ? text : text.replace(/\s+/g, ' ').trim()
}
