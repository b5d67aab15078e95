/**
 * The Claude Code door: translates the host's events, posts them to the engine process of the project, and
 * carries out the actions in the answer. Decides nothing.
 *
 * Rules of the host for this file: `$` is only ever written as `$.noun.verb(…)` and passed to function
 * declarations of this same file; event names are literals that the oldest supported program knows.
 */
import { eventsOf, type HostEvent as HookName } from '../../hook/translate.ts'
import { plainScreen, screen } from '../../pack/screen.ts'
import type { Action, ActionOf } from '../../session/actions.ts'
import type { AgentRef, SessionEvent } from '../../session/events.ts'
import type { Host, HostEvent, Next, On, Result } from './host.ts'
import { band, forgetNext, isArmed, lookAtBox, showNext, suggested, type Ways } from './next.ts'
import * as from from './translate.ts'

/** Where the engine process listens; empty: not found yet, or gone. */
let socket = ''
/** Root of the project, as the engine process names it. */
let project = ''
let starting: Promise<void> | null = null
/** A start that failed is not tried again before this time; a command of a person tries at once. */
let retryAt = 0
let whyNot: unknown
/** Answers that did not come in their time, one after the other. */
let lateInARow = 0
let connection = ''
let hostVersion = '0'
let hasToldMissing = false
/** This module tells the engines what happens; else our command hooks do. */
let isOurs = false
/** Sequence of what was carried out of the process's own accord. */
let taken = 0
/** Whose actions `taken` counts. */
let polled = ''
let isPolling = false
const registered = new Set<string>()

let hasSpoken = false
let title = ''
let ended = ''
let isCleared = false
let compactsAt: number | undefined
let hasAskedCompaction = false
/** The host was going to wake the session by itself when the last turn ended. */
let hadOtherLoop = false
const answers = new Map<string, string[]>()
const stopReasons = new Map<string, string>()
interface Submission {
  readonly offer: string
  readonly as: 'plugin' | 'person'
  readonly text: string
  /** It stood before the host's last veto. */
  isAsked: boolean
  /** We stopped it ourselves: nobody is told that the host did. */
  isStopped: boolean
}
/** Our submissions that wait for their turn, in order. */
let submissions: readonly Submission[] = []
const cancelled = new Set<string>()

let review: ActionOf<'show-review'>['review'] = null
const opened = new Set<string>()

const reviewPane = 'outrigger-review'
const retryMs = 30_000
const maxLate = 2
const pollPauseMs = 2_000

// ---- the engine process -------------------------------------------------------------------

async function program($: Host): Promise<readonly string[]> {
  const stated = await $.env.get('OUTRIGGER_BIN')
  if (stated !== undefined && stated !== '') return /\.[mc]?js$/.test(stated) ? ['node', stated] : [stated]
  for (const place of ['/bin/outrigger.mjs', '/../cli/main.js']) {
    const path = `${$.plugin.root}${place}`
    if (await $.fs.exists(path)) return ['node', path]
  }
  return ['outrigger']
}

async function start($: Host): Promise<void> {
  try {
    hostVersion = (await $.session.version()).version
  } catch {
    // An older program.
  }
  const argv = [...(await program($)), 'serve', '--detach']
  const cwd = await $.session.root()
  const ran = await $.process.run(argv, { cwd, timeoutMs: 8_000 })
  if (ran.exitCode !== 0) throw new Error(from.whyNotStarted(ran))
  const running = JSON.parse(ran.stdout) as { readonly socket: string }
  const health = await $.http.fetch('http://outrigger/health', {
    method: 'GET',
    headers: headers(),
    socketPath: running.socket,
  })
  if (!health.ok) throw new Error(health.text.slice(0, 300))
  project = (JSON.parse(health.text) as { readonly project: string }).project
  socket = running.socket
}

/** One start at a time; whoever comes meanwhile waits for it. After one that failed the session goes on without for a while. */
async function connect($: Host): Promise<void> {
  if (socket !== '') return
  if (Date.now() < retryAt) throw whyNot
  starting ??= start($).finally(() => {
    starting = null
  })
  try {
    await starting
  } catch (error) {
    await giveUp($, error)
    throw error
  }
}

