import { describe, expect, it } from 'vitest'
import { findActor } from '../../src/runtime/actor.ts'

const cli = { env: {}, door: 'cli', isTerminal: false } as const

describe('an agent marker', () => {
  it.each([
    [{ OUTRIGGER_ACTOR: 'agent' }, undefined],
    [{ OUTRIGGER_ACTOR: 'agent:builder' }, 'builder'],
    [{ AI_AGENT: 'claude-code_2-1-332_agent' }, 'claude-code'],
    [{ CURSOR_AGENT: '1' }, undefined],
    [{ GEMINI_CLI: '1' }, undefined],
    [{ DSH_SHELL: '1' }, undefined],
    [{ CODEX_SANDBOX: 'seatbelt' }, undefined],
  ])('%j always means agent: at a terminal, and whatever is stated', (env, name) => {
    for (const isTerminal of [true, false]) {
      for (const stated of [undefined, 'person', 'person:Ada']) {
        const actor = findActor({ env, door: 'cli', isTerminal, ...(stated !== undefined && { stated }) })
        expect(actor).toMatchObject({ kind: 'agent', ...(name !== undefined && { name }) })
        expect(actor.name).toBe(name)
      }
    }
    expect(findActor({ env, door: 'dsh', isTerminal: false, stated: 'person' }).kind).toBe('agent')
  })

  it.each([
    { CLAUDECODE: '1' },
    { AI_AGENT: 'claude-code_2-1-332_harness' },
    { OUTRIGGER_ACTOR: 'person' },
    { OUTRIGGER_ACTOR: 'agentic' },
    { CURSOR_AGENT: '' },
    { AI_AGENT: undefined },
  ])('is not %j', env => {
    expect(findActor({ ...cli, env })).toEqual({ kind: 'person', basis: 'stated' })
  })
})

it('takes a terminal for a person', () => {
  expect(findActor({ ...cli, isTerminal: true })).toEqual({ kind: 'person', basis: 'terminal' })
  expect(findActor({ ...cli, isTerminal: true, stated: 'person:Ada' })).toEqual({
    kind: 'person',
    name: 'Ada',
    basis: 'terminal',
  })
  expect(findActor({ ...cli, isTerminal: true, stated: 'agent' })).toEqual({ kind: 'agent', basis: 'stated' })
})

it('takes a script for what it states, else for a person', () => {
  expect(findActor({ ...cli, stated: 'agent:ci' })).toEqual({ kind: 'agent', name: 'ci', basis: 'stated' })
  expect(findActor({ ...cli, stated: 'person:Ada Lovelace' })).toEqual({ kind: 'person', name: 'Ada Lovelace', basis: 'stated' })
  expect(findActor(cli)).toEqual({ kind: 'person', basis: 'stated' })
})

it.each(['dsh', 'mcp', 'hook', 'claude-code'] as const)(
  "takes the door %s for the host's agent, unless the host says a person typed it",
  door => {
    expect(findActor({ ...cli, door })).toEqual({ kind: 'agent', basis: 'host' })
    expect(findActor({ ...cli, door, isTerminal: true })).toEqual({ kind: 'agent', basis: 'host' })
    expect(findActor({ ...cli, door, stated: 'person' })).toEqual({ kind: 'person', basis: 'host' })
    expect(findActor({ ...cli, door, stated: 'agent:x' })).toEqual({ kind: 'agent', name: 'x', basis: 'host' })
  },
)

it.each(['robot', '', 'Person', 'agentx', ':Ada'])('refuses the statement "%s"', stated => {
  expect(() => findActor({ ...cli, stated })).toThrow(expect.objectContaining({ code: 'BAD_INPUT', subject: 'who' }))
})

it('keeps names to one short line', () => {
  expect(findActor({ ...cli, stated: `person:a\n\u0007b\t ${'x'.repeat(300)}` }).name).toBe(`a b ${'x'.repeat(96)}`)
  expect(findActor({ ...cli, stated: 'person:  ' }).name).toBeUndefined()
})
