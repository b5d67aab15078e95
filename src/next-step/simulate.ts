/**
 * The engine without a machine: lines of events and commands in, lines of what it asks for out. The clock is that of the lines;
 * processes, leases, timers and the store are values in here. The same input gives the same bytes.
 */
import { type Fault, OutriggerError } from '../errors.ts'
import { completeTool } from '../session/calls.ts'
import type { SessionEvent } from '../session/events.ts'
import { nextConfigKeys, readConfig } from './config.ts'
import {
  type Command,
  commandNames,
  type Effect,
  type Input,
  type LeaseAnswer,
  type Mint,
  type SessionValue,
  type StepWorld,
} from './effects.ts'
import { emptyNextFacts, foldNext, type NextFacts } from './facts.ts'
import { needsLease } from './loop.ts'
import { loopMessage } from './message.ts'
import { Moment } from './moment.ts'
import { step } from './react.ts'
import { decodeSimulated, type SimulatedLine } from './simulate-lines.ts'
import { defaultNextConfig, type Local, type NextConfig, noLocal, noStored, type Stored } from './types.ts'

export type SimulatedOut = Readonly<Record<string, unknown>> & { readonly do: string }

export interface Simulator {
  /** Hear one line. Throws `NEXT_BAD_EVENT` or `NEXT_BAD_CONFIG` with the line's number. */
  hear(text: string): readonly SimulatedOut[]
  /** Another one that goes on from here by itself. */
  fork(): Simulator
  /** All that what comes next depends on. */
  state(): SimulatedState
}

export interface SimulatedState {
  readonly config: NextConfig
  readonly displace: 'ok' | 'fails' | 'absent'
  readonly hostFormat: number
  readonly modelOverride: string | null
  readonly clock: number
  readonly line: number
  readonly isBegun: boolean
  readonly counts: Readonly<Record<'claim' | 'check' | 'judge' | 'action' | 'hex', number>>
  readonly sessions: ReadonlyMap<string, SimulatedSession>
  readonly processes: ReadonlyMap<string, Readonly<SimulatedProcess>>
  readonly timers: readonly Timer[]
}

interface SimulatedSession {
  facts: NextFacts
  stored: Stored
  lease: { readonly owner: string; readonly process: string } | null
  readonly locals: Map<string, Local>
}

interface Timer {
  readonly process: string
  readonly session: string
  readonly key: string
  readonly due: number
}

interface SimulatedProcess {
  incarnation: number
  isAlive: boolean
  diedAt: number
}

export const leaseTtlMs = 30_000
const project = '/project'

const begin: SimulatedState = {
  config: defaultNextConfig,
  displace: 'ok',
  hostFormat: 4,
  modelOverride: null,
  clock: 0,
  line: 0,
  isBegun: false,
  counts: { claim: 0, check: 0, judge: 0, action: 0, hex: 0 },
  sessions: new Map(),
  processes: new Map(),
  timers: [],
}

