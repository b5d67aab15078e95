/** next-step in the real runtime: a store that processes share, time that stands still, everything that was asked for. */
import { createNextEngine } from '../../src/next-step/engine.ts'
import { defaultNextConfig, type NextConfig } from '../../src/next-step/types.ts'
import type { Store } from '../../src/ports/store.ts'
import { createOutrigger, type HandledEvent, type Outrigger, type OutriggerOptions } from '../../src/runtime/outrigger.ts'
import type { LedgerEntry } from '../../src/runtime/project.ts'
import { createScratchStore } from '../../src/runtime/scratch-store.ts'
import { createVirtualTime, type VirtualTime } from '../../src/runtime/virtual-time.ts'
import type { Action, ActionKind, ActionOf } from '../../src/session/actions.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import { everything } from './engines.ts'

export const root = '/project'

export interface Shared {
  readonly time: VirtualTime
  readonly store: Store
  readonly dead: Set<string>
}

export function shared(): Shared {
  const time = createVirtualTime(1_000_000)
  return { time, store: createScratchStore(time.clock), dead: new Set() }
}

type Told = SessionEvent extends infer E ? (E extends SessionEvent ? Omit<E, 'session' | 'project' | 'at'> : never) : never

export interface NextProcess {
  readonly outrigger: Outrigger
  readonly actions: Action[]
  readonly ledger: LedgerEntry[]
  tell(event: Told): Promise<readonly Action[]>
  type(args: string, by?: 'person' | 'plugin'): Promise<ActionOf<'reply'> | undefined>
  wait(ms: number): Promise<void>
  all<K extends ActionKind>(kind: K): readonly ActionOf<K>[]
  last<K extends ActionKind>(kind: K): ActionOf<K> | undefined
  /** `what reason` of the ledger's lines. */
  lines(): readonly string[]
}

export function nextProcess(
  { time, store, dead }: Shared,
  owner = '1:boot:1',
  config: Partial<NextConfig> = { model: 'test/m', local: false },
  session = 's1',
  { mark, earlier = [] }: { readonly mark?: OutriggerOptions['mark']; readonly earlier?: OutriggerOptions['engines'] } = {},
): NextProcess {
  const actions: Action[] = []
  const ledger: LedgerEntry[] = []
  const engine = createNextEngine({
    config: () => ({ ...defaultNextConfig, ...config }),
    clock: time.clock,
    store: async () => store,
    owner: () => owner,
    isAlive: other => !dead.has(other),
  })
  const outrigger = createOutrigger({
    root,
    store: async () => store,
    clock: time.clock,
    timers: time.timers,
    engines: [...earlier, engine],
    ...(mark !== undefined && { mark }),
    ledger: {
      write: async entries => {
        ledger.push(...entries)
      },
    },
    door: { name: 'dsh', carries: everything, contextAt: new Set() },
    deliver: (_, late) => {
      actions.push(...late)
    },
  })
  const tell = async (event: Told): Promise<readonly Action[]> => {
    await time.moveTo(time.clock.now() + 100, () => outrigger.idle())
    const answer = await outrigger.handle({ session, project: root, at: time.clock.now(), ...event } as HandledEvent)
    actions.push(...answer)
    await outrigger.idle()
    return answer
  }
  return {
    outrigger,
    actions,
    ledger,
    tell,
    type: async (args, by = 'person') => {
      const answer = await tell({ kind: 'command-run', name: 'next', args, by })
      return answer.find((action): action is ActionOf<'reply'> => action.kind === 'reply')
    },
    wait: ms => time.moveTo(time.clock.now() + ms, () => outrigger.idle()),
    all: kind => actions.filter((action): action is never => action.kind === kind),
    last: kind => actions.findLast((action): action is never => action.kind === kind),
    lines: () => ledger.filter(({ engine: name }) => name === 'next').map(({ what, reason }) => `${what} ${reason}`),
  }
}
