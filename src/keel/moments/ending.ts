/** The end of a turn: stamps are written, and the agent is held once for what the turn left behind. */
import type { EventOf } from '../../session/events.ts'
import { type Look, madeInTurn } from '../look.ts'
import { caps, stopMessage } from '../messages.ts'
import { names, suspectKey } from '../naming.ts'
import { say } from '../session.ts'
import type { Edge } from '../types.ts'
import { settleTurn } from './at-work.ts'
import { leastRoom, type Moment } from './moment.ts'

/** The agent would stop now. */
export async function ending(moment: Moment, event: EventOf<'turn-ending'>): Promise<void> {
  moment.state = settleTurn(moment.state)
  await moment.refreshKnown()
  if (await moment.hasNoChildren()) return
  const stamped = await moment.boundary()
  const look = await moment.look()
  const made = madeInTurn(moment.state, look)
  const why = whyNotHeld(moment, event, made)
  if (why === null) await hold(moment, made)
  else if (made.length > 0) moment.note('not-held', `did not hold the turn: ${made.length} to review`, why)
  toast(moment, look, made, stamped)
  moment.status(look)
  await moment.keel.writeStatus()
  await moment.saveCache()
}

function whyNotHeld(moment: Moment, event: EventOf<'turn-ending'>, made: readonly Edge[]): string | null {
  const { config } = moment.keel
  if (made.length === 0) return 'nothing-new'
  if (!config.tell || config.hold === 'off') return 'switched-off'
  if (event.again || moment.state.hasHeld) return 'held-already'
  if (moment.context.busy.has('background')) return 'background'
  return moment.context.chars < leastRoom ? 'no-room' : null
}

async function hold(moment: Moment, made: readonly Edge[]): Promise<void> {
  const { stamped } = moment.state
  const told = await moment.withDiffs(made, caps.stopItems)
  const { text, named } = stopMessage(told, stamped, moment.message())
  const id = moment.context.newId()
  moment.actions.push({ kind: 'hold-stop', id, engine: 'keel', text })
  moment.state = say(moment.state, id, { keys: named.map(suspectKey), stamped, held: true })
  moment.note('hold', `held the turn once: ${made.length} to review`)
}

function toast(moment: Moment, look: Look, made: readonly Edge[], stamped: readonly string[]): void {
  if (!moment.keel.config.tell || (made.length === 0 && stamped.length === 0)) return
  const documents = new Set(look.open.map(edge => edge.child)).size
  const parts = [
    ...(documents > 0 ? [`${documents} document(s) to review`] : []),
    ...(stamped.length > 0 ? [`stamped ${names(stamped)}`] : []),
  ]
  const text = `keel: ${parts.join('; ')}`
  if (parts.length === 0 || text === moment.state.toast) return
  moment.state = { ...moment.state, toast: text }
  moment.actions.push({
    kind: 'notify',
    id: moment.context.newId(),
    engine: 'keel',
    level: documents > 0 ? 'warning' : 'info',
    text,
  })
}

export async function turnEnded(moment: Moment, event: EventOf<'turn-ended'>): Promise<void> {
  moment.state = { ...moment.state, open: null }
  await moment.keel.unclaim(event.session)
  if (event.reason !== 'completed') await moment.refreshKnown()
  if (moment.keel.assessment().children > 0) moment.status(await moment.look())
}
