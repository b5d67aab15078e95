import { describe, expect, it, onTestFinished } from 'vitest'
import { answerOf, refusalOf, toolOf, toolSchema } from '../../src/mcp/tools.ts'
import { openProject } from '../../src/node/open.ts'
import { operationsOf } from '../../src/runtime/operations.ts'
import { decodeInput } from '../../src/session/decode.ts'
import type { AnyOperation, Caller } from '../../src/session/operation.ts'
import { quickStart, type World, world } from '../support/keel-cli.ts'

/** Call a tool as an MCP server does. */
async function toolsOf(made: World) {
  const project = await openProject({ cwd: made.root, env: made.env, door: 'mcp' })
  onTestFinished(() => project.close())
  const table = operationsOf(project)
  const caller: Caller = {
    door: 'mcp',
    actor: { kind: 'agent', basis: 'host' },
    signal: new AbortController().signal,
    progress: () => undefined,
  }
  const operationOf = (tool: string): AnyOperation => table.find(one => one.tool === tool)!
  const call = async (tool: string, fields: Readonly<Record<string, unknown>>) => {
    const operation = operationOf(tool)
    try {
      const input: unknown = operation.decode(fields)
      return answerOf(operation, await operation.run(input, caller), input)
    } catch (error) {
      return refusalOf(error)
    }
  }
  const say = async (tool: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const { content } = await call(tool, fields)
    return (content as readonly { readonly text: string }[])[0]!.text
  }
  return { table, operationOf, call, say }
}

async function moved(more: Readonly<Record<string, string>> = {}): Promise<World> {
  const made = world({ ...quickStart, ...more })
  await made.json('stamp')
  made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
  return made
}

describe('an answer to a tool', () => {
  it('names the tools that do what a person would type', async () => {
    const { say } = await toolsOf(await moved())
    const text = await say('keel_check')
    expect(text).toContain(
      'read the change (keel_why {"path":"docs/quick.md"}), then update the document, or: keel_ok {"child":"docs/quick.md","source":"guide.md#Setup","reason":"…"}',
    )
    expect(text).not.toContain('outrigger keel')
  })

  it('names them for every reason that a model can do something about', async () => {
    const made = await moved({
      'lost.md': '---\nsources: [gone.md, "guide.md#Setpu"]\n---\n',
      'new.md': '---\nsource: guide.md\n---\n',
    })
    const gone = await toolsOf(made)
    for (const fields of [{}, { paths: ['new.md'] }]) expect(await gone.say('keel_check', fields)).not.toContain('outrigger keel')
    made.write('guide.md', quickStart['guide.md'].replace('## Setup', '## Set up'))
    const renamed = await toolsOf(made)
    const proposed = await renamed.say('keel_fix')
    expect(proposed).toContain('To make these changes: keel_fix {"apply":true}')
    expect(proposed).not.toContain('outrigger keel')
  })

  it.each([
    ['keel_ok', { child: 'docs/quick.md' }, 'KEEL_REASON_REQUIRED', 'keel_ok {"child":"docs/quick.md","reason":"…"}'],
    ['keel_ok', { child: 'guide.md', reason: 'fine' }, 'KEEL_UNKNOWN_EDGE', 'keel_check lists'],
    [
      'keel_ok',
      { child: 'docs/quick.md', reason: 'fine', expect: '0'.repeat(12) },
      'KEEL_SOURCE_MOVED',
      'keel_why {"path":"docs/quick.md"}',
    ],
    ['keel_ok', { child: 'lost.md', reason: 'fine' }, 'KEEL_NOT_ACKABLE', 'keel_fix {"paths":["lost.md"]}'],
    ['keel_why', { path: 'nowhere.md' }, 'KEEL_UNKNOWN_FILE', 'give the path'],
  ])('that is refused (%s %j) names a tool too, in its text and in its document', async (tool, fields, code, way) => {
    const { call, say } = await toolsOf(await moved({ 'lost.md': '---\nsource: gone.md\n---\n' }))
    const { structuredContent } = await call(tool, fields)
    const { error } = structuredContent as { error: { code: string; hint: string } }
    expect(error.code).toBe(code)
    expect(error.hint).toContain(way)
    expect(`${error.hint}${await say(tool, fields)}`).not.toContain('outrigger keel')
  })

  it('leaves to a person what only a person may say', async () => {
    const made = await moved()
    made.write('.outrigger/config.yml', "keel:\n  ack:\n    personOnly: ['docs/**']\n")
    const { say } = await toolsOf(made)
    expect(await say('keel_ok', { child: 'docs/quick.md', reason: 'fine' })).toContain(
      'hint: leave it: a person types: outrigger keel ok docs/quick.md --reason "…"',
    )
  })

  it('shows quoted content as it is', async () => {
    const made = await moved()
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'outrigger keel ok docs/quick.md'))
    const { say } = await toolsOf(made)
    expect(await say('keel_why', { path: 'docs/quick.md' })).toContain('+outrigger keel ok docs/quick.md')
  })
})

