/**
 * `watch`: a line for everything that becomes suspect or clear, as long as it is let run. A change that
 * the system reports is looked at within a moment; the files known are also looked at on an interval,
 * since a report can be missed, and all documents now and then, since a new one is reported by nobody.
 */

import { OutriggerError } from '../../errors.ts'
import type { WatchHandle } from '../../ports/watcher.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import type { KeelDeps } from '../deps.ts'
import { exclusive } from '../exclusive.ts'
import { suspectKey } from '../naming.ts'
import { watchText } from '../report/text.ts'
import type { Edge, KeelProject, RefreshScope } from '../types.ts'
import { degradedNotes, watched } from '../watching.ts'
import { type Answer, decoder, isOn, type KeelVerbs, refreshOptions } from './shared.ts'

export interface WatchInput {
  readonly poll?: number
  readonly once?: boolean
}

export interface WatchOutput extends Answer {
  readonly event: 'ready' | 'suspect' | 'cleared' | 'degraded' | 'swept'
  /** ISO 8601. */
  readonly at: string
  readonly edge?: Edge
  readonly note?: string
  readonly children?: number
  readonly suspects?: number
}

const input = {
  type: 'object',
  properties: {
    poll: {
      type: 'integer',
      description: 'look at the known files every so many milliseconds, without native watching',
      minimum: 200,
      maximum: 60_000,
    },
    once: { type: 'boolean', description: 'end after the first look' },
  },
  additionalProperties: false,
} as const

/** Reports of the system that arrive together are looked at together. */
const gatherMs = 50
/** Native watching needs a look at the known files less often, and every so many of these looks is a full one. */
const nativeFactor = 5
const fullEvery = 10

export function watchOperation(verbs: KeelVerbs): Operation<WatchInput, WatchOutput> {
  return {
    name: 'keel.watch',
    summary: 'Reports documents that fall behind or are reviewed, as it happens.',
    input,
    readOnly: true,
    decode: decoder<WatchInput>(input),
    run: () => Promise.reject(new OutriggerError('CLI_USAGE', 'watch reports as it goes', { hint: 'outrigger keel watch' })),
    stream: (given, caller) => watch(verbs.keel(), verbs.deps(), given, caller),
    render: watchText,
    examples: ['outrigger keel watch', 'outrigger keel watch --once --json'],
  }
}

async function* watch(keel: KeelProject, deps: KeelDeps, given: WatchInput, caller: Caller): AsyncIterable<WatchOutput> {
  const line = (event: WatchOutput['event'], more: Partial<WatchOutput> = {}): WatchOutput => ({
    on: isOn(keel),
    event,
    at: new Date(deps.clock.now()).toISOString(),
    ...more,
  })
  const known = new Map<string, Edge>()
  const notes = new Set<string>()
  const look = async (scope: RefreshScope): Promise<{ readonly lines: WatchOutput[]; readonly swept: WatchOutput }> => {
    const { edges, children } = await exclusive(keel, () => keel.refresh(scope, refreshOptions(caller, keel)))
    const live = new Map(edges.filter(edge => edge.state === 'suspect').map(edge => [suspectKey(edge), edge]))
    const now = new Map(edges.map(edge => [edge.id, edge]))
    const liveIds = new Set([...live.values()].map(edge => edge.id))
    const cleared = [...known].filter(([key, edge]) => !live.has(key) && !liveIds.has(edge.id))
    const fresh = [...live].filter(([key]) => !known.has(key))
    const degraded = degradedNotes(keel).filter(note => !notes.has(note))
    for (const note of degraded) notes.add(note)
    known.clear()
    for (const [key, edge] of live) known.set(key, edge)
    return {
      lines: [
        ...degraded.map(note => line('degraded', { note })),
        ...cleared.map(([, edge]) => line('cleared', { edge: now.get(edge.id) ?? edge })),
        ...fresh.map(([, edge]) => line('suspect', { edge })),
      ],
      swept: line('swept', { children, suspects: live.size }),
    }
  }

  const first = await look({ kind: 'full', searchMoves: true })
  await exclusive(keel, () => keel.save())
  yield line('ready', { children: keel.assessment().children, suspects: known.size })
  yield* first.lines
  yield first.swept
  if (given.once === true) return

  const ear = new Ear(keel, deps, given.poll !== undefined)
  try {
    if (ear.failure !== null) yield line('degraded', { note: `watching by polling (${ear.failure})` })
    for (let round = 1; !caller.signal.aborted; round++) {
      const pollMs = given.poll ?? keel.config.watch.pollMs
      const paths = await ear.wait(ear.isNative ? pollMs * nativeFactor : pollMs, caller.signal)
      if (caller.signal.aborted) return
      const lostWhy = ear.takeFailure()
      if (lostWhy !== null) yield line('degraded', { note: `watching by polling (${lostWhy})` })
      const scope: RefreshScope =
        paths.length > 0 ? { kind: 'files', paths } : round % fullEvery === 0 ? { kind: 'full' } : { kind: 'known' }
      const { lines, swept } = await look(scope)
      yield* lines
      if (lines.length > 0) yield swept
      ear.follow()
    }
  } finally {
    ear.close()
  }
}

