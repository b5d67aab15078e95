import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import { fakeEngine } from '../support/engines.ts'
import { checkpoint, packWorld } from '../support/pack-session.ts'

const decided = checkpoint('decision: b — faster')
const closed = 'T12 closed'

describe('a checkpoint', () => {
  it('of every ended turn goes into the journal of the stream, with the reason of the turn as a flag', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    await world.turn(checkpoint('open: two'), { earlier: [checkpoint('open: one')] })
    await world.turn(checkpoint('open: three'), { reason: 'aborted' })
    const { trailers } = world.pack.all.get('billing')!
    expect(trailers.map(({ body, flags }) => [body.split('\n')[1], flags])).toEqual([
      ['open: one', []],
      ['open: two', []],
      ['open: three', ['aborted']],
    ])
  })

  it('of a helper is flagged with its name and tells nothing about the main work', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    await world.tell('turn-ended', { turn: 1, reason: 'completed', answer: decided, agent: 'h1' })
    expect(world.pack.all.get('billing')!.trailers[0]!.flags).toEqual(['agent:h1'])
    await world.measured(60_000)
    expect(world.status()).not.toContain('A decision was made')
  })

  it('without a stream waits in the buffer, the line says so, and naming a stream files it first', async () => {
    const world = packWorld()
    await world.turn(checkpoint('open: one'))
    await world.turn(checkpoint('open: two'))
    expect(world.status()).toBe('2 checkpoint(s) have no stream yet; name one: /pack save <name>')
    await world.command('/pack save billing --plain')
    await world.turn(checkpoint('open: three'))
    expect(world.pack.all.get('billing')!.trailers.map(({ body }) => body.split('\n')[1])).toEqual([
      'open: one',
      'open: two',
      'open: three',
    ])
    expect(await world.store.list('pack/buffer/')).toEqual([])
  })

  it('without a stream goes to the inbox when the session ends', async () => {
    const world = packWorld()
    await world.turn(decided)
    await world.tell('session-ended', { reason: 'exit' })
    expect(world.pack.all.get('inbox')!.trailers[0]!.flags).toEqual(['inbox'])
    expect(await world.store.list('pack/buffer/')).toEqual([])
  })

  it('of a session that crashed goes to the inbox at the next start, an hour later', async () => {
    const world = packWorld()
    await world.turn(decided)
    await world.tell('session-started', { session: 'young', source: 'startup' })
    expect(world.pack.all.has('inbox')).toBe(false)
    await world.pass(3_700_000)
    await world.tell('session-started', { session: 'late', source: 'startup' })
    expect(world.pack.all.get('inbox')!.trailers).toHaveLength(1)
  })

  it('that cannot be written is kept, told once, and tried again with the next', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    world.pack.broken = new OutriggerError('PACK_WRITE_FAILED', 'no space left', { exit: 3 })
    await world.turn(checkpoint('open: one'))
    await world.turn(checkpoint('open: two'))
    const text = '⚠ cannot write the journal of "billing" (no space left); 2 checkpoint(s) held, next try with the next one'
    expect(world.status()).toBe(text)
    expect(world.all('notify').filter(({ text }) => text.includes('cannot write'))).toHaveLength(1)
    world.pack.broken = null
    await world.turn(checkpoint('open: three'))
    expect(world.pack.all.get('billing')!.trailers).toHaveLength(3)
    expect(world.status()).toBeNull()
  })

  it('in a quote is not taken, and the first of a session is told', async () => {
    const world = packWorld()
    await world.turn('> <!-- ckpt open: x -->')
    await world.turn('> <!-- ckpt open: y -->')
    expect(world.all('notify').map(({ text }) => text)).toEqual([
      'a checkpoint was not taken (line 3: in-quote); it must start its own line outside code, quotes and lists, and end with -->',
    ])
  })

  it('tells once a project where the notes lie when git does not know', async () => {
    const world = packWorld()
    world.pack.place = 'neither'
    await world.command('/pack save billing --plain')
    await world.turn(decided)
    await world.tell('session-started', { session: 't', source: 'startup', title: 'other' })
    await world.tell('turn-ended', { session: 't', turn: 1, reason: 'completed', answer: decided })
    expect(world.all('notify').filter(({ text }) => text.includes('outrigger pack private on'))).toHaveLength(1)
  })
})