function headers(): Record<string, string> {
  if (connection === '') connection = crypto.randomUUID()
  return {
    'content-type': 'application/json',
    'outrigger-protocol': '1',
    'outrigger-door': `claude-code/${hostVersion} ${connection}`,
  }
}

/** How long the host waits for what the engines say to an event; ms. What comes later goes to the next moment that can carry it. */
function limitOf({ kind }: SessionEvent): number {
  if (kind === 'session-started' || kind === 'turn-ending') return 9_000
  if (kind === 'person-spoke' || kind === 'turn-started' || kind === 'turn-starting') return 2_000
  return kind === 'command-run' || kind === 'model-answered' ? 20_000 : 1_000
}

/** A process that hangs must not hang the host: the host's own limit is half a minute. */
async function post($: Host, event: SessionEvent): Promise<readonly Action[]> {
  const limitMs = limitOf(event)
  let stop = (): void => {}
  const late = new Promise<never>((_, reject) => {
    stop = () => reject(new Error(`no answer within ${limitMs} ms`))
  })
  late.catch(() => undefined)
  const timer = $.clock.after(limitMs, () => stop())
  try {
    const actions = await Promise.race([fetchActions($, event), late])
    lateInARow = 0
    return actions
  } catch (error) {
    if (!String(error).includes('no answer within')) throw error
    lateInARow += 1
    // Once may be a busy machine.
    if (lateInARow >= maxLate) await giveUp($, error)
    throw error
  } finally {
    timer?.cancel?.()
  }
}

/** The session goes on without for a while, with what the command hooks can do. */
async function giveUp($: Host, error: unknown): Promise<void> {
  lateInARow = 0
  forgetProcess()
  retryAt = Date.now() + retryMs
  whyNot = error
  await handOver($)
  await missing($, error)
}

async function fetchActions($: Host, event: SessionEvent): Promise<readonly Action[]> {
  const answer = await $.http.fetch('http://outrigger/event', {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(event),
    socketPath: socket,
  })
  if (!answer.ok) throw new Error(answer.text.slice(0, 300))
  return (JSON.parse(answer.text) as { readonly actions: readonly Action[] }).actions
}

/** The process has gone; the next one counts anew. */
function forgetProcess(): void {
  socket = ''
  taken = 0
}

const isGone = (error: unknown): boolean => /ENOENT|ECONNREFUSED|ECONNRESET|closed/i.test(String(error))

/** The actions that the engines ask for. A process that died is started again, once an event. Throws when there is none. */
async function tell($: Host, make: (place: from.Place) => SessionEvent): Promise<readonly Action[]> {
  await connect($)
  const event = make({ session: await $.session.id(), project, at: await $.clock.now() })
  try {
    return await post($, event)
  } catch (error) {
    if (!isGone(error)) throw error
    forgetProcess()
    await connect($)
    return post($, { ...event, project })
  }
}

/** Tell and carry out what needs no moment of the host; the rest is in the answer. What the host refuses to show keeps nobody from the rest. */
async function say($: Host, make: (place: from.Place) => SessionEvent): Promise<readonly Action[]> {
  const actions = await tell($, make)
  for (const action of actions) await carryOut($, action)
  return actions
}

async function carryOut($: Host, action: Action): Promise<void> {
  try {
    await carry($, action)
  } catch (error) {
    await failed($, action.id, error)
  }
}

/** The host keeps what the session before showed. */
async function wipe($: Host): Promise<void> {
  try {
    await $.ui.status(undefined)
  } catch {
    // It shows none.
  }
}

/** From here on this module speaks, and our command hooks, which would say the same, leave at once. */
async function takeOver($: Host): Promise<void> {
  if (isOurs) return
  isOurs = true
  await $.env.set('OUTRIGGER_MOD', '1')
}

/** Without the engine process the command hooks do what they can, until a prompt finds one. */
async function handOver($: Host): Promise<void> {
  if (!isOurs) return
  isOurs = false
  await $.env.set('OUTRIGGER_MOD', '')
}

