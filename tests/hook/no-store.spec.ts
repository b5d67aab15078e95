import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { answerHook } from '../../src/hook/main.ts'
import { openProject } from '../../src/node/open.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { temporaryFolder } from '../support/temporary.ts'

interface Answer {
  readonly decision?: string
  readonly reason?: string
  readonly systemMessage?: string
  readonly hookSpecificOutput?: { readonly additionalContext?: string }
}

/** A project with one stamped document, and a host's hooks in it: each event opens the project anew. */
function scene(child = '---\nsources:\n  - api.md\n---\n# Guide\n') {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  const state = join(root, '.outrigger/state')
  mkdirSync(join(root, '.git'), { recursive: true })
  writeFileSync(join(root, 'api.md'), '# API\n\nopen(path)\n')
  writeFileSync(join(root, 'guide.md'), child)
  const env = { PATH: process.env['PATH'], HOME: join(folder, 'home') }
  const hook = async (event: string, more: Record<string, unknown> = {}) => {
    let out = ''
    let err = ''
    const io: Io = {
      env,
      cwd: root,
      stdin: async function* () {
        yield new TextEncoder().encode(JSON.stringify({ session_id: 's1', cwd: root, hook_event_name: event, ...more }))
      },
      isStdinTerminal: false,
      stdout: { write: text => void (out += text), ready: async () => undefined, isTerminal: false },
      stderr: { write: text => void (err += text), ready: async () => undefined, isTerminal: false },
      signal: new AbortController().signal,
    }
    const before = performance.now()
    await answerHook(io, { event }, { open: openProject })
    return { answer: JSON.parse(out) as Answer, err, ms: performance.now() - before }
  }
  const edit = (text: string) => {
    writeFileSync(join(root, 'api.md'), text)
    return hook('PostToolUse', { tool_name: 'Write', tool_use_id: text, tool_input: { file_path: join(root, 'api.md') } })
  }
  const damage = (text: string) => {
    mkdirSync(state, { recursive: true })
    writeFileSync(join(state, 'store.db'), text)
  }
  return { root, damage, file: join(state, 'store.db'), hook, edit }
}

describe('a session whose store is damaged', () => {
  it('hears at its start, at a tool and at its end what fell behind; the person hears once why nothing is kept', async () => {
    const { root, damage, file, hook, edit } = scene()
    damage('no database, whatever its name says')
    const start = await hook('SessionStart', { source: 'startup' })
    expect(readFileSync(join(root, 'guide.md'), 'utf8')).toMatch(/api\.md @[0-9a-f]{12}/)
    expect(start.answer.systemMessage).toMatch(/^outrigger: no store, .*store\.db is damaged/)
    expect(start.err).toMatch(/^outrigger hook SessionStart: no store: .*damaged/)
    const told = await edit('# API\n\nclose(path)\n')
    expect(told.answer.hookSpecificOutput?.additionalContext).toContain('guide.md')
    expect(told.answer).not.toHaveProperty('systemMessage')
    const held = await hook('Stop', { last_assistant_message: 'done', stop_hook_active: false })
    expect(held.answer).toMatchObject({ decision: 'block', reason: expect.stringContaining('guide.md') as string })
    const again = await hook('SessionStart', { source: 'resume' })
    expect(again.answer.hookSpecificOutput?.additionalContext).toContain('guide.md')
    expect(again.answer).not.toHaveProperty('systemMessage')
    expect(readFileSync(file, 'utf8')).toBe('no database, whatever its name says')
  })

  it('is told by the first event after the damage', async () => {
    const { file, hook, edit } = scene()
    expect((await hook('SessionStart', { source: 'startup' })).answer).not.toHaveProperty('systemMessage')
    expect(existsSync(file)).toBe(true)
    for (const end of ['', '-wal', '-shm']) writeFileSync(`${file}${end}`, 'garbage '.repeat(4_000))
    expect((await edit('# API\n\nx\n')).answer.systemMessage).toContain('damaged')
    expect((await edit('# API\n\ny\n')).answer).not.toHaveProperty('systemMessage')
  })
})

describe('a session whose store another process has locked', () => {
  it('is answered in time', async () => {
    const { file, hook, edit } = scene()
    await hook('SessionStart', { source: 'startup' })
    ;(await openSqliteStore(file, { isDead: () => false })).close()
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (x); COMMIT')
    const told = await edit('# API\n\nclose(path)\n')
    expect(told.answer.hookSpecificOutput?.additionalContext).toContain('guide.md')
    expect(told.answer.systemMessage).toContain('another process holds the store')
    expect(told.ms).toBeLessThan(5_000)
  })
})

describe('a session of a project without documents that have sources', () => {
  it('leaves no file in it, and keeps all as soon as there is one', async () => {
    const { root, hook, edit, file } = scene('# Guide\n')
    await hook('SessionStart', { source: 'startup' })
    await hook('UserPromptSubmit', { prompt: 'go' })
    await edit('# API\n\nclose(path)\n')
    await hook('Stop', { last_assistant_message: 'done', stop_hook_active: false })
    await hook('UserPromptSubmit', { prompt: 'more' })
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
    const guide = join(root, 'guide.md')
    writeFileSync(guide, '---\nsources:\n  - api.md\n---\n# Guide\n')
    await hook('PostToolUse', { tool_name: 'Write', tool_use_id: 'w', tool_input: { file_path: guide } })
    expect(existsSync(file)).toBe(true)
    await hook('SessionEnd', { reason: 'other' })
  })
})
