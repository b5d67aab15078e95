/**
 * companion in a session: one step per event, at most one note a call. What is judged and in which order
 * stands in `judge/judge.ts`; here the answer becomes an action, and the end of a turn its status.
 */
import type { Action } from '../session/actions.ts'
import type { Engine, LedgerLine, Step, StepContext } from '../session/engine.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import { claimsOf } from './claims/check-claims.ts'
import { defaultThreshold } from './confidence.ts'
import { identities } from './config.ts'
import { createJudge, type Judge, judgeEvent, ledgerLine } from './judge/judge.ts'
import {
  type AgentState,
  agentOf,
  type CompanionState,
  decodeState,
  encodeState,
  isForgettable,
  noState,
  openPairs,
  takeBack,
  withAgent,
} from './judge/state.ts'
import type { JudgeContext, JudgedNote } from './judge/types.ts'
import type { TestNode } from './playform/suites.ts'
import { type Companion, isEnabled, labelOf } from './project.ts'
import { holdText, lines } from './texts.ts'
import type { CompanionConfig } from './types.ts'

type Handled = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

/** A pair must be this sure to keep an agent from stopping. */
const sureEnough = 0.9

export interface CompanionEngineOptions {
  /** Wait for what is read in the background, and however long it takes: for who has time and wants the same answer twice. */
  readonly isPatient?: boolean
  /** `Test` nodes of the host's own graph in a folder, where it has one; paths from the folder. May throw. */
  readonly nodes?: (dir: string) => readonly TestNode[]
}

/** Throws what the configuration throws. */
export function createCompanionEngine(companion: Companion, options: CompanionEngineOptions = {}): Engine<CompanionState> {
  companion.config()
  const judge = createJudge(companion, {
    ...(options.isPatient === true && { reconcileMs: Number.POSITIVE_INFINITY }),
    ...(options.nodes !== undefined && { nodes: options.nodes }),
  })
  return {
    name: 'companion',
    initial: noState,
    isForgettable,
    encode: encodeState,
    decode: decodeState,
    handle: async (state: CompanionState, event: Handled, _facts: SessionFacts, context: StepContext) => {
      if (options.isPatient === true) await companion.knowledge.ready()
      const step = handle(judge, state, event, context)
      if (options.isPatient === true) settle(companion)
      return step
    },
    stopping: (state: CompanionState, event: EventOf<'turn-ending'>, _facts: SessionFacts, context: StepContext) =>
      Promise.resolve(stopping(judge, state, event, context)),
  }
}

function handle(judge: Judge, state: CompanionState, event: Handled, context: StepContext): Step<CompanionState> {
  const { companion } = judge
  switch (event.kind) {
    case 'session-started': {
      companion.knowledge.start()
      // What goes wrong in it is said by the call that needs it.
      prepare(judge).catch(() => {})
      const config = companion.config()
      if (!config.enabled || !config.log || judge.said.has('activated')) return same(state)
      judge.said.add('activated')
      // Into the store it goes with the first line that says something: a project where nothing happens stays without one.
      appendLog(judge, config, [activated(judge, config)])
      return same(state)
    }
    case 'person-spoke':
    case 'turn-started':
    case 'file-changed':
      return { ...same(state), state: judgeEvent(judge, state, event, contextOf(context)).state }
    case 'action-failed':
      return same(takeBack(state, event.action))
    case 'tool-finished':
      return judged(judge, state, event, context)
    case 'turn-ended':
      return ended(judge, state, event, context)
    case 'session-ended':
      if (event.agent !== undefined) return same(forgetAgent(state, event.agent))
      // What was learned is kept for the next session; nobody waits for it.
      void companion.knowledge.save()
      return same(state)
    default:
      return same(state)
  }
}

const same = (state: CompanionState): Step<CompanionState> => ({ state, actions: [], ledger: [] })

function forgetAgent(state: CompanionState, agent: string): CompanionState {
  const { [agent]: gone, ...agents } = state.agents
  return gone === undefined ? state : { agents }
}

/** Peers are asked when somebody needs their answer, not at every call. */
function contextOf(context: StepContext): JudgeContext {
  return {
    declaredBy: path => context.peers.edgesOf(path).flatMap(edge => (edge.target === path ? [edge.child] : [])),
    toldByKeel: () => new Set(context.peers.toldInTurn()),
    newId: () => context.newId(),
  }
}

function judged(
  judge: Judge,
  state: CompanionState,
  event: EventOf<'tool-finished'>,
  context: StepContext,
): Step<CompanionState> {
  const { companion } = judge
  companion.knowledge.start()
  const config = companion.config()
  try {
    const judgement = judgeEvent(judge, state, event, contextOf(context))
    // What the changed files say is read behind the answer.
    if (judgement.state !== state) setImmediate(() => settle(companion))
    const { note, action } = judgement
    const actions: readonly Action[] = note === null ? [] : [contextOfNote(note, action!, config)]
    return written(judge, config, { state: judgement.state, actions, ledger: judgement.ledger })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { state, actions: [], ledger: config.log ? [ledgerLine(config, 'failed', lines.failed('judge', message))] : [] }
  }
}