/** Told once, and shown for as long as it is so: the person reads what is missing and what to do about it, the session goes on. */
async function missing($: Host, error: unknown): Promise<void> {
  try {
    await $.ui.status('no engine process')
    if (hasToldMissing) return
    hasToldMissing = true
    await $.ui.toast(`outrigger: ${from.troubleOf(error)}`, { timeoutMs: 12_000 })
    await $.ui.log(from.troubleOf(error), { to: 'debug' })
  } catch {
    // Nothing to show it on.
  }
}

// ---- actions ------------------------------------------------------------------------------

async function carry($: Host, action: Action): Promise<void> {
  switch (action.kind) {
    case 'notify':
      // A toast has one line, and so has a line of the transcript; what has more goes there, on the screen only.
      if (action.text.includes('\n')) for (const line of action.text.split('\n').filter(each => each !== '')) await $.ui.log(line)
      else await $.ui.toast(action.text, { timeoutMs: Math.min(Math.max(action.ms ?? 4_000, 1_000), 60_000) })
      return
    case 'status':
      await $.ui.status(from.statusText(action.text))
      return
    case 'show-offer':
      await showNext($, action, ways($))
      return
    case 'withdraw':
      for (const each of submissions) if (each.offer === action.offer) each.isStopped = true
      return
    case 'show-review':
      await showReview($, action.review)
      return
    case 'submit':
      $.clock.after(50, () => submit($, action))
      return
    case 'start-fresh':
      $.clock.after(50, () => startFresh($, action))
      return
    case 'ask-model':
      $.clock.after(1, () => askModel($, action))
      return
    case 'cancel-model':
      cancelled.add(action.ask)
      return
    default:
      return
  }
}

/** What the engines answer to it is carried out once: a second refusal is the end of it. */
async function failed($: Host, action: string, error: unknown): Promise<void> {
  const reason = `host:${String((error as Error | undefined)?.message ?? error).slice(0, 200)}`
  const actions = await tell($, place => ({ ...place, kind: 'action-failed', action, reason })).catch(() => [])
  for (const each of actions) await carry($, each).catch(() => undefined)
}

async function submit($: Host, { id, offer = id, as, text }: ActionOf<'submit'>): Promise<void> {
  const ours: Submission = { offer, as, text, isAsked: false, isStopped: false }
  submissions = [...submissions, ours]
  try {
    const { drop } = await $.prompt.submit({ text, ...(as === 'person' && { asUser: true }) })
    if (drop !== undefined && !ours.isStopped) await say($, place => ({ ...place, kind: 'submit-failed', offer, message: drop }))
  } catch (error) {
    await say($, place => ({ ...place, kind: 'submit-failed', offer, message: String(error).slice(0, 200) })).catch(() => [])
  } finally {
    submissions = submissions.filter(each => each !== ours)
  }
}

async function startFresh($: Host, action: ActionOf<'start-fresh'>): Promise<void> {
  try {
    await $.command.run({ command: 'clear' })
  } catch (error) {
    await failed($, action.id, error)
  }
}

async function askModel($: Host, action: ActionOf<'ask-model'>): Promise<void> {
  const { id: ask, prompt, system, model, maxTokens, timeoutMs } = action
  const answer = await (action.mode === 'session'
    ? $.model.fork({ prompt: system === undefined ? prompt : `${system}\n\n${prompt}` })
    : $.model.complete({
        model: modelName(model),
        prompt,
        maxTokens,
        timeoutMs,
        ...(system !== undefined && { system }),
      })
  ).catch((error: unknown) => ({ isAnswered: false, reason: String(error).slice(0, 200) }) as const)
  const isCancelled = cancelled.delete(ask)
  // A loop that gave the call up goes on when it is over, not by its own clock.
  if (isCancelled && action.engine !== 'next') return
  await say($, place =>
    answer.isAnswered && !isCancelled
      ? { ...place, kind: 'model-answered', ask, text: answer.text, ...from.usageOf(answer) }
      : { ...place, kind: 'model-failed', ask, reason: isCancelled || answer.isAnswered ? 'canceled' : answer.reason },
  ).catch(() => [])
}

/** The host knows models by their own names; ours are `provider/model`. */
function modelName(model: string | undefined): string {
  if (model === undefined || model === '') return 'haiku'
  const at = model.indexOf('/')
  return at < 0 ? model : model.slice(at + 1)
}

