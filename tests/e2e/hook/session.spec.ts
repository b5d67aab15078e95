import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildProgram, type Program } from '../../support/cli/program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

async function stamped() {
  const root = program.folder({
    '.git/HEAD': 'ref: refs/heads/main\n',
    'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n',
    'api.md': '# API\n\nopen(path)\n',
  })
  expect((await program.run(root, ['keel', 'stamp'])).code).toBe(0)
  return root
}

interface Answer {
  readonly decision?: string
  readonly reason?: string
  readonly hookSpecificOutput?: { hookEventName: string; additionalContext?: string; watchPaths?: string[] }
}

/** A host's session in a project: each event is a process of its own. */
function session(root: string, env: Record<string, string> = {}) {
  return async (event: string, more: Record<string, unknown> = {}): Promise<Answer> => {
    const payload = { session_id: 's1', cwd: root, hook_event_name: event, transcript_path: '/none', ...more }
    const ran = await program.run(program.folder(), ['hook', event], { stdin: JSON.stringify(payload), env })
    expect({ event, code: ran.code, err: ran.err }).toEqual({ event, code: 0, err: '' })
    return JSON.parse(ran.out) as Answer
  }
}

const wrote = (root: string) => ({
  tool_name: 'Write',
  tool_use_id: `call-${Math.random()}`,
  tool_input: { file_path: join(root, 'api.md'), content: 'x' },
  tool_response: { type: 'update' },
})

describe('a session of a host that runs commands', () => {
  it('is told once what fell behind, is held once, and is not told again', async () => {
    const root = await stamped()
    const hook = session(root)
    const start = await hook('SessionStart', { source: 'startup' })
    expect(start.hookSpecificOutput?.watchPaths).toContain(join(root, 'api.md'))
    await hook('UserPromptSubmit', { prompt: 'add a mode to open' })

    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    const told = await hook('PostToolUse', wrote(root))
    expect(told.hookSpecificOutput).toMatchObject({ hookEventName: 'PostToolUse' })
    expect(told.hookSpecificOutput?.additionalContext).toContain('guide.md')
    expect(told.hookSpecificOutput?.additionalContext).toContain('open(path, mode)')
    expect(await hook('PostToolUse', wrote(root))).toEqual({})

    const held = await hook('Stop', { last_assistant_message: 'done', stop_hook_active: false, background_tasks: [] })
    expect(held).toMatchObject({ decision: 'block' })
    expect(held.reason).toContain('guide.md')
    expect(await hook('Stop', { last_assistant_message: 'done', stop_hook_active: true, background_tasks: [] })).toEqual({})
    expect(await hook('SessionEnd', { reason: 'other' })).toEqual({})
  }, 60_000)

  it('is not held while a job of it runs', async () => {
    const root = await stamped()
    const hook = session(root)
    await hook('SessionStart', { source: 'startup' })
    await hook('UserPromptSubmit', { prompt: 'go' })
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    await hook('PostToolUse', wrote(root))
    const busy = { background_tasks: [{ id: 'b', type: 'shell', status: 'running', command: 'npm test' }] }
    expect(await hook('Stop', { last_assistant_message: 'waiting', stop_hook_active: false, ...busy })).toEqual({})
  }, 60_000)

  it('hears at its start what was behind before it', async () => {
    const root = await stamped()
    writeFileSync(join(root, 'api.md'), '# API\n\nclose(path)\n')
    const start = await session(root)('SessionStart', { source: 'startup' })
    expect(start.hookSpecificOutput?.additionalContext).toContain('guide.md')
    expect(start.hookSpecificOutput!.additionalContext!.length).toBeLessThanOrEqual(9_800)
    const again = await session(root)('SessionStart', { source: 'compact' })
    expect(again.hookSpecificOutput?.additionalContext).toContain('guide.md')
  }, 60_000)

  it('keeps its own documents’ stamps when the agent reviewed them', async () => {
    const root = await stamped()
    const hook = session(root)
    await hook('SessionStart', { source: 'startup' })
    await hook('UserPromptSubmit', { prompt: 'go' })
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    await hook('PostToolUse', wrote(root))
    const before = readFileSync(join(root, 'guide.md'), 'utf8')
    writeFileSync(join(root, 'guide.md'), before.replace('Call open.', 'Call open with a mode.'))
    await hook('PostToolUse', { ...wrote(root), tool_name: 'Edit', tool_input: { file_path: join(root, 'guide.md') } })
    expect(await hook('Stop', { last_assistant_message: 'done', stop_hook_active: false, background_tasks: [] })).toEqual({})
    expect((await program.run(root, ['keel', 'check'])).code).toBe(0)
    const after = readFileSync(join(root, 'guide.md'), 'utf8')
    expect(after.replace(/@[0-9a-f]{12}/, '@')).toBe(
      before.replace('Call open.', 'Call open with a mode.').replace(/@[0-9a-f]{12}/, '@'),
    )
    expect(after).not.toBe(before)
  }, 60_000)

  it('hears nothing where a module of ours speaks already', async () => {
    const root = await stamped()
    writeFileSync(join(root, 'api.md'), '# API\n\nclose(path)\n')
    expect(await session(root, { OUTRIGGER_MOD: '1' })('SessionStart', { source: 'startup' })).toEqual({})
  })

  it('goes on in a project with a bad configuration, which is reported on stderr', async () => {
    const root = program.folder({ '.git/HEAD': 'x\n', '.outrigger/config.yml': 'keel:\n  compare: sometimes\n' })
    const ran = await program.run(root, ['hook', 'SessionStart'], { stdin: JSON.stringify({ session_id: 's', cwd: root }) })
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 0, out: '{}\n' })
    expect(ran.err).toContain('KEEL_BAD_CONFIG')
  })

  it('in a project without sources says nothing and leaves nothing in it', async () => {
    const root = program.folder({ '.git/HEAD': 'x\n', 'a.md': '# A\n' })
    const hook = session(root)
    for (const event of ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'SessionEnd']) {
      expect((await hook(event, { ...wrote(root), prompt: 'x' })).hookSpecificOutput?.additionalContext).toBeUndefined()
    }
    expect(existsSync(join(root, '.outrigger/config.yml'))).toBe(false)
  }, 60_000)
})