/** @param from - what it goes on from; left out: nothing has happened. */
export function createSimulator(options: { readonly showInput: boolean }, from: SimulatedState = begin): Simulator {
  const { showInput } = options
  let { config, displace, hostFormat, modelOverride, clock, line, isBegun } = from
  const counts = { ...from.counts }
  const sessions = new Map<string, SimulatedSession>(
    [...from.sessions].map(([id, session]) => [id, { ...session, locals: new Map(session.locals) }]),
  )
  const processes = new Map<string, SimulatedProcess>([...from.processes].map(([name, process]) => [name, { ...process }]))
  let timers: Timer[] = [...from.timers]
  let out: SimulatedOut[] = []

  const mint: Mint = {
    claim: () => `g${++counts.claim}`,
    check: () => `c${++counts.check}`,
    judge: () => `j${++counts.judge}`,
    action: () => `a${++counts.action}`,
    hex: () => (++counts.hex).toString(16).padStart(8, '0'),
  }

  const sessionOf = (id: string): SimulatedSession => {
    let session = sessions.get(id)
    if (session === undefined) {
      session = { facts: emptyNextFacts(project), stored: noStored, lease: null, locals: new Map() }
      sessions.set(id, session)
    }
    return session
  }

  const processOf = (name: string): SimulatedProcess => {
    let process = processes.get(name)
    if (process === undefined) {
      process = { incarnation: 1, isAlive: true, diedAt: 0 }
      processes.set(name, process)
    }
    if (!process.isAlive) {
      process.isAlive = true
      process.incarnation++
    }
    return process
  }

  const ownerOf = (name: string) => `${name}#${processes.get(name)?.incarnation ?? 1}`
  const isAlive = (owner: string) => {
    const [name = '', incarnation] = owner.split('#')
    const process = processes.get(name)
    return process?.isAlive === true && String(process.incarnation) === incarnation
  }

  const worldOf = (process: string): StepWorld => ({
    now: clock,
    config,
    modelOverride,
    owner: ownerOf(process),
    isAlive,
    mint,
    outline: [],
  })

  /** One step of one process in one session; what it asks for is carried out as far as the simulation goes. */
  function run(process: string, id: string, input: Input, folded?: { readonly facts: NextFacts; readonly was: NextFacts }): void {
    const session = sessionOf(id)
    const local = session.locals.get(process) ?? noLocal
    const before: SessionValue = { stored: session.stored, facts: folded?.facts ?? session.facts, local }
    const result = step(before, input, worldOf(process), folded)
    session.stored = result.stored
    session.facts = result.facts
    session.locals.set(process, result.local)
    for (const effect of result.effects) carryOut(process, id, effect)
  }

  function carryOut(process: string, id: string, effect: Effect): void {
    switch (effect.do) {
      case 'wake':
        timers = timers.filter(timer => timer.process !== process || timer.session !== id || timer.key !== effect.key)
        timers.push({ process, session: id, key: effect.key, due: effect.due })
        return
      case 'cancel-wake':
        if (timers.length > 0)
          timers = timers.filter(timer => timer.process !== process || timer.session !== id || timer.key !== effect.key)
        return
      case 'release-lease': {
        const session = sessionOf(id)
        if (session.lease?.owner === ownerOf(process)) session.lease = null
        return
      }
      case 'set-model':
        modelOverride = effect.override
        return
      case 'displace-goal':
        print(process, id, { do: 'displace-goal', goal: effect.goal })
        run(process, id, { kind: 'event', isOwn: true, event: displaced(id, effect.action) })
        return
      case 'ask-model': {
        const { system, user, ...rest } = effect
        print(process, id, { ...rest, chars: system.length + user.length, ...(showInput && { input: { system, user } }) })
        return
      }
      case 'submit':
        if (effect.as === 'person') {
          print(process, id, { ...effect })
          return
        }
        print(process, id, {
          ...effect,
          message: loopMessage({
            turn: effect.turn,
            gen: effect.offer,
            round: effect.round,
            of: effect.of,
            text: effect.text,
            hostFormat,
          }),
        })
        return
      case 'reply':
        print(process, id, effect.name === 'state' ? { ...effect, session: id } : { ...effect })
        return
      default:
        print(process, id, { ...effect })
        return
    }
  }

  const displaced = (session: string, action: string): SessionEvent =>
    displace === 'ok'
      ? { kind: 'action-done', session, project, at: clock, action }
      : { kind: 'action-failed', session, project, at: clock, action, reason: displace === 'absent' ? 'absent' : 'host:fails' }

  function print(process: string, session: string, { do: what, ...rest }: SimulatedOut): void {
    out.push({ schema: 'outrigger.next.simulate/1', line, clock, process, session, do: what, ...rest })
  }

  /** The process has met the session before anything of it is handled. */
  function meet(process: string, id: string): void {
    processOf(process)
    if (sessionOf(id).locals.has(process)) return
    run(process, id, { kind: 'mounted' })
  }

  /** Everybody else who has the session open: loops and claims of theirs may be concerned. */
  function tellOthers(
    process: string,
    id: string,
    input: Input,
    folded?: { readonly facts: NextFacts; readonly was: NextFacts },
  ): void {
    const { locals } = sessionOf(id)
    if (locals.size < 2) return
    for (const other of locals.keys()) {
      if (other === process || processes.get(other)?.isAlive !== true) continue
      run(other, id, input, folded === undefined ? undefined : { facts: sessionOf(id).facts, was: folded.was })
    }
  }

  function hearEvent(process: string, given: SessionEvent): void {
    const event = given.kind === 'tool-finished' ? completeTool(given) : given
    const id = event.session
    meet(process, id)
    const session = sessionOf(id)
    const was = session.facts
    const facts = foldNext(was, event, config.contextChars)
    run(process, id, { kind: 'event', event, isOwn: true }, { facts, was })
    tellOthers(process, id, { kind: 'event', event, isOwn: false }, { facts, was })
    if (event.kind !== 'session-ended') return
    session.locals.delete(process)
    timers = timers.filter(timer => timer.process !== process || timer.session !== id)
  }

  function hearCommand(process: string, id: string, command: Command): void {
    meet(process, id)
    const lease = command.name === 'arm' ? leaseFor(process, id, command) : null
    run(process, id, { kind: 'command', command, lease })
    if (command.name !== 'state') tellOthers(process, id, { kind: 'changed' })
  }

  function leaseFor(process: string, id: string, command: Command): LeaseAnswer | null {
    const session = sessionOf(id)
    const local = session.locals.get(process) ?? noLocal
    const value: SessionValue = { stored: session.stored, facts: session.facts, local }
    if (!needsLease(new Moment(value, session.facts, worldOf(process)), command)) return null
    const { lease } = session
    const owner = ownerOf(process)
    if (lease !== null && lease.owner !== owner && !isFree(lease, process)) {
      if (command.take !== true) return { held: false, holder: lease.process }
      session.lease = { owner, process }
      if (isAlive(lease.owner)) run(lease.process, id, { kind: 'lease-lost' })
    }
    session.lease = { owner, process }
    return { held: true }
  }

  /** A process knows of its own earlier life that it is over; of another's death only after the lease's time. */
  function isFree({ owner, process: holder }: NonNullable<SimulatedSession['lease']>, process: string): boolean {
    if (isAlive(owner)) return false
    return holder === process || clock >= (processes.get(holder)?.diedAt ?? 0) + leaseTtlMs
  }

  function die(name: string): readonly string[] {
    const process = processOf(name)
    process.isAlive = false
    process.diedAt = clock
    timers = timers.filter(timer => timer.process !== name)
    const had: string[] = []
    for (const [id, { locals }] of sessions) if (locals.delete(name)) had.push(id)
    return had
  }

  function moveTo(to: number): void {
    for (;;) {
      let next: Timer | undefined
      for (const timer of timers) if (timer.due <= to && (next === undefined || timer.due < next.due)) next = timer
      if (next === undefined) break
      const due = next
      timers = timers.filter(timer => timer !== due)
      clock = Math.max(clock, due.due)
      run(due.process, due.session, { kind: 'timer', key: due.key })
      tellOthers(due.process, due.session, { kind: 'changed', byTime: true })
    }
    clock = to
  }

  function configure(set: Readonly<Record<string, unknown>>): void {
    const { displace: how, hostFormat: format, ...rest } = set
    const read = readConfig(rest)
    const faults = [...read.faults]
    if (how !== undefined && how !== 'ok' && how !== 'fails' && how !== 'absent')
      faults.push({ key: 'displace', message: 'allowed is ok, fails or absent' })
    if (format !== undefined && format !== 3 && format !== 4) faults.push({ key: 'hostFormat', message: 'allowed is 3 or 4' })
    if (faults.length > 0) throw badConfig(line, faults)
    config = read.config
    if (how !== undefined) displace = how as typeof displace
    if (format !== undefined) hostFormat = format as number
  }

  function handle(given: SimulatedLine): void {
    if (given.kind === 'config') {
      if (isBegun) throw badEvent(line, 'the configuration comes before all other lines')
      isBegun = true
      configure(given.set)
      return
    }
    isBegun = true
    if (given.clock < clock) throw badEvent(line, `the clock falls from ${clock} to ${given.clock}`)
    moveTo(given.clock)
    switch (given.kind) {
      case 'event':
        hearEvent(given.process, given.event)
        return
      case 'command':
        hearCommand(given.process, given.session, given.command)
        return
      case 'restart': {
        const had = die(given.process)
        processOf(given.process)
        for (const id of had) meet(given.process, id)
        return
      }
      case 'process-died':
        die(given.process)
        return
      case 'tick':
        return
      default:
        given satisfies never
        return
    }
  }

  const state = (): SimulatedState => ({
    config,
    displace,
    hostFormat,
    modelOverride,
    clock,
    line,
    isBegun,
    counts,
    sessions,
    processes,
    timers,
  })

  return {
    fork: () => createSimulator(options, state()),
    state,
    hear(text) {
      line++
      out = []
      if (text.trim() === '') return out
      handle(decodeSimulated(text, line, id => sessions.get(id)?.facts.turn ?? null))
      return out
    },
  }
}

export function badConfig(line: number, faults: readonly Fault[]): OutriggerError {
  return new OutriggerError('NEXT_BAD_CONFIG', faults.map(({ key, message }) => `${key}: ${message}`).join('; '), {
    subject: faults[0]!.key,
    faults,
    hint: `correct the line; its keys are ${[...nextConfigKeys, 'displace', 'hostFormat'].join(', ')}`,
    position: { file: '-', line, column: 1 },
  })
}

export function badEvent(line: number, message: string, subject?: string): OutriggerError {
  return new OutriggerError('NEXT_BAD_EVENT', `line ${line}: ${message}`, {
    ...(subject !== undefined && { subject }),
    hint: `a line is one JSON object with clock and kind; commands are ${commandNames.join(', ')}`,
    position: { file: '-', line, column: 1 },
  })
}