async function showReview($: Host, next: ActionOf<'show-review'>['review']): Promise<void> {
  const before = review
  review = next
  if (next === null) {
    if (before !== null) await $.ui.close({ id: reviewPane })
    return
  }
  const { isPlaced } = await $.ui.open({ id: reviewPane, title: next.title, focus: true, closeOnEscape: true })
  if (!isPlaced) {
    review = null
    throw new Error('no room for the review')
  }
  await $.ui.invalidate('ui.render')
}

// ---- what the process asks of its own accord ----------------------------------------------

/**
 * One long poll after another, in a timer's function: waiting costs nothing there. A process that ended because nobody needed it
 * is not started for this: the next event does.
 */
async function poll($: Host): Promise<void> {
  if (isPolling) return
  isPolling = true
  try {
    while (socket !== '') await pollOnce($)
  } catch (error) {
    if (isGone(error)) forgetProcess()
  } finally {
    isPolling = false
    $.clock.after(pollPauseMs, () => poll($))
  }
}

async function pollOnce($: Host): Promise<void> {
  const session = await $.session.id()
  if (session !== polled) taken = 0
  polled = session
  const answer = await $.http.fetch(`http://outrigger/wait?session=${encodeURIComponent(session)}&after=${taken}`, {
    method: 'GET',
    headers: headers(),
    socketPath: socket,
  })
  if (!answer.ok) throw new Error(answer.text.slice(0, 300))
  const { actions } = JSON.parse(answer.text) as {
    readonly actions: readonly { readonly seq: number; readonly action: Action }[]
  }
  for (const { seq, action } of actions) {
    taken = seq
    await carryOut($, action)
    if (action.kind === 'status' && action.urgent === true) await lookAtDraft($).catch(() => undefined)
  }
}

/** While something counts down, a person who types ends it. */
async function lookAtDraft($: Host): Promise<void> {
  const { text } = await $.prompt.read()
  await say($, place => ({ ...place, kind: 'draft-changed', empty: text.trim() === '' }))
}

async function listAgents($: Host): Promise<void> {
  const rows = await $.agent.list().catch(() => [])
  const agents: readonly AgentRef[] = rows.map(({ id, type, status, name, description }) => ({
    id,
    type,
    status,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  }))
  await say($, place => ({ ...place, kind: 'agents-listed', agents }))
}

// ---- moments of the host ------------------------------------------------------------------

/** Events that command hooks hear in the same form. */
function translated(name: HookName, e: HostEvent, place: from.Place): readonly SessionEvent[] {
  return eventsOf(
    name,
    { ...e, session_id: place.session },
    { project: place.project, at: place.at, newId: () => crypto.randomUUID() },
  )
}

/** Where nothing draws nobody presses, and nobody is there to stop what goes on by itself. `undefined`: the host does not say. */
async function isInteractive($: Host): Promise<boolean | undefined> {
  try {
    return (await $.session.surfaces()).length > 0
  } catch {
    return undefined
  }
}

async function started($: Host, e: HostEvent): Promise<readonly Action[]> {
  // Only the session that was cleared to make this one is the one before it.
  const previous = isCleared && from.textOf(e['source']) === 'clear' ? ended : ''
  forgetNext()
  const interactive = await isInteractive($)
  await wipe($)
  title = from.textOf(e['session_title'])
  hasAskedCompaction = false
  answers.clear()
  const actions = await say($, place => {
    const [event] = translated('SessionStart', e, place)
    return event?.kind === 'session-started'
      ? {
          ...event,
          mounted: true,
          starter: true,
          root: place.project,
          ...(interactive !== undefined && { interactive }),
          ...(previous !== '' && { previous }),
        }
      : event!
  })
  isCleared = false
  return actions
}

async function titled($: Host, e: HostEvent): Promise<void> {
  const now = from.textOf(e['session_title'])
  if (now === '' || now === title) return
  title = now
  await say($, place => ({ ...place, kind: 'title-changed', title: now }))
}

