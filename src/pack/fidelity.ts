/** How much of what is known stands in a state, in whole percents. Pure. */
import type { Assembled, Frontier, LiveLine } from './assemble.ts'
import type { Fidelity, Section } from './types.ts'

const weights: Readonly<Record<Section, number>> = {
  decisions: 5,
  next: 4,
  unknowns: 3,
  in_progress: 3,
  read_first: 3,
  learnings: 2,
  discarded: 2,
  read_if_needed: 1,
  stale: 1,
}

export interface FidelityInput {
  readonly lines: readonly LiveLine[]
  readonly assembled: Pick<Assembled, 'fates' | 'text'>
  /** Files that changed or were written; project-relative. */
  readonly artifacts: readonly string[]
  /** What the facts have. */
  readonly due: Frontier
}

const maxArtifacts = 200

export function fidelityOf({ lines, assembled, artifacts, due }: FidelityInput): Fidelity {
  let whole = 0
  let kept = 0
  for (const line of lines) {
    const weight = weights[line.section]
    whole += 2 * weight
    const fate = assembled.fates.get(line.id)
    kept += weight * (fate === 'whole' ? 2 : fate === 'shortened' ? 1 : 0)
  }
  const paths = [...new Set(artifacts.filter(path => !path.startsWith('.outrigger/')))].sort().slice(0, maxArtifacts)
  const present = paths.filter(path => assembled.text.includes(path)).length
  const score = {
    lines: percent(kept, whole),
    artifacts: percent(present, paths.length),
    frontier: percent(...kindsOf(due, assembled.text)),
  }
  return { score: Math.floor((70 * score.lines + 20 * score.artifacts + 10 * score.frontier) / 100), ...score }
}

const percent = (part: number, whole: number): number => (whole === 0 ? 100 : Math.floor((100 * part) / whole))

/** Kinds of lines that are there, and that ought to be. */
function kindsOf(due: Frontier, text: string): readonly [present: number, due: number] {
  const kinds: readonly (readonly [mark: string, isDue: boolean, counts: boolean])[] = [
    ['\n- git: ', true, !(due.git[0] ?? '').startsWith('git: unknown')],
    ['\n- test: ', due.test.length > 0, true],
    ['\n- ran: ', due.ran.length > 0, true],
    ['\n- todo: ', due.todo.length > 0, true],
  ]
  const wanted = kinds.filter(([, isDue]) => isDue)
  return [wanted.filter(([mark, , counts]) => counts && text.includes(mark)).length, wanted.length]
}
