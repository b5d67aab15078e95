/** A file of our own events: the first line names session and project, every later line is an event. */
import { completeTool } from '../calls.ts'
import { decodeEvent } from '../decode-event.ts'
import type { SessionEvent } from '../events.ts'
import type { Row } from './lines.ts'
import { numberOf, textOf } from './lines.ts'
import { badLog, type Tally } from './reader.ts'

export interface EventsReader {
  readonly session: string
  readonly project: string
  read(row: Row): readonly SessionEvent[]
}

export function readEvents(header: Row, tally: Tally): EventsReader {
  const session = textOf(header['session'])
  const project = textOf(header['project'])
  if (numberOf(header['version']) !== 1) throw badLog('the version of its events is not 1')
  if (session === undefined || project === undefined) throw badLog('its first line lacks session or project')
  let at = 0
  return {
    session,
    project,
    read(row) {
      const decoded = decodeEvent(row, { session, project, at })
      if (decoded.kind !== 'event') {
        tally.skip(decoded.kind === 'unknown' ? decoded.name : 'bad')
        return []
      }
      const { event } = decoded
      at = event.at
      return [event.kind === 'tool-finished' ? completeTool(event) : event]
    },
  }
}
