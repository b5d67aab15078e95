/** One session in front of the engine; its state goes through its saved form between any two events. */

import type { KeelDeps } from '../../src/keel/deps.ts'
import { createKeelEngine } from '../../src/keel/engine.ts'
import type { KeelState } from '../../src/keel/session.ts'
import type { KeelProject } from '../../src/keel/types.ts'
import type { Json } from '../../src/ports/json.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Action, ActionKind } from '../../src/session/actions.ts'
import type { LedgerLine } from '../../src/session/engine.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import type { Busy, SessionFacts } from '../../src/session/facts.ts'
import { noWrites } from '../../src/session/writes.ts'
import { everything } from './engines.ts'

export interface SessionOptions {
  readonly session?: string
  readonly hasAckTool?: boolean
  readonly deps?: Partial<KeelDeps>
}

type Rest = Readonly<Record<string, unknown>>

export class TestSession {
  readonly session: string
  readonly ledger: LedgerLine[] = []
  state: KeelState
  chars = 9_800
  /** The last event left the state as it was: nothing is to be saved. */
  isUnchanged = false
  busy: ReadonlySet<Busy> = new Set()
  at = Date.parse('2026-01-02T03:04:05Z')
  private turn = 0
  private ids = 0
  private readonly engine: ReturnType<typeof createKeelEngine>

  constructor(keel: KeelProject, store: Store, options: SessionOptions = {}) {
    this.session = options.session ?? 's1'
    const deps = {
      root: keel.root,
      config: keel.config,
      clock: { now: () => this.at, newId: () => `id${++this.ids}`, randomHex: () => '0' },
      store: async () => store,
      mask: (text: string) => text,
      ...options.deps,
    } as unknown as KeelDeps
    this.engine = createKeelEngine(keel, deps, { hasAckTool: options.hasAckTool ?? true })
    this.state = this.engine.initial
  }

  async send(kind: SessionEvent['kind'], rest: Rest = {}): Promise<readonly Action[]> {
    const event = { kind, session: this.session, project: '/p', at: (this.at += 1000), ...rest } as unknown as SessionEvent
    const context = {
      chars: this.chars,
      busy: this.busy,
      newId: () => `${this.session}-${++this.ids}`,
      carries: everything,
      writes: noWrites,
      peers: { toldInTurn: () => [], edgesOf: () => [], outline: async () => [] },
    }
    const facts = {} as SessionFacts
    const saved = JSON.parse(JSON.stringify(this.engine.encode(this.state))) as Json
    const state = this.engine.decode(saved)
    const step =
      event.kind === 'turn-ending'
        ? await this.engine.stopping!(state, event, facts, context)
        : await this.engine.handle(state, event, facts, context)
    this.isUnchanged = step.state === state
    this.state = step.state
    this.ledger.push(...step.ledger)
    return step.actions
  }

  start(source = 'startup'): Promise<readonly Action[]> {
    return this.send('session-started', { source })
  }

  /** Words, then the start of the turn, as a live host does. */
  async say(text = 'go on'): Promise<readonly Action[]> {
    const words = await this.send('person-spoke', { text })
    const start = await this.send('turn-started', { turn: ++this.turn, by: 'person' })
    return [...words, ...start]
  }

  tool(tool: string, more: Rest = {}): Promise<readonly Action[]> {
    return this.send('tool-finished', { turn: this.turn, call: `c${this.ids}`, tool, input: {}, ok: true, output: '', ...more })
  }

  write(...written: string[]): Promise<readonly Action[]> {
    return this.tool('edit', { input: { path: written[0] }, written })
  }

  read(...read: string[]): Promise<readonly Action[]> {
    return this.tool('read', { input: { path: read[0] }, read })
  }

  stop(again = false): Promise<readonly Action[]> {
    return this.send('turn-ending', { turn: this.turn, answer: 'done', again })
  }

  async end(reason = 'completed'): Promise<readonly Action[]> {
    return this.send('turn-ended', { turn: this.turn, reason, answer: 'done' })
  }

  /** A whole turn without work; answers what its beginning and its end said. */
  async quietTurn(): Promise<readonly Action[]> {
    const before = await this.say()
    const after = await this.stop()
    await this.end()
    return [...before, ...after]
  }
}

export function textOf(actions: readonly Action[], kind: ActionKind = 'add-context'): string | null {
  const found = actions.filter(action => action.kind === kind)
  if (found.length > 1) throw new Error(`${found.length} actions of kind ${kind}`)
  const first = found[0]
  return first === undefined ? null : ((first as { text?: string | null }).text ?? null)
}