async function prompted($: Host, e: HostEvent, next: Next): Promise<Result> {
  if (!isOurs) return next(e)
  const text = from.textOf(e['prompt'])
  const ours = submissions.find(each => each.text === text && !each.isAsked)
  if (ours === undefined) {
    await titled($, e)
    return next(e)
  }
  ours.isAsked = true
  if (ours.isStopped) return { block: 'outrigger took this prompt back' }
  if (ours.as === 'plugin') await lookAtBox($, ways($)).catch(() => undefined)
  const actions = await say($, place => ({ ...place, kind: 'turn-starting', offer: ours.offer }))
  const verdict = actions.find(action => action.kind === 'verdict')
  if (verdict?.admit === false) {
    ours.isStopped = true
    return { block: verdict.why }
  }
  return from.withContext(await next(e), actions)
}

async function stopped($: Host, e: HostEvent, next: Next): Promise<Result> {
  if (!isOurs) return next(e)
  const result = await next(e)
  const make = (place: from.Place): readonly SessionEvent[] => translated('Stop', e, place)
  const otherLoop = from.wakesItself(e)
  // The engines' own flows say the same of themselves: what nobody said is not taken back.
  const scheduled = otherLoop || hadOtherLoop ? { otherLoop } : {}
  hadOtherLoop = otherLoop
  await say($, place => ({ ...make(place)[0]!, ...scheduled }) as SessionEvent)
  await listAgents($)
  return from.withHold(result, await say($, place => make(place)[1]!))
}

async function completed($: Host, e: HostEvent): Promise<void> {
  const turnId = from.textOf(e['turnId'])
  const agent = from.textOf(e['agentId'])
  const answer = from.textOf(e['answer'])
  const earlier = (answers.get(turnId) ?? []).filter(text => text !== answer)
  const reason = from.endOf(e, stopReasons.get(turnId) ?? '')
  answers.delete(turnId)
  stopReasons.delete(turnId)
  if (agent === '' && isArmed()) await lookAtBox($, ways($)).catch(() => undefined)
  await say($, place => ({
    ...place,
    kind: 'turn-ended',
    turn: 0,
    turnId,
    reason,
    answer,
    ...(earlier.length > 0 && { earlier }),
    ...from.usageOf(e),
    ...(agent !== '' && { agent }),
  }))
}

async function measured($: Host, e: HostEvent): Promise<void> {
  const { tokens, window } = (e['context'] ?? {}) as { tokens?: number; window?: number }
  if (!hasAskedCompaction && tokens !== undefined && window !== undefined && window > 0 && tokens / window >= 0.35) {
    hasAskedCompaction = true
    compactsAt = from.compactsAtOf(await $.session.usage({ breakdown: 'summary' }).catch(() => ({})))
  }
  await connect($)
  const event = from.measured({ session: await $.session.id(), project, at: await $.clock.now() }, e, compactsAt)
  if (event !== undefined) await say($, () => event)
}

async function command($: Host, e: HostEvent, next: Next): Promise<Result> {
  const name = from.textOf(e['command']).replace(/^outrigger:/, '')
  if (!registered.has(name)) return next(e)
  retryAt = 0
  const actions = await say($, place => ({ ...place, kind: 'command-run', name, args: from.textOf(e['args']), by: 'person' }))
  const reply = actions.find((action): action is ActionOf<'reply'> => action.kind === 'reply')
  return { text: reply?.text ?? 'no answer yet; see the status line', isTextDisplayOnly: true }
}

async function registerCommands($: Host): Promise<void> {
  for (const [name, { description, argumentHint }] of Object.entries(from.commands)) {
    try {
      await $.command.register({
        name,
        description,
        ...(argumentHint !== '' && { argumentHint }),
        // A loop is ended while its turn runs, not behind it.
        ...(name === 'next' && { immediate: true }),
      })
      registered.add(name)
    } catch (error) {
      // The person or the project has a command of that name: theirs stays.
      await $.ui.log(`/${name} is taken: ${String(error)}`, { to: 'debug' })
    }
  }
}

/** A button of the band: what it stands for, as if the person had typed it. Only what is refused is worth a word. */
async function press($: Host, args: string): Promise<void> {
  const actions = await say($, place => ({ ...place, kind: 'command-run', name: 'next', args, by: 'person' }))
  const reply = actions.find((action): action is ActionOf<'reply'> => action.kind === 'reply')
  if (reply?.ok === false) await $.ui.toast(reply.text.slice(0, 300), { timeoutMs: 8_000 })
}