describe('the stream of a session', () => {
  it('is the one a person named, else the one its title names, and a generated title names none', async () => {
    const world = packWorld()
    await world.tell('title-changed', { title: 'made-up', by: 'generated' })
    expect(await world.command('/pack save --plain')).toBe(
      'pack: which stream? /pack save <name> names one, so does a session title',
    )
    await world.tell('title-changed', { title: 'titled', by: 'person' })
    await world.command('/pack save --plain')
    await world.command('/pack save named --plain')
    await world.tell('title-changed', { title: 'again' })
    await world.command('/pack save --plain')
    expect(world.pack.saves.map(({ stream }) => stream)).toEqual(['titled', 'named', 'named'])
  })

  it('is dropped by a startup, a resume and a fork, and survives a clear under the new id', async () => {
    const world = packWorld()
    await world.command('/pack save named --plain')
    await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    await world.tell('turn-ended', { session: 'n', turn: 1, reason: 'completed', answer: decided })
    expect(world.pack.all.get('named')!.trailers).toHaveLength(1)
    await world.tell('session-started', { session: 'n', source: 'resume' })
    await world.tell('turn-ended', { session: 'n', turn: 2, reason: 'completed', answer: decided })
    expect(world.pack.all.get('named')!.trailers).toHaveLength(1)
  })
})

