/**
 * The engines of one project as one thing, the same behind every door: events in, actions out. Keeps
 * the order, counts turns, saves states before actions leave, shares the room in the model's context
 * and merges what the engines ask for. Decides nothing about documents, streams, cells or steps.
 */
import { OutriggerError } from '../errors.ts'
import type { Action, ActionKind, ActionOf, EngineName, FailureReason } from '../session/actions.ts'
import { engineOrder } from '../session/actions.ts'
import { busy } from '../session/busy.ts'
import type { AnyEngine, LedgerLine, Step, StepContext } from '../session/engine.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import { foldEvent } from '../session/folded.ts'
import { type Answer, answerTo, charsOf, endAsk, take } from './answers.ts'
import { loadCell, runStep } from './cells.ts'
import { composeStatus, mergeContexts, unionOf } from './compose.ts'
import { limitMs, waitFor } from './deadline.ts'
import { createDocuments } from './documents.ts'
import type { Door, Outrigger, OutriggerOptions, StopAnswer } from './doors.ts'
import { type Cell, documentKey, hearCall, type Live, stateKey } from './live.ts'
import { peersOf } from './peers.ts'
import { beginGrant, progressSince } from './progress.ts'
import type { LedgerEntry } from './project.ts'
import { createQueues } from './queues.ts'
import { fitPart, roomAt } from './room.ts'
import { createSessions } from './sessions.ts'
import { type Held, mergeHolds, unaskedEnding } from './turn-end.ts'
import { countTurns, holdTurn } from './turns.ts'
import { createWakes, type Wake } from './wakes.ts'

export type { Asked, Door, HandledEvent, Outrigger, OutriggerOptions, StopAnswer } from './doors.ts'
export { uncounted } from './turns.ts'
export type { Timers } from './wakes.ts'

const maxKnownActions = 5_000
const setAsideAfter = 3
const hungMs = 120_000
const keptMs = 30 * 24 * 3_600_000