function ways($: Host): Ways {
  return {
    press: args => press($, args),
    drafted: empty => say($, place => ({ ...place, kind: 'draft-changed', empty })),
  }
}

async function choose($: Host, typed: string): Promise<void> {
  const [, name = '', args = ''] = /^\/?(\S+)\s*(.*)$/s.exec(typed) ?? []
  const actions = await say($, place => ({ ...place, kind: 'command-run', name, args, by: 'person' }))
  const reply = actions.find((action): action is ActionOf<'reply'> => action.kind === 'reply')
  if (reply !== undefined) await $.ui.toast(reply.text.slice(0, 300), { timeoutMs: 8_000 })
}

// ---- drawing ------------------------------------------------------------------------------

function pane($: Host, e: HostEvent, next: Next): Result | Promise<Result> {
  if (review === null) return next(e)
  const { Box, Text, Button } = $.ui.resolve(e)
  const { title, markdown, buttons } = review
  return h(
    Box,
    { flexDirection: 'column' },
    // On top: the text may be longer than the pane.
    h(
      Box,
      { flexDirection: 'row' },
      h(Text, { bold: true }, `${title}  `),
      ...buttons.map(({ label, key, command: typed }) =>
        h(Button, { key, label: `${label} `, hotkey: key, onPress: () => choose($, typed) }),
      ),
    ),
    ...['', ...markdown.split('\n')].map(line => h(Text, null, line === '' ? ' ' : line)),
  ) as Result
}

/** Checkpoints are for the journal: on screen they are one pressable line. What is stored stays as it is. */
function message($: Host, e: HostEvent, next: Next): Result | Promise<Result> {
  const props = (e['props'] ?? {}) as Readonly<Record<string, unknown>>
  const text = from.textOf(props['text'])
  if (!text.includes('<!-- ckpt')) return next(e)
  const shown = screen(text, true)
  if (shown.hidden === 0) return next(e)
  if (text.length > 10_000) return next({ ...e, props: { ...props, text: plainScreen(text) } })
  const id = from.textOf(e['requestId']) || text.slice(0, 200)
  const isOpen = opened.has(id)
  const line = `${isOpen ? '▾' : '▸'} ckpt: ${shown.kinds.join(', ')}`
  const { Box, Text, Button } = $.ui.resolve(e)
  const toggle = (): unknown => {
    if (!opened.delete(id)) opened.add(id)
    return $.ui.invalidate('ui.render')
  }
  return Promise.resolve(next({ ...e, props: { ...props, text: shown.text } })).then(
    drawn =>
      h(
        Box,
        { flexDirection: 'column' },
        drawn,
        h(Button, { key: `ckpt-${id.slice(0, 40)}`, label: line, plain: true, onPress: toggle }),
        ...(isOpen ? [h(Text, { dimColor: true }, text)] : []),
      ) as Result,
  )
}

// ---- registration -------------------------------------------------------------------------