describe('/pack', () => {
  it('with a model writes the state, asks what to add, and goes fresh with the notes', async () => {
    const world = packWorld()
    const reply = await world.command('/pack billing')
    expect(reply).toBe('pack: saving "billing" in the background; the status line tells')
    expect(world.last('ask-model')).toMatchObject({
      prompt: 'prompt billing',
      mode: 'session',
      maxTokens: 4_000,
      timeoutMs: 120_000,
    })
    expect(world.status()).toBe('Saving "billing"… 0s')
    await world.pass(65_000)
    expect(world.status()).toBe('Saving "billing"… 1m 05s')
    await world.tell('model-answered', { ask: world.last('ask-model').id, text: 'GATE: ok' })
    expect(world.pack.saves.map(({ designation }) => designation?.kind)).toEqual([undefined, 'reply'])
    expect(world.last('start-fresh').seed).toMatchObject({ stream: 'billing', text: 'NOTES of billing r2' })
    expect(world.last('notify').text).toBe('"billing" saved, going to a fresh session')
    expect(world.status()).toBe('Opening a fresh session…')
    const pending = await world.store.get('pack/pending/s')
    expect(pending?.value).toMatchObject({ stream: 'billing', revision: 2, phase: 'armed', file: null })
  })

  it('asks without the conversation when it would not fit', async () => {
    const world = packWorld()
    await world.measured(90_000)
    await world.command('/pack billing')
    expect(world.last('ask-model').mode).toBe('aside')
  })

  it('--plain asks nobody, and neither does designate: off', async () => {
    const plain = packWorld()
    expect(await plain.command('/pack billing --plain')).toBe('pack: "billing" saved, going to a fresh session')
    const off = packWorld({ config: { designate: 'off' } })
    expect(await off.command('/pack billing')).toBe('pack: "billing" saved, going to a fresh session')
    expect([...plain.all('ask-model'), ...off.all('ask-model')]).toEqual([])
    expect(plain.all('start-fresh')).toHaveLength(1)
  })

  it('without a model opens the review: nothing clears', async () => {
    const world = packWorld({ without: ['ask-model'] })
    expect(await world.command('/pack billing')).toBe(
      `pack: "billing" saved without the model's notes (no-model); /pack --plain starts fresh with it, /pack cancel stays`,
    )
    expect(world.last('show-review').review).toMatchObject({
      title: 'pack: billing',
      buttons: [
        { label: 'continue', key: 'c', command: '/pack continue' },
        { label: 'stay', key: 'x', command: '/pack cancel' },
      ],
    })
    expect(world.all('start-fresh')).toEqual([])
    expect(await world.command('/pack')).toBe('pack: your choice first: continue [c] or stay [x]')
    expect(await world.command('/pack continue')).toBe('pack: "billing" saved, going to a fresh session')
    expect(world.all('start-fresh')).toHaveLength(1)
    expect(world.last('show-review').review).toBeNull()
  })

  it('says in words what the host has no room to show', async () => {
    const world = packWorld({ without: ['ask-model'] })
    await world.command('/pack billing')
    const before = world.all('notify').length
    await world.tell('action-failed', { action: world.last('show-review').id, reason: 'host:no room for the review' })
    const said = world.all('notify').slice(before)
    expect(said).toHaveLength(1)
    expect(said[0]!.text).toMatch(/\/pack continue goes on fresh, \/pack cancel stays$/)
    expect(await world.command('/pack cancel')).toMatch(/^pack: /)
    expect(world.all('start-fresh')).toEqual([])
  })

  it.each([
    ['fails', { kind: 'model-failed', reason: 'host:overloaded' }, 'host:overloaded'],
    ['never answers', { kind: 'model-failed', reason: 'timeout' }, 'timeout'],
  ])('saves without a model that %s, keeps its reason and opens the review', async (_, { kind, ...rest }, reason) => {
    const world = packWorld()
    await world.command('/pack billing')
    await world.tell(kind as 'model-failed', { ask: world.last('ask-model').id, ...rest })
    expect(world.pack.saves.at(-1)!.designation).toEqual({ kind: 'failed', reason })
    expect(world.all('start-fresh')).toEqual([])
    expect(world.all('show-review')).toHaveLength(1)
    expect(world.status()).toContain('⚠ notes of "billing" written, but no model; see status.md')
  })

  it('does not clear when the model says that it is in the middle of a step', async () => {
    const world = packWorld()
    world.pack.outcome = { designation: 'blocked', reason: 'comparing', outcome: 'degraded', notes: ['model-blocked'] }
    await world.command('/pack billing')
    await world.tell('model-answered', { ask: world.last('ask-model').id, text: 'GATE: blocked - comparing' })
    expect(world.all('start-fresh')).toEqual([])
    expect(world.status()).toContain('but model blocked: comparing; see status.md')
  })

  it('ignores an answer to an ask that is over', async () => {
    const world = packWorld()
    await world.command('/pack billing')
    const { id } = world.last('ask-model')
    expect(await world.command('/pack cancel')).toBe('pack: staying here; "billing" is saved')
    expect(world.last('cancel-model').ask).toBe(id)
    await world.tell('model-answered', { ask: id, text: 'GATE: ok' })
    expect(world.pack.saves).toHaveLength(1)
    expect(world.all('start-fresh')).toEqual([])
  })

  it('says busy while a save runs, and that a start is prepared when it is', async () => {
    const world = packWorld()
    await world.command('/pack billing')
    expect(await world.command('/pack save')).toBe('pack: busy: the last save is not through yet (see the status line)')
    await world.tell('model-answered', { ask: world.last('ask-model').id, text: 'GATE: ok' })
    expect(await world.command('/pack')).toBe('pack: a fresh start is prepared; /pack cancel undoes it')
    await world.command('/pack cancel')
    expect(await world.store.get('pack/pending/s')).toBeUndefined()
    expect(world.status()).toBeNull()
  })

  it('does not clear under a person who went on writing while the model was asked', async () => {
    const world = packWorld()
    await world.command('/pack billing')
    await world.tell('person-spoke', { text: 'one more thing' })
    await world.tell('model-answered', { ask: world.last('ask-model').id, text: 'GATE: ok' })
    expect(world.all('start-fresh')).toEqual([])
    expect(world.last('notify').text).toBe('staying here; "billing" is saved')
  })

  it('says that nothing was written when the disk is full, and stays', async () => {
    const world = packWorld()
    world.pack.broken = new OutriggerError('PACK_WRITE_FAILED', 'no space left', { exit: 3 })
    expect(await world.command('/pack billing')).toBe('pack: nothing written for "billing": no space left; staying here')
    expect(world.status()).toBe('⚠ nothing written for "billing": no space left')
    expect(world.all('start-fresh')).toEqual([])
  })

  it('hands nothing over that is not the person’s own', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    world.pack.all.get('billing')!.trust = 'changed'
    expect(await world.command('/pack --plain')).toBe(
      'pack: notes of "billing" were changed outside outrigger since 2026-01-02T03:04:05.000Z; read them, then /unpack billing --trust\n+ a line',
    )
    expect(world.all('start-fresh')).toEqual([])
  })

  it('for a goal seeds the hand-over file', async () => {
    const world = packWorld()
    await world.command('/pack billing --plain --for "the tests"')
    expect(world.pack.saves[0]).toMatchObject({ goal: 'the tests' })
    expect((await world.store.get('pack/pending/s'))?.value).toMatchObject({ file: 'h-1.md' })
    expect(world.last('start-fresh').seed.text).toBe('NOTES of billing r1 h-1.md')
  })

  it('save goes on in the background and its line stays until the end of the next turn of a person', async () => {
    const world = packWorld({ config: { designate: 'off' } })
    const reply = await world.command('/pack save billing')
    expect(reply).toMatch(/^pack: ✓ notes of "billing" written \d\d:\d\d: 120 chars, fidelity 100$/)
    await world.tell('turn-started', { turn: 9, by: 'goal' })
    await world.tell('turn-ended', { turn: 9, reason: 'completed', answer: '' })
    expect(world.status()).toContain('✓ notes of "billing"')
    await world.turn('')
    expect(world.status()).toBeNull()
  })

  it('keeps the line of a degraded save until the next command', async () => {
    const world = packWorld({ without: ['ask-model'] })
    await world.command('/pack save billing')
    await world.turn('')
    expect(world.status()).toBe('⚠ notes of "billing" written, but no model; see status.md')
    await world.command('/pack status')
    expect(world.status()).toBeNull()
  })

  it('says that it is the person’s turn when the door cannot start fresh', async () => {
    const world = packWorld({ without: ['start-fresh'] })
    await world.command('/pack billing --plain')
    await world.outrigger.idle()
    expect(world.status()).toBe('Your turn: /clear starts fresh, /pack cancel stays')
    expect((await world.store.get('pack/pending/s'))?.value).toMatchObject({ phase: 'armed' })
  })
})

