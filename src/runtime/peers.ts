/** What the engines of a session answer to each other: asked for when it is wanted, read-only. */
import type { Answers, Peers } from '../session/engine.ts'
import type { Live } from './live.ts'

export function peersOf(live: Pick<Live, 'cells'>): Peers {
  const cells = () => [...live.cells.values()].filter(cell => cell.mode === 'on')
  const all = (): readonly { readonly answers: Answers<unknown>; readonly state: unknown }[] =>
    cells().flatMap(({ engine, state }) => (engine.answers === undefined ? [] : [{ answers: engine.answers, state }]))
  return {
    toldInTurn: () => all().flatMap(({ answers, state }) => answers.toldInTurn?.(state) ?? []),
    edgesOf: path => all().flatMap(({ answers }) => answers.edgesOf?.(path) ?? []),
    outline: async () => (await Promise.all(all().map(({ answers, state }) => answers.outline?.(state) ?? []))).flat(),
  }
}