export function register(on: On): void {
  on('session.start', async ($, e, next) => {
    await registerCommands($)
    // A timer that waits would keep a program alive that only prints one answer.
    if (e['isInteractive'] === true) $.clock.after(100, () => poll($))
    return next(e)
  }).catch((_$, e, next) => next(e))

  on('classic.SessionStart', async ($, e, next) => {
    const actions = await started($, e)
    // Our command hooks run inside `next`.
    await takeOver($)
    return from.withWatches(from.withContext(await next(e), actions), actions)
  }).catch((_$, e, next) => next(e))

  on('classic.FileChanged', async ($, e, next) => {
    if (!isOurs) return next(e)
    await say($, place => translated('FileChanged', e, place)[0]!)
    return next(e)
  }).catch((_$, e, next) => next(e))

  on('prompt.submit', async ($, e, next) => {
    if (!from.isPerson(e)) return next(e)
    hasSpoken = true
    const text = from.textOf(e['text'])
    const texts = from.contextsOf(await say($, place => ({ ...place, kind: 'person-spoke', text })))
    await takeOver($)
    if (texts.length === 0) return next(e)
    return next({ ...e, context: [...((e['context'] as readonly unknown[] | undefined) ?? []), ...texts] })
  }).catch((_$, e, next) => next(e))

  on('classic.UserPromptSubmit', prompted).catch((_$, e, next) => next(e))

  on('turn.start', async ($, e, next) => {
    if (isOurs && e['agentId'] === undefined) {
      const offered = hasSpoken ? undefined : submissions.find(each => each.isAsked && !each.isStopped)
      const by = from.starter(hasSpoken, offered?.as)
      hasSpoken = false
      const turnId = from.textOf(e['turnId'])
      await say($, place => ({
        ...place,
        kind: 'turn-started',
        turn: 0,
        turnId,
        by,
        ...(offered !== undefined && { offer: offered.offer }),
      }))
    }
    return next(e)
  }).catch((_$, e, next) => next(e))

  on('classic.PostToolUse', async ($, e, next) => {
    if (!isOurs) return next(e)
    const result = await next(e)
    return from.withContext(result, await say($, place => translated('PostToolUse', e, place)[0]!))
  }).catch((_$, e, next) => next(e))

  on('classic.PostToolUseFailure', async ($, e, next) => {
    if (!isOurs) return next(e)
    const result = await next(e)
    return from.withContext(result, await say($, place => translated('PostToolUseFailure', e, place)[0]!))
  }).catch((_$, e, next) => next(e))

  on('classic.Stop', stopped).catch((_$, e, next) => next(e))

  on('turn.step', async function* (_$, e, next) {
    const step = yield* next(e)
    const turnId = from.textOf(e['turnId'])
    const answer = from.textOf(step['answer'])
    if (answer !== '') answers.set(turnId, [...(answers.get(turnId) ?? []), answer])
    stopReasons.set(turnId, from.textOf(step['stopReason']))
    return step
  }).catch(async function* (_$, e, next) {
    return yield* next(e)
  })

  on('turn.complete', async ($, e, next) => {
    if (isOurs) await completed($, e)
    return next(e)
  }).catch((_$, e, next) => next(e))

  on('session.measure', async ($, e, next) => {
    if (isOurs) await measured($, e)
    return next(e)
  }).catch((_$, e, next) => next(e))

  on('session.end', async ($, e, next) => {
    const reason = from.textOf(e['reason'])
    ended = from.textOf(e['sessionId'])
    isCleared = reason === 'clear'
    // A process that ended because nobody needed it is not started for a farewell: the host waits only a moment.
    if (!isOurs || socket === '') return next(e)
    const session = ended === '' ? await $.session.id() : ended
    await post($, { session, project, at: await $.clock.now(), kind: 'session-ended', reason })
    return next(e)
  }).catch((_$, e, next) => next(e))

  // The server lives longer than a session: each call says whose it is.
  on('tool.call', { tool: /^mcp__plugin_outrigger_outrigger__/ }, async ($, e, next) =>
    next({ ...e, session: e['session'] ?? (await $.session.id()) }),
  ).catch((_$, e, next) => next(e))

  on(
    'command.run',
    {
      command: [
        'keel',
        'pack',
        'unpack',
        'next',
        'outrigger',
        'outrigger:keel',
        'outrigger:pack',
        'outrigger:unpack',
        'outrigger:next',
        'outrigger:outrigger',
      ],
    },
    command,
  ).catch((_$, e, next) => (next.called === true ? next(e) : { text: from.troubleOf(next.error?.message ?? 'unknown') }))

  on('ui.render', { component: 'AbovePrompt' }, ($, e, pass) => band($, e, pass, ways($))).catch((_$, e, pass) => pass(e))
  on('prompt.suggest', (_$, e, pass) => suggested(e, pass)).catch((_$, e, pass) => pass(e))
  on('ui.render', { component: 'Pane', requestId: reviewPane }, pane).catch((_$, e, next) => next(e))
  on('ui.render', { component: 'AssistantMessage' }, message).catch((_$, e, next) => next(e))

  // Closing the review by hand is staying.
  on('ui.close', { id: reviewPane }, async ($, e, next) => {
    const by = (e['origin'] as { kind?: unknown } | undefined)?.kind
    if (review !== null && by === 'person') {
      review = null
      await choose($, '/pack cancel')
    }
    return next(e)
  }).catch((_$, e, next) => next(e))
}
