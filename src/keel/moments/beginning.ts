/** The beginning: of a session, of a turn, and after a compaction. What fell behind is said here, due reminders too. */
import type { EventOf } from '../../session/events.ts'
import type { Look } from '../look.ts'
import { caps, countedMessage, promptMessage, remindMessage, stampedMessage, startMessage } from '../messages.ts'
import { names, suspectKey } from '../naming.ts'
import { forgetTold, type OpenTurn, openTurn, reminderDue, type Said } from '../session.ts'
import type { Edge, SuspectKey } from '../types.ts'
import { watched } from '../watching.ts'
import { leastRoom, type Moment } from './moment.ts'

export async function started(moment: Moment): Promise<void> {
  await moment.keel.refresh({ kind: 'full', searchMoves: true }, moment.budget)
  moment.state = { ...moment.state, mark: moment.keel.movedSince(0).mark }
  if (await moment.hasNoChildren()) return
  await moment.boundary()
  await moment.markLive()
  moment.state = { ...forgetTold(moment.state), open: null, hasHeld: false, toast: null }
  const look = await moment.look()
  moment.state = { ...moment.state, base: look.keys }
  sayStart(moment, look)
  const { paths } = watched(moment.keel)
  if (paths.length > 0) moment.actions.push({ kind: 'watch', id: moment.context.newId(), engine: 'keel', paths })
  moment.status(look)
  await moment.saveCache()
}

export async function compacted(moment: Moment): Promise<void> {
  await moment.refreshKnown()
  if (await moment.hasNoChildren()) return
  moment.state = forgetTold(moment.state)
  sayStart(moment, await moment.look())
}

function sayStart(moment: Moment, look: Look): void {
  if (look.open.length === 0) return
  const told = look.open.map(edge => ({ edge }))
  moment.add(startMessage(told, moment.message()), `keel: ${look.open.length} behind`, {
    keys: look.open.map(suspectKey),
  })
}

export async function spoke(moment: Moment): Promise<void> {
  const { open } = moment.state
  if (open === null) return prompt(moment, { number: null, awaits: 'start' })
  if (open.awaits === 'words') {
    moment.state = { ...moment.state, open: { ...open, awaits: null } }
    return
  }
  return prompt(moment, null)
}

export async function turnStarted(moment: Moment, event: EventOf<'turn-started'>): Promise<void> {
  const { open } = moment.state
  if (open !== null && open.number === null) {
    moment.state = { ...moment.state, open: { number: event.turn, awaits: null } }
    return
  }
  if (open !== null && open.number === event.turn) return
  return prompt(moment, { number: event.turn, awaits: event.by === 'person' ? 'words' : null })
}

/** @param opens - the turn that opens; `null`: more words in an open turn. */
async function prompt(moment: Moment, opens: OpenTurn | null): Promise<void> {
  await moment.refreshKnown()
  if (await moment.hasNoChildren()) {
    if (opens !== null) moment.state = openTurn(moment.state, opens, [])
    return
  }
  const look = await moment.look()
  if (opens !== null) {
    moment.state = openTurn(moment.state, opens, look.keys)
    await moment.markLive()
  }
  if (!moment.keel.config.tell) return
  const parts: string[] = []
  const said: { -readonly [K in keyof Said]?: Said[K] } = {}
  const room = (): number => moment.context.chars - parts.reduce((sum, part) => sum + part.length + 2, 0)
  if (moment.state.stamped.length > 0 && room() > caps.note) {
    parts.push(stampedMessage(moment.state.stamped))
    said.stamped = moment.state.stamped
  }
  if (moment.state.counted.length > 0 && room() > caps.note) {
    parts.push(countedMessage(moment.state.counted))
    said.counted = moment.state.counted
  }
  if (look.fresh.length > 0 && room() >= leastRoom) {
    parts.push(promptMessage(await moment.withDiffs(look.fresh), moment.message(room())))
    said.keys = look.fresh.map(suspectKey)
  }
  if (opens !== null) {
    const reminded = new Set<SuspectKey>()
    for (const [turns, edges] of due(moment, look)) {
      if (room() < leastRoom) break
      parts.push(remindMessage(turns, edges, moment.message(room())))
      for (const edge of edges) reminded.add(suspectKey(edge))
    }
    if (reminded.size > 0) said.reminded = [...reminded]
  }
  if (parts.length === 0) return
  moment.add(parts.join('\n\n'), summaryOf(look.fresh.length, said), said)
}

/** Told suspects that are due for a reminder, by how many turns ago that was. */
function due(moment: Moment, look: Look): ReadonlyMap<number, readonly Edge[]> {
  const groups = new Map<number, Edge[]>()
  for (const edge of look.open) {
    const turns = reminderDue(moment.state, suspectKey(edge), moment.keel.config.remindAfterTurns)
    if (turns !== null) groups.set(turns, [...(groups.get(turns) ?? []), edge])
  }
  return new Map([...groups].sort(([a], [b]) => a - b))
}

function summaryOf(fresh: number, said: Partial<Said>): string {
  if (fresh > 0) return `keel: ${fresh} fell behind`
  const reminded = said.reminded?.length ?? 0
  return reminded > 0 ? `keel: ${reminded} still not reviewed` : `keel: stamps written in ${names(said.stamped ?? [])}`
}