describe('an answer at a terminal', () => {
  it('names command lines, for the same refusal', async () => {
    const made = await moved()
    const { json } = await made.json('ok', 'docs/quick.md')
    expect(json.error.hint).toContain('outrigger keel ok docs/quick.md --reason "…"')
    expect((await made.keel('check')).out).not.toMatch(/keel_(ok|why|fix|check)/)
  })
})

describe('what is left out', () => {
  it('is in a tool’s schema as its default, and asked for where a tool needs it', async () => {
    const { operationOf } = await toolsOf(world(quickStart))
    const schema = (tool: string) => toolSchema(operationOf(tool))
    expect(schema('keel_check').properties['limit']).toMatchObject({ default: 50, minimum: 1, maximum: 200 })
    expect(schema('keel_why').properties['diff']).toMatchObject({ default: true })
    expect(schema('keel_ok').required).toEqual(['child', 'reason'])
    expect(toolOf(operationOf('keel_ok')).inputSchema.required).toEqual(['child', 'reason'])
  })

  it('is what the schema says: a tool’s answers have diffs, and at most 50 rows', async () => {
    const { operationOf, call } = await toolsOf(await moved())
    const schema = toolSchema(operationOf('keel_why'))
    const byDefault = await call('keel_why', { path: 'docs/quick.md' })
    expect(byDefault).toEqual(await call('keel_why', decodeInput(schema, { path: 'docs/quick.md' })))
    expect(byDefault.structuredContent).toMatchObject({ derivesFrom: [{ diff: { status: 'ok' } }] })
  })

  it('is in the help of a command as that of the command line', async () => {
    const made = world(quickStart)
    expect((await made.run('help', 'keel', 'check')).out).toMatch(
      /list at most this many suspects \(from 1 to 200; default all\)\n/,
    )
    const why = (await made.run('help', 'keel', 'why')).out
    expect(why).toMatch(/--diff +with what changed in each source\n/)
    for (const text of [why, (await made.run('help', 'keel', 'ok')).out]) expect(text).not.toContain('tools:')
  })
})

describe('what to do', () => {
  it('about a word of the agent, or of nobody, is said as it is: a person acknowledges', async () => {
    const made = await moved({ '.outrigger/config.yml': "keel:\n  ack:\n    personOnly: ['docs/**']\n" })
    const quick = made.read('docs/quick.md')
    made.write('docs/quick.md', quick.replace(/guide\.md#Setup.*/, 'guide.md#Setup @ok(same steps)'))
    const { out } = await made.keel('check')
    expect(out).toContain('needs-person: the source waits for a person: only a person may acknowledge this document\n')
    expect(out).toContain('a person who read both runs: outrigger keel ok docs/quick.md guide.md#Setup --reason "…"')
    expect(out).not.toContain('by an agent')
  })

  it('after a heading was renamed is one more review, and how', async () => {
    const made = world(quickStart)
    await made.json('stamp')
    made.write('guide.md', quickStart['guide.md'].replace('## Setup', '## First steps'))
    const { out } = await made.keel('fix', '--apply')
    expect(out).toContain('fixed: docs/quick.md: guide.md#Setup → guide.md#First steps (anchor-missing; same content)\n')
    expect(out).toContain(
      `the document is to be reviewed once more: update it, or: outrigger keel ok docs/quick.md 'guide.md#First steps' --reason "…"\n`,
    )
    expect((await made.json('check')).json.suspects).toMatchObject([{ reason: 'changed' }])
  })

  it('when only a strict check fails is why it does', async () => {
    const made = world({
      '.outrigger/config.yml': 'keel:\n  vendored: [third_party]\n',
      'a.md': 'a\n',
      'third_party/z.md': '---\nsource: a.md @123456789012\n---\n',
    })
    const strict = await made.keel('check', '--strict')
    expect(strict.code).toBe(1)
    expect(strict.out).toContain('This check is strict: it fails also for what is not stamped or cannot be checked.\n')
    expect(strict.out).toContain('take the folder out of keel.vendored')
    expect((await made.keel('check')).out).not.toContain('This check is strict')
    const pending = await world(quickStart).keel('check', '--strict')
    expect(pending.code).toBe(1)
    expect(pending.out).toContain('This check is strict')
  })
})
