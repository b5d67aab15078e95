/** The view of a state for one goal: what speaks of it, what must not be forgotten, and the newest lines. */
import { type Assembled, type AssembleInput, assemble, type LiveLine } from './assemble.ts'
import type { Pack } from './context.ts'
import { writeText } from './files.ts'
import { rangesOf, shortRanges } from './ranges.ts'
import { handoffPath } from './revisions.ts'
import type { SaveDocument, Section } from './types.ts'

const stopWords: ReadonlySet<string> = new Set(
  'the and for with that this from into are was were not but use all any can will our its you have has'.split(' '),
)

/** Words that a text can be found by. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word.length >= 3 && !stopWords.has(word))
    .map(word => word.replace(/s$/, ''))
  return new Set(words)
}

/** Different words of the goal that a line holds; one inside a path counts twice. */
export function scoreOf(text: string, goal: ReadonlySet<string>): number {
  const words = wordsOf(text)
  const paths = wordsOf((text.match(/[^\s`()]*[/.][^\s`()]+/g) ?? []).join(' '))
  let score = 0
  for (const word of goal) if (words.has(word)) score += paths.has(word) ? 2 : 1
  return score
}

const always: ReadonlySet<Section> = new Set<Section>(['read_first', 'in_progress', 'unknowns'])
const newestKept = 10

export interface HandoffView {
  readonly assembled: Assembled
  readonly leftOut: readonly string[]
}

/** @param relevant - ids that a model named. */
export function viewFor(input: AssembleInput, goal: string, relevant: readonly string[]): HandoffView {
  const words = wordsOf(goal)
  const named = new Set(relevant)
  const newest = new Set(input.lines.slice(-newestKept).map(line => line.id))
  const isKept = (line: LiveLine): boolean =>
    always.has(line.section) ||
    line.keyword === 'constraint' ||
    newest.has(line.id) ||
    named.has(line.id) ||
    named.has(line.shownId) ||
    scoreOf(line.text, words) >= 1
  const kept = new Set(input.lines.filter(isKept))
  const leftOut = rangesOf(input.lines, line => !kept.has(line as LiveLine))
  const assembled = assemble({
    ...input,
    lines: input.lines.filter(line => kept.has(line)),
    scalars: { ...input.scalars, goal },
    ...(leftOut.length > 0 && { leftOut: `left out for this goal: ${shortRanges(leftOut)}` }),
  })
  return { assembled, leftOut }
}

/** Write the view beside the earlier states; the state itself is not touched. */
export async function handoffOf(
  pack: Pack,
  input: AssembleInput,
  goal: string,
  relevant: readonly string[],
  revision: number,
): Promise<NonNullable<SaveDocument['handoff']>> {
  const { assembled, leftOut } = viewFor({ ...input, revision }, pack.mask(goal).slice(0, 300), relevant)
  const path = handoffPath(pack.deps, input.stream, revision)
  await writeText(pack.deps, path, assembled.text)
  return { path, chars: assembled.text.length, leftOut }
}