export function createOutrigger(options: OutriggerOptions): Outrigger {
  const { clock, timers } = options
  const engines = engineOrder.flatMap(name => options.engines.find(engine => engine.name === name) ?? [])
  const names = engines.map(engine => engine.name)
  const documents = createDocuments(() => options.store())
  const queues = createQueues()
  const { enqueue } = queues
  const wakes = createWakes(clock, timers, wake => wakeUp(wake))
  const sessions = createSessions({
    root: options.root,
    documents,
    isBusy: session => queues.has(session),
    onRelease: session => wakes.drop(session),
  })
  const known = new Map<string, { readonly session: string; readonly engine: EngineName; readonly kind: ActionKind }>()
  /** Actions that went out as one: the first's id → all. */
  const merged = new Map<string, readonly string[]>()
  let isTidied = false

  async function answerInTime(answer: Answer): Promise<StopAnswer> {
    const { session, kind } = answer.event
    await waitFor(
      enqueue(session, () => hearSafely(answer)),
      limitMs(kind),
      timers,
    )
    answer.closed = true
    return answer.live === undefined ? { hold: null, actions: [] } : finish(answer, answer.live)
  }

  /** Nothing in here may reach the host's turn. */
  async function hearSafely(answer: Answer): Promise<void> {
    try {
      await hear(answer)
      if (answer.closed && answer.live !== undefined) await deliverLate(answer, answer.live)
    } catch (error) {
      note(answer, engines[0]?.name ?? 'keel', [failureLine(error)])
    }
  }

  async function hear(answer: Answer): Promise<void> {
    const given = answer.event
    if (given.kind === 'file-changed' && options.isOwnWrite?.(given.path) === true) return
    const live = await sessions.open(given.session, given.at)
    answer.live = live
    if (answer.only !== undefined) return hearEngines(live, answer, given, answer.only)
    if (given.kind === 'tool-finished' && !hearCall(live, given.call)) return
    const isMain = given.agent === undefined
    // A helper's stop is its own host's affair: only the main agent is held.
    if (given.kind === 'turn-ending' && !isMain) return
    if (given.kind === 'session-started' && isMain) await begin(live, given)
    const { turns, event, redelivered, opened } = countTurns(live.turns, given)
    if (redelivered) return hearEngines(live, answer, event, 'next')
    if (opened) openTurn(live)
    answer.room = roomAt(event, { narrow: answer.door.narrow === true, usedInTurn: live.usedInTurn })
    const ending = unaskedEnding(turns, event)
    if (ending !== undefined) await hearEngines(live, answer, ending)
    live.turns = turns
    const { testCommands } = options
    const { folded, event: complete } = foldEvent(live.folded, allLoops(live, event), {
      ...(testCommands !== undefined && { testCommands }),
    })
    live.folded = folded
    const isAnswer = event.kind === 'model-answered' || event.kind === 'model-failed'
    // To the others it would be an answer to a question that they gave up.
    const asker = isAnswer ? endAsk(live, event.ask) : undefined
    await hearEngines(live, answer, await marked(live, complete), asker)
    await save(live, answer.door)
    if (event.kind === 'session-ended' && isMain) sessions.release(live)
  }

  /** What the host says of its loops does not end what an engine of ours has going. */
  function allLoops(live: Live, event: SessionEvent): SessionEvent {
    if (event.kind !== 'work-changed' || event.otherLoop === undefined || event.agent !== undefined) return event
    live.hostLoop = event.otherLoop
    return { ...event, otherLoop: live.hostLoop || hasFlow(live) }
  }

  /** Does an engine that next-step waits for go on by itself? */
  function hasFlow(live: Live): boolean {
    return [...live.cells.values()].some(({ engine, inFlow }) => engine.name !== 'next' && inFlow === true)
  }

  /** The end of a turn while a loop is armed says where the work stands; what keel wrote at the end is in it. */
  async function marked(live: Live, event: SessionEvent): Promise<SessionEvent> {
    const { grant } = live
    if (grant === null || options.mark === undefined || event.kind !== 'turn-ended' || event.agent !== undefined) return event
    const mark = event.mark ?? (await progressSince(grant, live.folded.writes, options.mark))
    return mark === undefined ? event : { ...event, mark }
  }

  const save = (live: Live, door: Door) => sessions.save(live, door.shortLived === true)

  async function begin(live: Live, event: EventOf<'session-started'>): Promise<void> {
    await sessions.begin(live, event)
    if (event.source !== 'compact') openTurn(live)
    if (isTidied) return
    isTidied = true
    const states = (key: string) => names.map(name => stateKey(name, key.slice(documentKey('').length)))
    queues.track(documents.ageOut(documentKey(''), clock.now() - keptMs, states))
  }

  function openTurn(live: Live): void {
    live.usedInTurn = 0
    live.notices.clear()
  }

  async function hearEngines(live: Live, answer: Answer, event: SessionEvent, only?: EngineName): Promise<void> {
    for (const engine of engines) {
      if (only !== undefined && only !== engine.name) continue
      const cell = await cellOf(live, answer, engine)
      if (cell.mode !== 'set aside') await hearEngine(live, answer, cell, event)
    }
  }

  async function hearEngine(live: Live, answer: Answer, cell: Cell, event: SessionEvent): Promise<void> {
    const { engine } = cell
    const context: StepContext = {
      chars: charsOf(live, answer, event, engine.name, names),
      newId: () => clock.newId(),
      busy: busy(live.folded.work),
      carries: answer.door.carries,
      writes: live.folded.writes,
      peers: peersOf(live),
    }
    const facts = live.folded.facts
    let step: Step<unknown>
    try {
      step = await notHung(
        runStep(cell, live.id, documents, async state => {
          if (event.kind !== 'turn-ending') return engine.handle(state, event, facts, context)
          return engine.stopping?.(state, event, facts, context) ?? { state, actions: [], ledger: [] }
        }),
      )
    } catch (error) {
      // Whatever an engine throws: its state is as before, its actions are lost.
      engineFailed(live, answer, cell, error)
      return
    }
    cell.failures = 0
    cell.mode = 'on'
    note(answer, engine.name, step.ledger)
    for (const action of step.actions) accept(live, answer, action, event)
    await tellFlow(live, answer, cell)
  }

  /** The engines after this one hear that it goes on by itself, or no longer, before the event that caused it. */
  async function tellFlow(live: Live, answer: Answer, going: Cell): Promise<void> {
    const { engine, state } = going
    const isInFlow = engine.isInFlow?.(state) ?? false
    if (isInFlow === (going.inFlow ?? false)) return
    going.inFlow = isInFlow
    if (engine.name === 'next') {
      const { mark } = options
      live.grant = isInFlow && mark !== undefined ? await beginGrant(live.folded.writes, mark) : null
    }
    // Whoever comes last has nobody to wait for it.
    if (engine === engines.at(-1)) return
    const { session, at } = answer.event
    const otherLoop = live.hostLoop || hasFlow(live)
    const event: SessionEvent = { kind: 'work-changed', session, project: options.root, at, otherLoop }
    live.folded = foldEvent(live.folded, event).folded
    for (const later of engines.slice(engines.indexOf(engine) + 1)) {
      const cell = await cellOf(live, answer, later)
      if (cell.mode !== 'set aside') await hearEngine(live, answer, cell, event)
    }
  }

  /** An engine that never answers must not stop the session for ever. */
  function notHung<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = timers.after(hungMs, () =>
        reject(new OutriggerError('ENGINE_HUNG', `no answer for ${hungMs / 1_000} s`, { exit: 70 })),
      )
      step.then(resolve, reject).finally(stop)
    })
  }

  function engineFailed(live: Live, answer: Answer, cell: Cell, error: unknown): void {
    const { name } = cell.engine
    const line = failureLine(error)
    const { reason: code } = line
    note(answer, name, [line])
    cell.failures++
    if (code === `${name.toUpperCase()}_BAD_CONFIG`) cell.mode = 'config'
    else if (cell.failures >= setAsideAfter) {
      cell.mode = 'set aside'
      const text = `${name} failed ${setAsideAfter} times in a row and rests until the next session starts`
      note(answer, name, [{ what: 'set-aside', reason: code, text }])
    }
    if (cell.told.has(code)) return
    cell.told.add(code)
    const text = `outrigger: ${name} failed (${code}); the session goes on without its answer. outrigger doctor says more`
    const notice: Action = { kind: 'notify', id: clock.newId(), engine: name, level: 'error', text }
    const refused = take(live, answer, notice, answer.event, names)
    if (refused !== undefined) note(answer, name, [notDone(notice, refused)])
  }

  /** Take one action of an engine: keep it for the answer, or say why it is not carried out. */
  function accept(live: Live, answer: Answer, action: Action, event: SessionEvent): void {
    const { engine } = action
    if (action.kind === 'wake') {
      wakes.set({ session: live.id, engine, key: action.key, due: action.due })
      return
    }
    if (action.kind === 'cancel-wake') {
      wakes.cancel({ session: live.id, engine, key: action.key })
      return
    }
    options.observe?.({ at: event.at, on: event.kind, session: live.id, action })
    remember(live, action)
    const refused = take(live, answer, action, event, names)
    if (refused !== undefined) refuse(live, answer, action, refused)
  }

  function refuse(live: Live, answer: Answer, action: Action, reason: FailureReason): void {
    if (action.kind === 'ask-model' && live.asks.get(action.engine) === action.id) live.asks.delete(action.engine)
    note(answer, action.engine, [notDone(action, reason)])
    if (answer.isFeedback !== true) void hearFailure(live.id, action.engine, action.id, reason)
  }

  /** What goes out now, merged. */
  async function finish(answer: Answer, live: Live): Promise<StopAnswer> {
    const { door, event } = answer
    const { contexts, holds, others } = empty(answer)
    const before = live.waiting
    const { text: hold, parts } = settleHold(answer, live, holds)
    const actions: Action[] = []
    if (door.contextAt.has(event.kind) && door.carries.has('add-context')) {
      live.waiting = []
      actions.push(...carried(answer, live, [...before, ...contexts]))
    } else if (contexts.length > 0) live.waiting = [...before, ...contexts]
    actions.push(...takePending(live, door), ...others, ...changedLines(live, door))
    if (hold !== null || (door.shortLived === true && before !== live.waiting)) await save(live, door)
    return { hold, actions, ...(hold !== null && { parts }) }
  }

  function empty(answer: Answer): Pick<Answer, 'contexts' | 'holds' | 'others'> {
    const { contexts, holds, others } = answer
    answer.contexts = []
    answer.holds = []
    answer.others = []
    return { contexts, holds, others }
  }

  /** Contexts of one moment as one action an engine; where the host's own cap is small, within it. */
  function carried(answer: Answer, live: Live, contexts: readonly ActionOf<'add-context'>[]): readonly Action[] {
    let left = answer.door.narrow === true ? narrowChars : Number.POSITIVE_INFINITY
    const actions: Action[] = []
    for (const { action, ids } of mergeContexts(contexts)) {
      const text = fitPart(action.text, left, action.engine)
      if (text === undefined) {
        for (const id of ids) refuse(live, answer, { ...action, id }, 'over-budget')
        continue
      }
      left -= text.length + 2
      if (ids.length > 1) merged.set(action.id, ids)
      actions.push({ ...action, text })
    }
    return actions
  }

  function settleHold(answer: Answer, live: Live, holds: readonly ActionOf<'hold-stop'>[]): Pick<Held, 'text' | 'parts'> {
    const { event } = answer
    if (event.kind !== 'turn-ending' || holds.length === 0) return { text: null, parts: [] }
    const isHeld = event.again || live.turns.held === live.turns.number
    const { text, parts, refused } = mergeHolds(holds, isHeld ? 'held-already' : undefined)
    for (const { action, reason } of refused) refuse(live, answer, action, reason)
    if (text !== null) live.turns = holdTurn(live.turns, event.answer)
    return { text, parts }
  }

  function takePending(live: Live, door: Door): readonly Action[] {
    const ready = live.pending.filter(action => door.carries.has(action.kind))
    live.pending = live.pending.filter(action => !ready.includes(action))
    return ready
  }

  /** The status line and the watched paths, when they are others than the door knows. */
  function changedLines(live: Live, door: Door): readonly Action[] {
    const actions: Action[] = []
    const engine = names[0] ?? 'keel'
    const line = composeStatus(live.statuses, modesOf(live))
    if (door.carries.has('status') && line !== live.shownStatus) {
      live.shownStatus = line
      // A door looks at what the person writes while something counts down.
      const isUrgent = [...live.statuses.values()].some(part => part.urgent)
      actions.push({ kind: 'status', id: clock.newId(), engine, text: line, ...(isUrgent && { urgent: true }) })
    }
    const paths = unionOf(live.watches.values())
    const watched = JSON.stringify(paths)
    if (door.carries.has('watch') && live.watches.size > 0 && watched !== live.watched) {
      live.watched = watched
      actions.push({ kind: 'watch', id: clock.newId(), engine, paths })
    }
    return actions
  }

  /** What came after the host went on: contexts wait for the next carrier, the rest goes out when the door takes it. */
  async function deliverLate(answer: Answer, live: Live): Promise<void> {
    const { contexts, others } = empty(answer)
    const actions = [...others, ...(options.deliver === undefined ? [] : changedLines(live, answer.door))]
    if (contexts.length > 0) live.waiting = [...live.waiting, ...contexts]
    if (answer.door.shortLived === true) await save(live, answer.door)
    if (actions.length === 0) return
    if (options.deliver === undefined) live.pending = [...live.pending, ...actions]
    else options.deliver(live.id, actions)
  }

  function hearFailure(session: string, engine: EngineName, action: string, reason: string): Promise<void> {
    const event: SessionEvent = { kind: 'action-failed', session, project: options.root, at: clock.now(), action, reason }
    return hearAlone(engine, event, true)
  }

  function wakeUp({ session, engine, key }: Wake): void {
    void hearAlone(engine, { kind: 'woke', session, project: options.root, at: clock.now(), key }, false)
  }

  /** An event of the runtime's own for one engine. */
  function hearAlone(engine: EngineName, event: SessionEvent, isFeedback: boolean): Promise<void> {
    const answer = answerTo(event, options.door, { only: engine, isFeedback, closed: true })
    return enqueue(event.session, () => hearSafely(answer))
  }

  async function cellOf(live: Live, answer: Answer, engine: AnyEngine): Promise<Cell> {
    const found = live.cells.get(engine.name)
    if (found !== undefined) return found
    const { cell, failure } = await loadCell(engine, live.id, documents)
    live.cells.set(engine.name, cell)
    if (failure !== undefined) note(answer, engine.name, [failureLine(failure)])
    return cell
  }

  function remember(live: Live, action: Action): void {
    known.set(action.id, { session: live.id, engine: action.engine, kind: action.kind })
    for (const id of known.keys()) {
      if (known.size <= maxKnownActions) break
      known.delete(id)
      merged.delete(id)
    }
  }

  /** Lines are written in order; nobody waits for them but `idle`. */
  function note(answer: Answer, engine: EngineName, lines: readonly LedgerLine[]): void {
    writeLedger(answer.event.at, answer.event.session, answer.live, engine, lines)
  }

  function writeLedger(
    at: number,
    session: string,
    live: Live | undefined,
    engine: EngineName,
    lines: readonly LedgerLine[],
  ): void {
    if (lines.length === 0) return
    const turn = live !== undefined && live.turns.number > 0 ? live.turns.number : null
    const entries = lines.map((line): LedgerEntry => ({ ...line, at, engine, session, turn }))
    queues.track(enqueue(ledgerQueue, () => options.ledger.write(entries)))
  }

  const modesOf = (live: Live | undefined): readonly string[] => {
    const cells = live === undefined ? [...sessions.all()].flatMap(one => [...one.cells.values()]) : [...live.cells.values()]
    const own = cells.filter(cell => cell.mode !== 'on').map(cell => `${cell.engine.name}: ${cell.mode}`)
    return [...new Set([...(options.modes?.() ?? []), ...(documents.isLost() ? ['no store'] : []), ...own])]
  }

  return {
    handle: async (event, door = options.door) => (await answerInTime(answerTo(event, door))).actions,
    mayStop: (event, door = options.door) => answerInTime(answerTo(event, door)),
    failed: async (actionId, reason) => {
      for (const id of merged.get(actionId) ?? [actionId]) {
        const action = known.get(id)
        if (action === undefined) continue
        const live = sessions.get(action.session)
        if (live !== undefined) endAsk(live, id)
        writeLedger(clock.now(), action.session, live, action.engine, [notDone({ kind: action.kind, id }, reason)])
        await hearFailure(action.session, action.engine, id, reason)
      }
    },
    status: session => {
      const live = sessions.get(session)
      return live === undefined ? null : composeStatus(live.statuses, modesOf(live))
    },
    facts: session => sessions.get(session)?.folded.facts,
    enqueue,
    modes: () => modesOf(undefined),
    isInFlow: () =>
      [...sessions.all()].some(live => [...live.cells.values()].some(({ engine, state }) => engine.isInFlow?.(state) === true)),
    idle: queues.idle,
    close: async () => {
      await queues.idle()
      wakes.close()
    },
  }
}

/** Not the name of a session: sessions have names that hosts can print. */
const ledgerQueue = '\0ledger'
const narrowChars = 9_800

function failureLine(error: unknown): LedgerLine & { readonly reason: string } {
  const code = error instanceof OutriggerError ? error.code : 'INTERNAL'
  const message = error instanceof Error ? error.message : String(error)
  return { what: 'failed', reason: code, text: `${code}: ${message}`.slice(0, 500) }
}

/** What would have been shown stands in the ledger instead. */
function notDone(
  action: { readonly kind: ActionKind; readonly id: string; readonly text?: string | null },
  reason: FailureReason,
): LedgerLine {
  const { kind, id } = action
  const shown = kind === 'notify' || kind === 'status' ? action.text : undefined
  return {
    what: 'not-carried-out',
    reason,
    text: shown ?? `${kind} was not carried out: ${reason}`,
    detail: { action: kind, id },
  }
}
