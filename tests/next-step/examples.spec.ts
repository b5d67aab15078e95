import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/next-step/simulate.ts'
import { examples } from '../support/next-examples.ts'
import { parseTrace, printed } from '../support/next-traces.ts'

describe('a worked example', () => {
  it.each(examples)('%s', (_, text) => {
    const trace = parseTrace(text)
    const simulator = createSimulator({ showInput: false })
    simulator.hear(JSON.stringify({ kind: 'config', set: trace.config }))
    const seen = trace.steps.map(({ text: event, line }) => {
      const prints = simulator.hear(JSON.stringify(line)).flatMap(out => printed(out) ?? [])
      return `${event} → ${prints.sort().join(', ')}`
    })
    expect(seen).toEqual(trace.steps.map(({ text: event, expected }) => `${event} → ${[...expected].sort().join(', ')}`))
  })
})
