/**
 * The engine process of the project, as an MCP server uses it: what a tool is asked for is done there while one runs, so that a REPL session
 * outlives the server, and else in the server's own process.
 */
import { randomUUID } from 'node:crypto'
import { OutriggerError } from '../errors.ts'
import type { Project } from '../runtime/project.ts'
import type { Connection } from '../serve/client.ts'
import { operate } from '../serve/operate.ts'
import type { OpAnswer, OpRequest } from '../serve/protocol.ts'
import { runningOf, startDetached, withoutHost } from '../serve/start.ts'
import type { Caller } from '../session/operation.ts'

/** After a start that failed the server works alone for this long. */
const restMs = 60_000

export interface Beside {
  /** Looks for the process, or starts it. Never rejects. */
  look(): Promise<void>
  /**
   * `undefined`: no process of this version answers, and nothing was asked. Throws what the process refuses, and
   * `SERVE_BROKE_OFF` and `SERVE_TIMEOUT` where nobody knows what was done.
   */
  ask(request: Omit<OpRequest, 'id' | 'by'>, how: Pick<Caller, 'signal' | 'progress'>): Promise<OpAnswer | undefined>
  /** The environment of this server without what names its host's session. */
  readonly env: Readonly<Record<string, string>>
}

export interface BesideOptions {
  readonly version: string
  /** Start one where none runs. */
  readonly starts: boolean
  warn(error: unknown): void
}

export function createBeside(project: Project, { version, starts, warn }: BesideOptions): Beside {
  const door = `mcp/${version} ${randomUUID()}`
  let known: Connection | undefined
  let looking: Promise<void> | undefined
  let restUntil = 0

  const find = async (): Promise<void> => {
    known = undefined
    try {
      const isResting = performance.now() < restUntil
      const running = starts && !isResting ? await startDetached(project, version) : await runningOf(project)
      // What another version answers is not what this one's tools promise.
      if (running?.version === version) known = { socket: running.socket, door }
    } catch (error) {
      restUntil = performance.now() + restMs
      warn(error)
    }
  }
  const look = (): Promise<void> => {
    looking ??= find().finally(() => {
      looking = undefined
    })
    return looking
  }

  return {
    look,
    env: Object.fromEntries(
      Object.entries(withoutHost(project.env)).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    async ask(request, how) {
      const id = randomUUID()
      // The second time, because one that was known may have ended since.
      for (let left = 2; left > 0; left--) {
        if (known === undefined) await look()
        if (known === undefined) return undefined
        try {
          return await operate(known, { ...request, id, by: 'agent' }, how)
        } catch (error) {
          if (!(error instanceof OutriggerError) || error.code !== 'SERVE_GONE') throw error
          known = undefined
        }
      }
      return undefined
    },
  }
}
