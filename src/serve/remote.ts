/** The runtime of the engine process as a door in another process sees it. What cannot be asked is `SERVE_GONE`. */
import type { Outrigger, StopAnswer } from '../runtime/outrigger.ts'
import type { Action } from '../session/actions.ts'
import type { SessionEvent } from '../session/events.ts'
import { ask, type Connection } from './client.ts'
import type { EventAnswer } from './protocol.ts'

export type RemoteOutrigger = Pick<Outrigger, 'handle' | 'mayStop' | 'failed'>

/** @param timeoutMs - of one event; longer than the runtime's own limits, since what is late there comes later. */
export function createRemote(connection: Connection, timeoutMs = 10_000): RemoteOutrigger {
  const tell = async (event: SessionEvent): Promise<readonly Action[]> =>
    ((await ask(connection, 'POST', '/event', event, { timeoutMs })) as EventAnswer).actions
  /** Failures are told with the session that the action came for. */
  const sessions = new Map<string, { readonly session: string; readonly project: string }>()
  const noted = (event: SessionEvent, actions: readonly Action[]): readonly Action[] => {
    for (const { id } of actions) sessions.set(id, { session: event.session, project: event.project })
    return actions
  }
  return {
    handle: async event => noted(event, await tell(event)),
    async mayStop(event): Promise<StopAnswer> {
      const actions = noted(event, await tell(event))
      const hold = actions.find(action => action.kind === 'hold-stop')
      return { hold: hold?.text ?? null, actions: actions.filter(action => action !== hold) }
    },
    async failed(action, reason) {
      const where = sessions.get(action)
      if (where !== undefined) await tell({ ...where, kind: 'action-failed', at: Date.now(), action, reason })
    },
  }
}