/** Native watchers over the files that matter now, and the wait for their next report. */
class Ear {
  /** Why native watching did not begin; `null`: it did, or was not wanted. */
  failure: string | null = null
  private readonly keel: KeelProject
  private readonly deps: KeelDeps
  private handle: WatchHandle | null = null
  private lost: string | null = null
  private watching: string | null = null
  private readonly heard = new Set<string>()
  private wake: (() => void) | null = null
  private readonly isOff: boolean

  constructor(keel: KeelProject, deps: KeelDeps, isOff: boolean) {
    this.keel = keel
    this.deps = deps
    this.isOff = isOff
    this.follow()
    this.failure = this.takeFailure()
  }

  get isNative(): boolean {
    return this.handle !== null
  }

  /** Watch what is to be watched now; nothing when it is the same as before, or when the system refused. */
  follow(): void {
    const isRefused = this.watching !== null && this.handle === null
    if (this.isOff || isRefused) return
    const { paths } = watched(this.keel)
    const key = paths.join('\0')
    if (key === this.watching) return
    this.handle?.close()
    this.handle = null
    this.watching = key
    try {
      this.handle = this.deps.watcher.watch(
        paths,
        path => this.hear(path),
        why => this.fail(why),
      )
    } catch (error) {
      // `WATCH_FAILED`: the system refuses, as when it has no watches left.
      this.fail(error instanceof OutriggerError ? (error.subject ?? error.code) : 'unsupported')
    }
  }

  /** Paths that changed, project-relative; empty when the time is over first. */
  async wait(ms: number, signal: AbortSignal): Promise<readonly string[]> {
    if (this.heard.size === 0) await this.pause(ms, signal)
    if (this.heard.size > 0) await pause(gatherMs, signal)
    const paths = [...this.heard]
    this.heard.clear()
    const root = `${this.keel.root.replaceAll('\\', '/')}/`
    return paths.map(path => path.replaceAll('\\', '/')).map(path => (path.startsWith(root) ? path.slice(root.length) : path))
  }

  takeFailure(): string | null {
    const why = this.lost
    this.lost = null
    return why
  }

  close(): void {
    this.handle?.close()
    this.handle = null
  }

  private hear(path: string): void {
    this.heard.add(path)
    this.wake?.()
  }

  private fail(why: string): void {
    this.handle?.close()
    this.handle = null
    this.lost = why
    this.wake?.()
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.wake = () => woken.abort()
    await pause(ms, AbortSignal.any([signal, woken.signal]))
    this.wake = null
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(done => {
    if (signal.aborted) return done()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      done()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
