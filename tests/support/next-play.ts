/** Traces of next-step through the simulator. */
import { createSimulator } from '../../src/next-step/simulate.ts'
import { parseTrace, printed } from './next-traces.ts'

type Line = Readonly<Record<string, unknown>>

/** Every line that the simulator prints, in order. */
export function linesOf(text: string): readonly Line[] {
  const { config, steps } = parseTrace(text)
  const simulator = createSimulator({ showInput: false })
  simulator.hear(JSON.stringify({ kind: 'config', set: config }))
  return steps.flatMap(({ line }) => simulator.hear(JSON.stringify(line)) as readonly Line[])
}

/** What each event prints, and what the trace says it does. */
export function playTrace(text: string): { readonly seen: readonly string[]; readonly wanted: readonly string[] } {
  const { config, steps } = parseTrace(text)
  const simulator = createSimulator({ showInput: false })
  simulator.hear(JSON.stringify({ kind: 'config', set: config }))
  return {
    seen: steps.map(({ text: event, line }) => {
      const prints = simulator.hear(JSON.stringify(line)).flatMap(out => printed(out) ?? [])
      return `${event} → ${prints.sort().join(', ')}`
    }),
    wanted: steps.map(({ text: event, expected }) => `${event} → ${[...expected].sort().join(', ')}`),
  }
}
