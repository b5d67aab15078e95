/** What the doors that speak to the engine process are able to do, as data for the runtime. */
import { hookDoor } from '../hook/live.ts'
import type { Door } from '../runtime/outrigger.ts'

const claudeCode: Door = {
  name: 'claude-code',
  carries: new Set([
    'add-context',
    'hold-stop',
    'notify',
    'status',
    'submit',
    'start-fresh',
    'watch',
    'show-offer',
    'show-review',
    'reply',
    'withdraw',
    'verdict',
    'ask-model',
    'cancel-model',
    // Carried out by the engine process itself.
    'run-check',
    'cancel-check',
  ]),
  // The host only tells that a turn started: what would be said then waits for the first call.
  contextAt: new Set(['session-started', 'compacted', 'turn-starting', 'person-spoke', 'tool-finished']),
}

/** The call ends, this process does not: what waits for the next call waits here. */
const { shortLived: _, ...hook }: Door = hookDoor

/** A door that only asks: a command line, an MCP server. It carries nothing but answers to commands. */
const asking = (name: Door['name']): Door => ({ name, carries: new Set(['reply']), contextAt: new Set() })

export interface Caller {
  readonly door: Door
  /** Names the program that asks, for as long as it lives. */
  readonly connection: string
}

/** @param header - `<door>/<host version> <connection id>`; a door of a later version that is not known here only asks. */
export function callerOf(header: string | string[] | undefined): Caller {
  const [, name = '', connection = ''] = /^([a-z-]{1,32})\/\S{0,64} (\S{1,128})$/.exec(String(header ?? '')) ?? []
  switch (name) {
    case 'claude-code':
      return { door: claudeCode, connection }
    case 'hook':
      return { door: hook, connection }
    case 'mcp':
      return { door: asking('mcp'), connection }
    default:
      return { door: asking('cli'), connection }
  }
}
