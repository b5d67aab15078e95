/** The commands `/pack` and `/unpack`. Wrong use is answered, and nothing is done. */
import { OutriggerError } from '../../errors.ts'
import type { EventOf } from '../../session/events.ts'
import { cutEnd } from '../../text/data.ts'
import { type PackRequest, parsePack, parseUnpack } from '../command-line.ts'
import { replies, whichStream } from '../messages.ts'
import type { Moment } from '../moment.ts'
import { renderDiff, renderList, renderShow } from '../session-texts.ts'
import { hardAt } from '../zones.ts'
import { flush } from './capture.ts'
import { adviseSaved } from './flow.ts'
import { goOn, look, stay } from './fresh.ts'
import { startSave } from './saving.ts'
import { give } from './starting.ts'

const replyChars = 4_000

export async function answer(m: Moment, event: EventOf<'command-run'>): Promise<void> {
  // A fresh session may have taken meanwhile what was prepared here.
  await look(m)
  const request = event.name === 'pack' ? parsePack(event.args) : parseUnpack(event.args)
  try {
    await carryOut(m, request, event.by === 'person')
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    m.say(false, error.hint === undefined ? error.message : `${error.message}; ${error.hint}`)
  }
}

async function carryOut(m: Moment, request: PackRequest, isPerson: boolean): Promise<void> {
  // A line about a save that went wrong stays until somebody does something.
  if (m.state.outcome !== null && !m.state.outcome.ok) m.set({ outcome: null })
  switch (request.kind) {
    case 'wrong':
      return m.say(false, request.why)
    case 'fresh':
    case 'save':
      return save(m, request)
    case 'cancel':
      return cancel(m)
    case 'continue':
      return goOn(m)
    case 'status':
      return m.say(true, await statusText(m))
    case 'auto':
      return auto(m, request.verb, isPerson)
    case 'list':
      if (request.args.length > 0) return m.say(false, 'list takes no arguments')
      return m.say(true, cutEnd(renderList(await m.pack.list()), replyChars))
    case 'show':
      return show(m, request.args)
    case 'diff':
      return diff(m, request.args)
    case 'load':
      return load(m, request, isPerson)
    default:
      return request satisfies never
  }
}

async function save(m: Moment, request: Extract<PackRequest, { kind: 'fresh' | 'save' }>): Promise<void> {
  const { flow } = m.state
  if (flow?.kind === 'saving') return m.say(false, replies.busy)
  if (flow?.kind === 'review') return m.say(false, replies.inReview)
  if (flow !== null) return m.say(false, replies.armed)
  if (request.stream !== null) await bind(m, m.pack.checkStream(request.stream))
  const { stream } = m
  if (stream === null) return m.say(false, whichStream)
  const isFresh = request.kind === 'fresh'
  await startSave(m, {
    why: isFresh ? 'pack' : 'save',
    stream,
    plain: request.plain,
    review: isFresh && request.review,
    goal: isFresh ? request.goal : null,
  })
}

async function bind(m: Moment, stream: string): Promise<void> {
  if (m.state.bound === stream) return
  await m.records.bind(m.session, stream)
  m.set({ bound: stream })
  await flush(m, stream)
}

async function cancel(m: Moment): Promise<void> {
  const { flow, zone } = m.state
  const isAuto = flow?.kind === 'countdown' || (flow?.kind === 'saving' && flow.why === 'auto')
  const stream = await stay(m)
  if (stream === null) return m.say(false, 'nothing is prepared and no save runs')
  if (isAuto) {
    m.set({ sleeps: true })
    await adviseSaved(m, zone.cycle, { kind: 'saved' })
  }
  m.say(true, replies.staying(stream))
}

async function auto(m: Moment, verb: 'on' | 'off' | 'status', isPerson: boolean): Promise<void> {
  if (verb === 'status') return m.say(true, replies.auto(await m.records.auto()))
  if (!isPerson) return m.say(false, 'only a person switches auto mode')
  const on = verb === 'on'
  await m.records.setAuto(on)
  m.set({ isAuto: on, tries: 0, sleeps: false })
  if (!on && m.state.flow?.kind === 'countdown') await stay(m)
  m.say(true, replies.auto(on))
}

const isId = (word: string): boolean => /^c\d/i.test(word)

async function show(m: Moment, args: readonly string[]): Promise<void> {
  const [first, ...rest] = args
  const isNamed = first !== undefined && !isId(first)
  const stream = isNamed ? first : m.stream
  if (stream === null) return m.say(false, whichStream)
  if (!m.pack.exists(stream)) return m.say(false, replies.noNotes(stream))
  const ids = isNamed ? rest : args
  m.say(true, cutEnd(renderShow(await m.pack.show(stream, ids.length === 0 ? undefined : ids)), replyChars))
}

async function diff(m: Moment, args: readonly string[]): Promise<void> {
  if (args.length > 1) return m.say(false, 'one stream at a time')
  const stream = args[0] ?? m.stream
  if (stream === null) return m.say(false, whichStream)
  if (!m.pack.exists(stream)) return m.say(false, replies.noNotes(stream))
  m.say(true, cutEnd(renderDiff(await m.pack.diff(stream)), replyChars))
}

async function load(
  m: Moment,
  { stream: name, trust }: Extract<PackRequest, { kind: 'load' }>,
  isPerson: boolean,
): Promise<void> {
  if (trust && !isPerson) return m.say(false, 'only a person confirms notes')
  const stream = m.pack.checkStream(name, 'own')
  if (!m.pack.exists(stream) && !m.pack.streams().includes(stream)) return m.say(false, replies.noNotes(stream))
  const given = await give(m, stream, null, trust ? { trust } : {})
  if (given === null) return
  if (stream !== 'inbox') await bind(m, stream)
  m.say(true, replies.loaded(stream))
}

async function statusText(m: Moment): Promise<string> {
  const { stream, state } = m
  const { streams } = await m.pack.list()
  const known = streams.find(one => one.stream === stream)
  const { context } = m.facts
  const lines = [
    stream === null
      ? 'no stream; /pack save <name> names one'
      : `stream "${stream}", ${known === undefined ? 'never saved' : `revision ${known.revision}`}`,
    `${state.waiting + (known?.unsaved ?? 0)} checkpoint(s) waiting`,
    context === null || context.window === 0
      ? 'context not measured'
      : `context ${m.percent}% (${context.tokens} of ${context.window} tokens), wall at ${hardAt(context, m.pack.config.zones)}, rank ${state.zone.rank}`,
    replies.auto(await m.records.auto()),
    pendingText(m),
  ]
  return lines.join('\n')
}

function pendingText(m: Moment): string {
  const { flow } = m.state
  switch (flow?.kind) {
    case undefined:
      return 'nothing is prepared'
    case 'saving':
      return `a save of "${flow.stream}" runs`
    case 'review':
      return `"${flow.stream}" waits for your choice: /pack continue or /pack cancel`
    case 'countdown':
    case 'armed':
      return `a fresh start from "${flow.stream}" is prepared; /pack cancel undoes it`
    default:
      return flow satisfies never
  }
}