/** The root's README is read before a call asks for it. */
async function prepare({ companion, claimCache }: Judge): Promise<void> {
  const { deps, knowledge, observations } = companion
  await knowledge.ready()
  const { tree, packages } = knowledge
  const root = packages.at('')
  if (root === null || tree.capped) return
  claimsOf({ deps, tree, packages, observations, claims: companion.compiled(companion.config()).claims, cache: claimCache }, root)
}

function contextOfNote({ text, summary }: JudgedNote, id: string, { compat }: CompanionConfig): Action {
  const { source } = identities[compat]
  return { kind: 'add-context', id, engine: 'companion', text, summary, ...(source !== null && { source }) }
}

function settle(companion: Companion): void {
  try {
    companion.knowledge.settle()
  } catch {
    // A file that cannot be read says nothing; the next change of it is read again.
  }
}

/** The line that says it is on: which packs are built in, and the number that counts. */
export function activationLine(companion: Companion, config: CompanionConfig): string {
  const bundle = identities[config.compat].bundle ?? companion.deps.version
  const builtin = companion.compiled(config).layers.find(({ layer }) => layer === 'builtin')?.pack?.intents ?? []
  return lines.activated(bundle, builtin.filter(intent => isEnabled(intent, config)).length, config.threshold ?? defaultThreshold)
}

/** Into the text log too, where one is set; `log: false` leaves both empty. */
function written(judge: Judge, config: CompanionConfig, step: Step<CompanionState>): Step<CompanionState> {
  if (!config.log) return { ...step, ledger: [] }
  appendLog(judge, config, step.ledger)
  if (step.ledger.length === 0 || !config.enabled || judge.said.has('activated in the store')) return step
  judge.said.add('activated in the store')
  return { ...step, ledger: [activated(judge, config), ...step.ledger] }
}

const activated = ({ companion }: Judge, config: CompanionConfig): LedgerLine =>
  ledgerLine(config, 'activated', activationLine(companion, config))

function appendLog({ companion }: Judge, config: CompanionConfig, ledger: readonly LedgerLine[]): void {
  const { deps } = companion
  const path = logPath(deps.home, deps.root, config.logFile)
  if (path === null || ledger.length === 0) return
  const stamp = new Date(deps.clock.now()).toISOString()
  const bytes = new TextEncoder().encode(ledger.map(({ text }) => `[${stamp}] ${text}\n`).join(''))
  const append = async () => {
    deps.files.makeFolder(path.slice(0, path.lastIndexOf('/')) || '/')
    await deps.files.append(path, bytes)
  }
  // Logging never throws and nobody waits for it.
  append().catch(() => {})
}

export function logPath(home: string | null, root: string, given: string): string | null {
  if (given === '') return null
  if (given === '~' || given.startsWith('~/')) return home === null ? null : home + given.slice(1)
  return given.startsWith('/') || /^[A-Za-z]:[\\/]/.test(given) ? given : `${root}/${given}`
}

const openDrifts = (agent: AgentState) => Object.values(agent.open).flat()

function ended(judge: Judge, state: CompanionState, event: EventOf<'turn-ended'>, context: StepContext): Step<CompanionState> {
  const config = judge.companion.config()
  if (event.agent !== undefined || event.reason !== 'completed' || config.atTurnEnd === 'off' || !config.enabled)
    return same(state)
  // A door without a line for it would count it as something that was missed.
  if (!context.carries.has('status')) return same(state)
  const agent = agentOf(state, undefined)
  const open = openPairs(agent).length + openDrifts(agent).length
  const text = open === 0 ? null : `companion: ${open} open`
  return { state, actions: [{ kind: 'status', id: context.newId(), engine: 'companion', text }], ledger: [] }
}

function stopping(
  { companion }: Judge,
  state: CompanionState,
  event: EventOf<'turn-ending'>,
  context: StepContext,
): Step<CompanionState> {
  const config = companion.config()
  const agent = agentOf(state, undefined)
  const mayHold = config.enabled && config.atTurnEnd === 'hold' && event.agent === undefined && !event.again && !agent.held
  if (!mayHold || context.busy.has('background')) return same(state)
  const pairs = openPairs(agent).filter(pair => pair.k >= sureEnough)
  const text = holdText(labelOf(config), pairs, openDrifts(agent))
  if (text === null) return same(state)
  return {
    state: withAgent(state, undefined, { ...agent, held: true }),
    actions: [{ kind: 'hold-stop', id: context.newId(), engine: 'companion', text }],
    ledger: [],
  }
}
