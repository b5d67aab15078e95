import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickStart, type World, world } from '../support/keel-cli.ts'

async function two(): Promise<World> {
  const made = world(quickStart)
  await made.json('stamp')
  for (const session_id of ['s1', 's2']) {
    await made.hook('SessionStart', { session_id, source: 'startup' })
    await made.hook('UserPromptSubmit', { session_id, prompt: 'go on' })
  }
  made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
  return made
}

const shell = (made: World) =>
  made.hook('PostToolUse', { session_id: 's2', tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: {} })

describe('what one session is told of a moved source', () => {
  it('K7: does not depend on another session that noticed first', async () => {
    const made = await two()
    const tool_input = { file_path: join(made.root, 'guide.md') }
    await made.hook('PostToolUse', { session_id: 's1', tool_name: 'Edit', tool_input, tool_response: {} })
    const { hookSpecificOutput } = await shell(made)
    expect(hookSpecificOutput?.additionalContext).toMatch(/^keel: guide\.md changed;/)
    expect(await shell(made)).toEqual({})
  })

  it('K7: does not depend on a check that ran in between', async () => {
    const made = await two()
    await made.json('check')
    expect((await shell(made)).hookSpecificOutput?.additionalContext).toMatch(/^keel: guide\.md changed;/)
  })
})
