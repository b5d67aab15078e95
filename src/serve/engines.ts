/** The runtime of one project as the engine process has it: engines, operations, what is asked of their own accord, who listens. */
import { createChecks } from '../node/checks.ts'
import { makeEngines } from '../node/engines.ts'
import { systemTimers } from '../node/timers.ts'
import { enterLive, leaveLive, typeHere } from '../runtime/live-commands.ts'
import { typedOperation } from '../runtime/next.ts'
import { operationsOf } from '../runtime/operations.ts'
import { createOutrigger, type Door, type Outrigger } from '../runtime/outrigger.ts'
import { markOf } from '../runtime/progress.ts'
import type { Project } from '../runtime/project.ts'
import type { Action, ActionOf } from '../session/actions.ts'
import type { EventOf } from '../session/events.ts'
import type { AnyOperation } from '../session/operation.ts'
import { type Connections, createConnections } from './connections.ts'
import { callerOf } from './doors.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createServedRepl, type ServedRepl } from './repl-tools.ts'

export interface Engines {
  readonly project: Project
  readonly outrigger: Outrigger
  readonly outbox: Outbox
  readonly connections: Connections
  operation(name: string): AnyOperation | undefined
  /** Left out: cells run elsewhere. */
  readonly repl?: ServedRepl
  /** Does what this process itself is asked for; answers what is the door's. */
  carry(session: string, actions: readonly Action[]): readonly Action[]
  /** What a person typed, and what is answered. */
  command(event: EventOf<'command-run'>, door: Door): Promise<readonly Action[]>
  close(): Promise<void>
}

export interface EnginesOptions {
  /** Of this process; other processes reach its sessions there. */
  readonly socket: string
  log(text: string): void
}

export function createEngines(project: Project, { socket, log }: EnginesOptions): Engines {
  const outbox = createOutbox()
  const checks = createChecks(project.env)
  /** The condition of a loop runs beside the project, whatever the door: how it ended is told when it ends. */
  const runCheck = (session: string, action: ActionOf<'run-check'>): void =>
    checks.run(action, project.root, ({ exit, timedOut, output }) => {
      const { check } = action
      const event = { session, project: project.root, at: project.clock.now(), check, exit, timedOut } as const
      outrigger
        .handle({ ...event, kind: 'check-finished', output: project.mask(output) })
        .then(actions => outbox.put(session, carry(session, actions)))
        .catch((error: unknown) => log(`${session}: the end of a check was not heard: ${String(error)}`))
    })
  const carry = (session: string, actions: readonly Action[]): readonly Action[] =>
    actions.filter(action => {
      if (action.kind === 'run-check') runCheck(session, action)
      else if (action.kind === 'cancel-check') checks.cancel(action.check)
      else return true
      return false
    })
  const outrigger: Outrigger = createOutrigger({
    root: project.root,
    store: () => project.sessionStore(),
    clock: project.clock,
    timers: systemTimers,
    engines: makeEngines(project, { hasTools: true, hasPromptSection: false }, (error, engine) =>
      log(`${engine} takes no part: ${error instanceof Error ? error.message : String(error)}`),
    ),
    ledger: project.ledger,
    door: callerOf('claude-code/0 none').door,
    deliver: (session, actions) => outbox.put(session, carry(session, actions)),
    mark: markOf(project),
    modes: () => project.modes.list().map(mode => mode.name),
  })
  const connections = createConnections({
    async opened(session, { door }) {
      await enterLive(project, session, { socket, pid: process.pid, door: door.name, at: project.clock.now() })
    },
    async closed(session, { door }, isLost) {
      outbox.drop(session)
      await leaveLive(project, session)
      if (!isLost) return
      log(`${session}: its door went away`)
      const at = project.clock.now()
      carry(
        session,
        await outrigger.handle({ kind: 'session-ended', session, project: project.root, at, reason: 'closed' }, door),
      )
    },
  })
  project.live.type = typeHere(
    { outrigger, project, isLive: session => connections.sessions().includes(session) },
    (session, actions) => outbox.put(session, carry(session, actions)),
  )
  const table = new Map([...operationsOf(project), typedOperation(project)].map(operation => [operation.name, operation]))
  const repl = createServedRepl(project)
  return {
    project,
    outrigger,
    outbox,
    connections,
    repl,
    operation: name => table.get(name),
    carry,
    command: (event, door) =>
      event.name === 'outrigger' ? doctor(project, table.get('doctor')!, event) : outrigger.handle(event, door),
    async close() {
      checks.endAll()
      await repl.close()
      for (const session of connections.sessions()) await leaveLive(project, session)
      await outrigger.close()
    },
  }
}

async function doctor(project: Project, operation: AnyOperation, event: EventOf<'command-run'>): Promise<readonly Action[]> {
  const reply = (ok: boolean, text: string): readonly Action[] => [
    { kind: 'reply', id: project.clock.newId(), engine: 'keel', ok, text },
  ]
  const asked = event.args.trim()
  if (asked !== '' && asked !== 'doctor') return reply(false, 'use /outrigger')
  const input: unknown = operation.decode({})
  const { signal } = new AbortController()
  const caller = {
    door: 'claude-code',
    actor: project.actor('person'),
    session: event.session,
    signal,
    progress: () => {},
  } as const
  return reply(true, operation.render(await operation.run(input, caller), input))
}
