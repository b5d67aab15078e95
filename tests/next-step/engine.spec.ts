import { describe, expect, it } from 'vitest'
import { type NextProcess, nextProcess, shared } from '../support/next-world.ts'

const end = (turn: number, answer = 'Done.') => ({ kind: 'turn-ended', turn, reason: 'completed', answer }) as const
const start = (turn: number, by: 'person' | 'host' | 'plugin' | 'goal' = 'host') => ({ kind: 'turn-started', turn, by }) as const
const edit = (call: string) =>
  ({ kind: 'tool-finished', turn: null, call, tool: 'edit', input: {}, ok: true, output: '', written: ['a.ts'] }) as const

async function answer(process: NextProcess, text: string): Promise<void> {
  await process.tell({ kind: 'model-answered', ask: process.last('ask-model')!.id, text })
}

describe('the engine', () => {
  it('asks the model once for a completed turn and shows what it named', async () => {
    const process = nextProcess(shared())
    await process.tell({ kind: 'person-spoke', text: 'build it' })
    await process.tell(start(1, 'person'))
    await process.tell(end(1))
    expect(process.last('ask-model')).toMatchObject({
      purpose: 'suggest',
      mode: 'aside',
      model: 'test/m',
      maxTokens: 200,
      timeoutMs: 20_000,
    })
    await answer(process, '- Run the unit tests')
    expect(process.last('show-offer')?.offer).toMatchObject({ text: 'Run the unit tests', intent: 'worker-step', turn: 1 })
    await process.tell(end(1))
    expect(process.all('ask-model')).toHaveLength(1)
    expect(process.lines()).toContain('skip already-claimed')
  })

  it('keeps the offer over a restart and the loop not', async () => {
    const world = shared()
    const first = nextProcess(world, '1:boot:1')
    expect((await first.type('arm --rounds 3'))?.document).toMatchObject({
      ok: true,
      kind: 'done',
      already: false,
      displaced: null,
    })
    await first.tell(start(1))
    await first.tell(end(1, 'Which one do you want?'))
    await answer(first, 'Run the unit tests')
    expect(first.lines()).toContain('hold question')
    world.dead.add('1:boot:1')
    const second = nextProcess(world, '2:boot:2')
    const state = await second.type('state')
    expect(state?.document).toMatchObject({
      offer: { status: 'ready', text: 'Run the unit tests' },
      loop: { armed: false, reason: 'restart' },
    })
    expect(second.lines()).toContain('disarm restart')
    expect(second.all('submit')).toHaveLength(0)
    expect((await second.type('run'))?.document).toMatchObject({ ok: true, text: 'Run the unit tests' })
    expect(second.all('submit')).toMatchObject([{ as: 'person', text: 'Run the unit tests' }])
  })

  it('gives an interrupted search up, and searches again when the end of the turn is delivered again', async () => {
    const world = shared()
    const first = nextProcess(world, '1:boot:1')
    await first.tell(start(1, 'person'))
    await first.tell(end(1))
    world.dead.add('1:boot:1')
    const second = nextProcess(world, '2:boot:2')
    await second.tell({ kind: 'session-started', source: 'resume' })
    expect(second.lines()).toContain('recover interrupted')
    await second.tell(end(1))
    expect(second.last('ask-model')).toMatchObject({ purpose: 'suggest' })
  })

  it('lets one process have the loop, and the one that took it over fire', async () => {
    const world = shared()
    const one = nextProcess(world, '1:boot:1')
    const two = nextProcess(world, '2:boot:2')
    await one.type('arm')
    expect((await two.type('arm'))?.document).toMatchObject({ ok: false, kind: 'refused', code: 'NEXT_HELD', holder: '1:boot:1' })
    expect((await two.type('arm --take'))?.document).toMatchObject({ ok: true })
    await one.tell(start(1))
    await one.tell(end(1))
    await answer(one, 'Run the unit tests')
    expect(one.all('submit')).toHaveLength(0)
    expect(one.lines()).toContain('disarm lease-lost')
  })

  it('renews the lease while the session is busy, and ends the loop when it is lost', async () => {
    const world = shared()
    const process = nextProcess(world)
    await process.type('arm')
    for (let round = 0; round < 8; round++) {
      await process.tell({ kind: 'work-changed', jobs: round % 2 })
      await process.wait(5_000)
    }
    expect((await world.store.lease('next/s1', 'other', 1_000)).held).toBe(false)
    await world.store.lease('next/s1', 'other', 60_000, { take: true })
    await process.wait(11_000)
    expect(process.lines()).toContain('disarm lease-lost')
  })

  it('starts one turn when two tabs press Run', async () => {
    const process = nextProcess(shared())
    await process.tell(start(1, 'person'))
    await process.tell(end(1))
    await answer(process, 'Run the unit tests')
    const gen = String(process.last('show-offer')!.offer!['gen'])
    const replies = await Promise.all([process.type(`run --offer ${gen}`), process.type(`run --offer ${gen}`)])
    expect(replies.map(reply => reply?.document)).toMatchObject([{ ok: true }, { ok: false, code: 'NEXT_ALREADY_RUN' }])
    expect(process.all('submit')).toHaveLength(1)
  })

  it('starts one turn when two processes press Run', async () => {
    const world = shared()
    const one = nextProcess(world, '1:boot:1')
    const two = nextProcess(world, '2:boot:2')
    for (const process of [one, two]) await process.tell(start(1, 'person'))
    await one.tell(end(1))
    await answer(one, 'Run the unit tests')
    const first = await one.type('run')
    const second = await two.type('run')
    expect([first?.document, second?.document]).toMatchObject([{ ok: true }, { ok: false }])
    expect(one.all('submit').length + two.all('submit').length).toBe(1)
  })

  it('gives the model up at its time and offers what needs none', async () => {
    const process = nextProcess(shared(), '1:boot:1', { model: 'test/m' })
    await process.tell({ kind: 'todos-changed', todos: [{ text: 'Write the docs', state: 'pending' }] })
    await process.tell(start(1, 'person'))
    await process.tell(end(1))
    await process.wait(20_001)
    expect(process.all('cancel-model')).toHaveLength(1)
    expect(process.last('show-offer')?.offer).toMatchObject({ text: 'Continue with: Write the docs' })
    expect(process.lines()).toContain('failed timeout')
  })

  it('goes on with its loop when the host says that the call is over, and not by its clock', async () => {
    const process = nextProcess(shared(), '1:boot:1', { model: 'test/m' })
    await process.type('arm')
    await process.tell({ kind: 'todos-changed', todos: [{ text: 'Write the docs', state: 'pending' }] })
    await process.tell(start(1))
    await process.tell(end(1))
    const ask = process.last('ask-model')!.id
    await process.wait(15 * 60_000)
    expect(process.lines()).toContain('ready local')
    expect(process.all('submit')).toEqual([])
    await process.tell({ kind: 'model-failed', ask, reason: 'canceled' })
    expect(process.all('submit')).toMatchObject([{ as: 'plugin', text: 'Continue with: Write the docs' }])
    expect(process.lines().filter(line => line.startsWith('late'))).toEqual([])
  })

  it("notes a judge's late answer as the judge's", async () => {
    const process = nextProcess(shared(), '1:boot:1', { model: 'test/m', judgeModel: 'test/j' })
    await process.type('arm --judge')
    await process.tell(end(1))
    await answer(process, 'Run the unit tests')
    await process.tell({ ...start(2, 'plugin'), offer: process.last('submit')!.offer! })
    await process.tell(edit('call-1'))
    await process.tell(end(2))
    await answer(process, 'Write the notes')
    const judge = process.last('ask-model')!
    expect(judge.purpose).toBe('judge')
    await process.tell({ kind: 'person-spoke', text: 'wait' })
    await process.tell({ kind: 'model-answered', ask: judge.id, text: 'CONTINUE' })
    expect(process.lines().filter(line => line.startsWith('late'))).toEqual(['late judge'])
  })

  it.each([
    ['no-model', undefined, 'unavailable', 'the model is not available'],
    ['host:error', 'connect ECONNREFUSED', 'unavailable', 'the model is not available'],
    ['host:http_429', 'Too Many Requests', 'rate-limit', 'the model is over its limit'],
    ['host:overloaded_error', undefined, 'rate-limit', 'the model is over its limit'],
    ['host:content_filter', undefined, 'refused', 'the model refused'],
    ['Error: request timed out', undefined, 'timeout', 'the model did not answer in time'],
    ['bad-answer', undefined, 'bad-answer', 'the answer could not be read'],
  ])('knows what a host means by %j %j', async (reason, message, fault, words) => {
    const process = nextProcess(shared())
    await process.tell(end(1))
    const ask = process.last('ask-model')!.id
    await process.tell({ kind: 'model-failed', ask, reason, ...(message !== undefined && { message }) })
    const state = (await process.type('state'))?.document as { readonly offer: object }
    expect(state.offer).toMatchObject({
      status: 'failed',
      reason: fault,
      error: message ?? (reason === 'bad-answer' ? null : expect.any(String)),
    })
    expect((await process.type('state'))?.text).toContain(`No suggestion: ${words}`)
  })

  it('takes a message back that the host refused', async () => {
    const process = nextProcess(shared())
    await process.type('arm')
    await process.tell(start(1))
    await process.tell(end(1))
    await answer(process, 'Run the unit tests')
    const submit = process.last('submit')!
    expect(submit).toMatchObject({ as: 'plugin', round: 1, of: 8, turn: 1 })
    await process.outrigger.failed(submit.id, 'host:queue full')
    await process.outrigger.idle()
    expect(process.lines()).toEqual(expect.arrayContaining(['refund queue-failed', 'disarm queue-failed']))
    expect(process.last('show-offer')?.offer).toMatchObject({ text: 'Run the unit tests' })
  })

  it('drives three rounds and stops by its condition', async () => {
    const process = nextProcess(shared())
    await process.type('arm --rounds 5 --until "npm test"')
    await process.tell(start(1))
    await process.tell(end(1))
    for (let turn = 2; turn <= 4; turn++) {
      const check = process.last('run-check')!
      expect(check.command).toBe('npm test')
      await process.tell({ kind: 'check-finished', check: check.check, exit: 1, output: 'not ok' })
      await answer(process, `Fix chapter ${turn}`)
      const { offer } = process.last('submit')!
      expect((await process.tell({ kind: 'turn-starting', offer: offer! }))[0]).toMatchObject({ kind: 'verdict', admit: true })
      await process.tell({ ...start(turn, 'plugin'), offer: offer! })
      await process.tell(edit(`call-${turn}`))
      await process.tell(end(turn))
    }
    await process.tell({ kind: 'check-finished', check: process.last('run-check')!.check, exit: 0, output: 'ok' })
    expect(process.all('submit')).toHaveLength(3)
    expect(process.lines()).toContain('disarm until-met')
    expect(process.last('notify')?.text).toBe('Autorun stopped after 3 of 5 rounds: the condition holds.')
  })

  it('answers usage for what it does not understand, without any effect', async () => {
    const process = nextProcess(shared())
    for (const args of [
      'arm --round 3',
      'arm extra',
      'frob',
      'run --offer',
      'autorun',
      'model a b',
      'log x',
      'arm --until "open',
    ])
      expect((await process.type(args))?.ok).toBe(false)
    expect(process.lines()).toEqual([])
  })

  it('refuses an agent what only a person may do', async () => {
    const process = nextProcess(shared())
    for (const args of ['arm', 'run', 'on', 'dismiss', 'model a/b'])
      expect((await process.type(args, 'plugin'))?.document).toMatchObject({ code: 'NEXT_NEEDS_PERSON' })
    expect((await process.type('state', 'plugin'))?.ok).toBe(true)
  })

  it('remembers the model that a person named, for the project', async () => {
    const world = shared()
    const first = nextProcess(world, '1:boot:1', {})
    await first.type('model deepseek-official/flash')
    const second = nextProcess(world, '2:boot:2', {})
    expect((await second.type('model'))?.document).toMatchObject({ model: 'deepseek-official/flash', source: 'override' })
    await second.type('model clear')
    expect((await second.type('model'))?.document).toMatchObject({ model: '', source: 'none' })
  })

  it('goes on with its grant when a setting changes under an armed loop; what comes next follows the new one', async () => {
    const config = { model: 'test/m', local: false, maxRounds: 8 }
    const process = nextProcess(shared(), '1:boot:1', config)
    await process.type('arm')
    Object.assign(config, { model: 'test/other', maxRounds: 2 })
    await process.tell(start(1, 'person'))
    await process.type('arm')
    Object.assign(config, { model: 'test/third' })
    await process.tell(end(1))
    expect(process.last('ask-model')?.model).toBe('test/third')
    await answer(process, 'Run the unit tests')
    expect(process.last('submit')).toMatchObject({ as: 'plugin', round: 1, of: 2 })
    expect(process.lines()).not.toContain('disarm restart')
  })

  it('gets no tokens back from a host that counts wrong', async () => {
    const process = nextProcess(shared())
    await process.type('arm --tokens 10000')
    await process.tell({ ...end(1), usage: { input: 9_000, output: 0 } })
    await process.tell({ kind: 'turn-started', turn: 2, by: 'host' })
    for (const input of [-100_000, Number.NaN]) await process.tell({ ...end(2), usage: { input, output: 0 } })
    const state = (await process.type('state'))?.document as { readonly loop: object }
    expect(state.loop).toMatchObject({ spent: { tokens: 9_000 } })
  })

  it('keeps nothing of a session that ended', async () => {
    const world = shared()
    const process = nextProcess(world)
    await process.type('arm')
    await process.tell({ kind: 'session-ended', reason: 'closed' })
    expect(process.lines()).toContain('disarm closed')
    expect(await world.store.leases()).toEqual([])
  })

  it('costs nothing and stores nothing in a session of a helper', async () => {
    const world = shared()
    const process = nextProcess(world)
    await process.tell({ kind: 'session-started', source: 'startup', child: true })
    await process.tell(start(1, 'person'))
    await process.tell(end(1))
    expect(process.all('ask-model')).toEqual([])
    expect(process.all('status')).toEqual([])
    expect(process.lines()).toEqual(['skip not-root'])
  })
})