describe('wrong use', () => {
  it.each([
    ['/pack --fast', 'pack: unknown option --fast'],
    ['/pack --review --yes', 'pack: --review and --yes contradict each other'],
    ['/pack --review --plain', 'pack: --review and --plain contradict each other'],
    ['/pack save --review', 'pack: --review goes with /pack alone'],
    ['/pack one two', 'pack: one stream at a time'],
    ['/pack save one two', 'pack: one stream at a time'],
    ['/pack cancel now', 'pack: cancel takes no arguments'],
    ['/pack continue now', 'pack: continue takes no arguments'],
    ['/pack auto maybe', 'pack: auto takes off or status'],
    ['/pack load billing', 'pack: a stream is loaded with /unpack <stream>'],
    ['/pack "open', 'pack: a quote is not closed'],
    ['/pack for', 'pack: for takes a goal: /pack for "the goal"'],
    ['/pack --for', 'pack: --for takes a goal: --for "the goal"'],
    ['/pack inbox', 'pack: the name "inbox" is taken'],
    ['/pack a.b', 'pack: "a.b" names no stream'],
    ['/pack', 'pack: which stream? /pack save <name> names one, so does a session title'],
    ['/unpack', 'unpack: which stream? /unpack <stream>'],
    ['/unpack a b', 'unpack: one stream at a time'],
    ['/unpack a --force', 'unpack: unknown option --force'],
    ['/unpack nowhere', 'unpack: no notes of "nowhere" in this project'],
    ['/pack continue', 'pack: nothing waits for a choice'],
    ['/pack cancel', 'pack: nothing is prepared and no save runs'],
  ])('%s is answered and does nothing', async (line, reply) => {
    const world = packWorld()
    expect(await world.command(line)).toBe(reply)
    expect(world.pack.saves).toEqual([])
    expect(world.asked.filter(({ action }) => action.kind !== 'reply')).toEqual([])
  })

  it('takes --yes and -y without an effect', async () => {
    const world = packWorld({ config: { designate: 'off' } })
    expect(await world.command('/pack billing --yes -y')).toBe('pack: "billing" saved, going to a fresh session')
  })
})

