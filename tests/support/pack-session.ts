/** pack behind the real runtime, with time that stands still and a text side in memory. */
import { createPackEngine, type PackEngineOptions } from '../../src/pack/engine.ts'
import type { PackConfig, PackProject } from '../../src/pack/types.ts'
import type { Door } from '../../src/runtime/outrigger.ts'
import { createVirtualTime } from '../../src/runtime/virtual-time.ts'
import type { Action, ActionKind, ActionOf } from '../../src/session/actions.ts'
import type { EventKind } from '../../src/session/events.ts'
import { allDoor, event, type FakeEngine, type Runtime, runtimeOf } from './engines.ts'
import { memoryStore } from './memory-store.ts'
import { type FakePack, fakePack } from './pack-fake.ts'

export interface PackWorld extends Runtime {
  readonly pack: FakePack
  /** Tell an event; everything that was asked for since the last look, timers' included. */
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that matter
  tell(kind: EventKind, rest?: any): Promise<readonly Action[]>
  command(line: string, by?: 'person' | 'plugin'): Promise<string>
  /** A whole turn of a person with this answer. */
  turn(answer: string, rest?: object): Promise<void>
  measured(tokens: number, rest?: object): Promise<void>
  status(): string | null
  all<K extends ActionKind>(kind: K): readonly ActionOf<K>[]
  last<K extends ActionKind>(kind: K): ActionOf<K>
}

export interface WorldOptions<P extends PackProject = FakePack> {
  /** Another text side, and the machine under it. */
  readonly pack?: P
  readonly config?: Partial<PackConfig>
  readonly without?: readonly ActionKind[]
  readonly beside?: readonly FakeEngine[]
  readonly engine?: PackEngineOptions
  readonly session?: string
}

export function packWorld({
  config,
  without = [],
  beside = [],
  engine: options,
  session = 's',
  pack: given,
}: WorldOptions<PackProject> = {}): PackWorld {
  const pack = (given ?? fakePack(config)) as FakePack
  const time = createVirtualTime(Date.UTC(2026, 0, 2))
  const store = memoryStore({ clock: time.clock })
  const engine = createPackEngine(pack, { store: async () => store, clock: time.clock }, options)
  const carries = new Set([...allDoor.carries].filter(kind => !without.includes(kind)))
  const door: Door = { ...allDoor, carries }
  const fake: FakeEngine = { engine, heard: [], kinds: () => [] }
  const runtime = runtimeOf([fake, ...beside], { store: async () => store, clock: time.clock, timers: time.timers, door })
  const pass = (ms: number) => time.moveTo(time.clock.now() + ms, runtime.outrigger.idle)
  let turns = 0
  const tell: PackWorld['tell'] = async (kind, rest = {}) => {
    const one = event(kind, { session, at: time.clock.now(), ...rest })
    // biome-ignore lint/suspicious/noExplicitAny: no test here asks whether a turn may stop
    const actions = await runtime.outrigger.handle(one as any)
    await runtime.outrigger.idle()
    return actions
  }
  const asked = (kind: ActionKind): readonly Action[] =>
    runtime.asked.map(one => one.action).filter(action => action.kind === kind)
  return {
    ...runtime,
    store,
    time,
    pass,
    pack,
    tell,
    command: async (line, by = 'person') => {
      const [name = '', ...rest] = line.slice(1).split(' ')
      const actions = await tell('command-run', { name, args: rest.join(' '), by })
      return actions.flatMap(action => (action.kind === 'reply' ? action.text : [])).join('\n')
    },
    turn: async (answer, rest = {}) => {
      turns++
      await tell('person-spoke', { text: 'go on' })
      await tell('turn-started', { turn: turns, by: 'person' })
      await tell('turn-ended', { turn: turns, reason: 'completed', answer, ...rest })
    },
    measured: async (tokens, rest = {}) => void (await tell('context-measured', { tokens, window: 100_000, ...rest })),
    status: () => runtime.outrigger.status(session),
    all: kind => asked(kind) as never,
    last: kind => {
      const found = asked(kind).at(-1)
      if (found === undefined) throw new Error(`no ${kind} was asked for`)
      return found as never
    },
  }
}

export const checkpoint = (clause: string): string => `done\n\n<!-- ckpt\n${clause}\n-->\n`