describe('a fresh session', () => {
  const prepared = async (config = {}) => {
    const world = packWorld({ config: { designate: 'off', ...config } })
    await world.command('/pack billing')
    return world
  }

  it('that a clear began gets the notes once, as they are now, and the stream', async () => {
    const world = await prepared()
    world.pack.all.get('billing')!.revision = 3
    const actions = await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toMatchObject([{ text: 'NOTES of billing r3', engine: 'pack' }])
    expect(world.last('notify').text).toBe('notes of "billing" loaded (revision 3; 1 was prepared)')
    expect(await world.store.get('pack/pending/s')).toBeUndefined()
    await world.tell('turn-ended', { session: 'n', turn: 1, reason: 'completed', answer: decided })
    expect(world.pack.all.get('billing')!.trailers).toHaveLength(1)
    const again = await world.tell('session-started', { session: 'm', source: 'clear', previous: 's' })
    expect(again.filter(({ kind }) => kind === 'add-context')).toEqual([])
  })

  it('is asked for as a turn of its own where the configuration says message', async () => {
    const world = await prepared({ reinject: 'message' })
    await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(world.last('submit')).toMatchObject({ text: 'NOTES of billing r1', as: 'plugin' })
    expect(world.all('add-context')).toEqual([])
  })

  it('gets a view within the room of its moment', async () => {
    const world = await prepared()
    await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(world.pack.loads.at(-1)!.room).toBe(60_000)
  })

  it('of somebody else, or of an unknown one, is only told that there is something', async () => {
    const world = await prepared()
    const actions = await world.tell('session-started', {
      session: 'n',
      source: 'clear',
      previous: 'other',
      at: world.time.clock.now(),
    })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toEqual([])
    await world.pass(120_000)
    await world.tell('session-started', { session: 'm', source: 'clear' })
    expect(world.last('notify').text).toBe(
      'stream "billing" was saved 2 min ago and its fresh start did not happen: /unpack billing',
    )
    await world.tell('session-started', { session: 'l', source: 'startup' })
    expect(world.all('notify').filter(({ text }) => text.includes('did not happen'))).toHaveLength(1)
    expect((await world.store.get('pack/pending/s'))?.value).toMatchObject({ phase: 'armed' })
  })

  it('after the time for it is told, not injected', async () => {
    const world = await prepared()
    await world.pass(601_000)
    const actions = await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toEqual([])
    expect(world.last('notify').text).toContain('its fresh start did not happen')
  })

  it('after a review that nobody answered gets nothing', async () => {
    const world = packWorld({ without: ['ask-model'] })
    await world.command('/pack billing')
    const actions = await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toEqual([])
    expect(await world.store.get('pack/pending/s')).toBeUndefined()
  })

  it('gets nothing of notes that were changed meanwhile, and is told why', async () => {
    const world = await prepared()
    world.pack.all.get('billing')!.trust = 'changed'
    const actions = await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toEqual([])
    expect(world.last('notify').text).toContain('read them, then /unpack billing --trust')
  })

  it('that could not take them yet gets them at the next moment that carries context', async () => {
    const world = await prepared()
    const [given] = (await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })).filter(
      ({ kind }) => kind === 'add-context',
    )
    await world.outrigger.failed(given!.id, 'over-budget')
    const actions = await world.tell('person-spoke', { session: 'n', text: 'go' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toMatchObject([{ text: 'NOTES of billing r1' }])
    expect(world.pack.loads.at(-1)!.room).toBe(9_800)
    const later = await world.tell('turn-started', { session: 'n', turn: 1, by: 'person' })
    expect(later.filter(({ kind }) => kind === 'add-context')).toEqual([])
  })

  it('in another session leaves the old one with nothing prepared', async () => {
    const world = await prepared()
    await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    await world.pass(5_000)
    expect(world.outrigger.status('s')).toBeNull()
  })

  it('is taught at its start only where the host has no other way', async () => {
    const taught = packWorld({ engine: { teachesAtStart: true } })
    await taught.tell('session-started', { source: 'startup' })
    expect(taught.last('add-context').text).toMatch(/^Work notes\. /)
    const not = packWorld()
    await not.tell('session-started', { source: 'startup' })
    expect(not.all('add-context')).toEqual([])
  })
})

describe('/unpack', () => {
  it('loads into this session and binds it', async () => {
    const world = packWorld()
    await world.pack.append('billing', [])
    expect(await world.command('/unpack billing')).toBe('unpack: notes of "billing" loaded')
    expect(world.last('add-context').text).toBe('NOTES of billing r0')
    await world.turn(decided)
    expect(world.pack.all.get('billing')!.trailers).toHaveLength(1)
  })

  it('--trust is a person’s word only', async () => {
    const world = packWorld()
    await world.pack.append('billing', [])
    world.pack.all.get('billing')!.trust = 'foreign'
    expect(await world.command('/unpack billing --trust', 'plugin')).toBe('unpack: only a person confirms notes')
    expect(await world.command('/unpack billing')).toBe(
      'unpack: notes of "billing" came with this folder and were not written here; read them, then /unpack billing --trust\n+ a line',
    )
    expect(world.all('add-context')).toEqual([])
    expect(await world.command('/unpack billing --trust')).toBe('unpack: notes of "billing" loaded')
  })
})

describe('the context fills', () => {
  it('at a seam advises once a cycle, and the percentage follows', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    await world.turn(decided)
    await world.turn(decided)
    await world.measured(52_000)
    expect(world.status()).toBe('A decision was made: a fresh start fits now (context 52%). /pack')
    await world.measured(58_000)
    expect(world.status()).toBe('A decision was made: a fresh start fits now (context 58%). /pack')
    await world.turn(closed)
    expect(world.status()).toBe('T12 is closed: a fresh start fits now (context 58%). /pack')
    expect(world.all('notify').filter(({ text }) => text.includes('fits now'))).toHaveLength(1)
    await world.measured(20_000)
    expect(world.status()).toBeNull()
  })

  it('near the wall saves once in the background and starts nothing', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    await world.measured(72_000)
    await world.tell('model-answered', { ask: world.last('ask-model').id, text: 'GATE: ok' })
    expect(world.status()).toBe('Notes were saved for you (context 72%). /pack goes on fresh')
    await world.measured(75_000)
    expect(world.pack.saves.filter(({ designation }) => designation !== undefined)).toHaveLength(1)
    expect(world.all('start-fresh')).toEqual([])
  })

  it('near the wall waits for the end of a turn', async () => {
    const world = packWorld({ config: { designate: 'off' } })
    await world.command('/pack save billing')
    await world.tell('turn-started', { turn: 1, by: 'person' })
    await world.measured(72_000)
    expect(world.pack.saves).toHaveLength(1)
    await world.tell('turn-ended', { turn: 1, reason: 'completed', answer: '' })
    expect(world.pack.saves).toHaveLength(2)
  })

  it('near the wall waits for what the session left running behind its turn', async () => {
    const world = packWorld({ config: { designate: 'off' } })
    await world.command('/pack save billing')
    await world.tell('work-changed', { jobs: 1 })
    await world.tell('turn-started', { turn: 1, by: 'person' })
    await world.measured(72_000)
    await world.tell('turn-ended', { turn: 1, reason: 'completed', answer: '' })
    expect(world.pack.saves).toHaveLength(1)
    await world.tell('work-changed', { jobs: 0 })
    expect(world.pack.saves).toHaveLength(2)
  })

  it('near the wall without a stream says that nothing is saved', async () => {
    const world = packWorld()
    await world.measured(72_000)
    expect(world.status()).toBe('Context at 72% and no stream named, nothing is saved: /pack save <name>')
    expect(world.all('notify')).toHaveLength(1)
  })

  it('that a save near the wall failed stands until it is tried again', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    world.pack.broken = new OutriggerError('PACK_WRITE_FAILED', 'no space left', { exit: 3 })
    await world.measured(72_000)
    expect(world.all('notify').at(-1)!.text).toBe('Saving failed at context 72% (no space left). /pack tries again')
  })

  it('leaves a line in the ledger with every measure', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    await world.measured(10_000, { compactsAt: 60_000 })
    const line = world.ledger.find(({ what }) => what === 'measured')
    expect(line).toMatchObject({
      reason: 'no-seam',
      detail: { percent: 10, tokens: 10_000, window: 100_000, compactsAt: 60_000, hardAt: 57_000, seam: 'none' },
    })
  })

  it('after a compaction saves and gives the notes again', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    const actions = await world.tell('compacted')
    expect(actions.filter(({ kind }) => kind === 'add-context')).toMatchObject([{ text: 'NOTES of billing r2' }])
    const off = packWorld({ config: { afterCompaction: false } })
    await off.command('/pack save billing --plain')
    expect((await off.tell('compacted')).filter(({ kind }) => kind === 'add-context')).toEqual([])
  })
})

describe('auto mode', () => {
  const near = async (config = {}) => {
    const world = packWorld({ config: { designate: 'off', ...config } })
    await world.command('/pack save billing')
    expect(await world.command('/pack auto')).toBe('pack: auto mode on')
    await world.turn('')
    await world.measured(72_000)
    return world
  }

  it('is switched by a person only', async () => {
    const world = packWorld()
    expect(await world.command('/pack auto', 'plugin')).toBe('pack: only a person switches auto mode')
    expect(await world.command('/pack auto status')).toBe('pack: auto mode off')
    await world.command('/pack auto')
    expect(world.status()).toBe('auto')
    expect(await world.command('/pack auto off')).toBe('pack: auto mode off')
    expect(world.status()).toBeNull()
  })

  it('near the wall saves, counts down, and goes fresh', async () => {
    const world = await near()
    expect(world.status()).toBe('"billing" goes to a fresh session in 10 s (context 72%). Typing or /pack cancel stops it · auto')
    await world.pass(4_000)
    expect(world.status()).toContain('in 6 s')
    expect(world.all('start-fresh')).toEqual([])
    await world.pass(6_000)
    expect(world.all('start-fresh')).toHaveLength(1)
    expect(world.status()).toBe('Opening a fresh session… · auto')
  })

  it.each([
    ['words', 'person-spoke', { text: 'wait' }],
    ['typing', 'draft-changed', { empty: false }],
  ] as const)('is stopped by %s, and rests until the context has room again', async (_, kind, rest) => {
    const world = await near()
    await world.tell(kind, rest)
    await world.pass(20_000)
    expect(world.all('start-fresh')).toEqual([])
    expect(world.status()).toBe('Notes were saved for you (context 72%). /pack goes on fresh · auto')
    expect(await world.store.get('pack/pending/s')).toBeUndefined()
    await world.turn('')
    await world.pass(20_000)
    expect(world.all('start-fresh')).toEqual([])
    await world.measured(10_000)
    await world.measured(73_000)
    await world.pass(20_000)
    expect(world.all('start-fresh')).toHaveLength(1)
  })

  it('is stopped by /pack cancel', async () => {
    const world = await near()
    expect(await world.command('/pack cancel')).toBe('pack: staying here; "billing" is saved')
    await world.pass(20_000)
    expect(world.all('start-fresh')).toEqual([])
  })

  it('tries again at the end of a turn that somebody else began', async () => {
    const world = await near()
    await world.tell('turn-started', { turn: 9, by: 'goal' })
    await world.pass(20_000)
    expect(world.all('start-fresh')).toEqual([])
    await world.tell('turn-ended', { turn: 9, reason: 'completed', answer: '' })
    await world.pass(20_000)
    expect(world.all('start-fresh')).toHaveLength(1)
  })

  it('does not clear twice when a person cleared during the countdown', async () => {
    const world = await near()
    const actions = await world.tell('session-started', { session: 'n', source: 'clear', previous: 's' })
    expect(actions.filter(({ kind }) => kind === 'add-context')).toHaveLength(1)
    await world.pass(20_000)
    expect(world.all('start-fresh')).toEqual([])
  })

  it('gives up after its tries, each told in the line', async () => {
    const world = packWorld({ without: ['ask-model'], config: { auto: { graceMs: 10_000, tries: 2 } } })
    await world.command('/pack save billing')
    await world.command('/pack auto')
    await world.measured(72_000)
    expect(world.status()).toBe('Saving failed at context 72% (no-model). /pack tries again · auto')
    await world.turn('')
    const { length } = world.pack.saves
    await world.turn('')
    expect(world.pack.saves).toHaveLength(length)
    await world.measured(73_000)
    expect(world.ledger.at(-1)).toMatchObject({ reason: 'left-to-auto+auto-spent' })
  })

  it('holds the loop while it is about to clear', async () => {
    const next = fakeEngine('next')
    const world = packWorld({ config: { designate: 'off' }, beside: [next] })
    await world.command('/pack save billing')
    await world.command('/pack auto')
    await world.turn('')
    next.heard.length = 0
    await world.measured(72_000)
    expect(next.heard.map(({ event, busy }) => [event.kind, busy.includes('other-loop')])).toEqual([
      ['work-changed', true],
      ['context-measured', true],
    ])
    await world.command('/pack cancel')
    expect(next.heard.at(-1)!.busy).not.toContain('other-loop')
  })

  it('during a turn at the very wall saves and clears nothing', async () => {
    const world = packWorld({ config: { designate: 'off' } })
    await world.command('/pack save billing')
    await world.command('/pack auto')
    await world.tell('turn-started', { turn: 1, by: 'person' })
    await world.measured(80_000, { compactsAt: 90_000 })
    expect(world.pack.saves).toHaveLength(1)
    await world.measured(86_000, { compactsAt: 90_000 })
    expect(world.pack.saves).toHaveLength(2)
    expect(world.all('start-fresh')).toEqual([])
  })
})

describe('a host that is about to compact', () => {
  it('has the notes saved without a model, and is answered nothing', async () => {
    const world = packWorld()
    await world.command('/pack save billing --plain')
    const replies = world.all('reply').length
    await world.tell('command-run', { name: 'pack', args: 'save --plain', by: 'host' })
    expect([world.pack.saves.length, world.all('reply').length, world.all('ask-model').length]).toEqual([2, replies, 0])
  })

  it('leaves nothing behind where there is no stream', async () => {
    const world = packWorld()
    await world.tell('command-run', { name: 'pack', args: 'save --plain', by: 'host' })
    expect([world.asked, world.ledger, await world.store.list('')]).toEqual([[], [], []])
  })
})
