/**
 * One event of a session, judged: at most one note, and a reason for every silence. The order of the
 * steps is the contract; what each looks at is elsewhere.
 */
import type { LedgerLine } from '../../session/engine.ts'
import type { SessionEvent, ToolFinished } from '../../session/events.ts'
import type { ClaimCache } from '../claims/check-claims.ts'
import type { Observations } from '../claims/observations.ts'
import { isWholeCommand, runIn } from '../claims/runs.ts'
import { bestOf, confidenceOf, documentNumber, sumOf } from '../confidence.ts'
import { isLiteral } from '../config.ts'
import type { Sources } from '../evidence/find.ts'
import { isNameable, rankCandidates } from '../evidence/rank.ts'
import { isExcluded } from '../names.ts'
import type { Compiled } from '../pack/types.ts'
import { projectPath } from '../paths.ts'
import type { SuiteRun, TestNode } from '../playform/suites.ts'
import { judgeTargets } from '../playform/targets.ts'
import { findWorkspace, type Workspace } from '../playform/workspace.ts'
import { type Companion, gateNow, isEnabled, labelOf } from '../project.ts'
import { finderNote, lines, targetNote } from '../texts.ts'
import { isRegular } from '../tree.ts'
import type { Candidate, CompanionConfig, Intent } from '../types.ts'
import { type Call, callOf, changedText, isOwnTool, runsCode } from './call.ts'
import { isCapped, isCooling, leftOf, noteGiven } from './gates.ts'
import { reconcile } from './reconcile.ts'
import { type AgentState, agentOf, type CompanionState, noteWritten, openWindow, rememberInside, withAgent } from './state.ts'
import type { Abstained, JudgeContext, JudgedNote, Judgement, Said } from './types.ts'

export interface Judge {
  readonly companion: Companion
  readonly observations: Observations
  readonly claimCache: ClaimCache
  readonly said: Said
  readonly suiteRuns: Map<string, SuiteRun>
  readonly suiteCounts: Map<string, { readonly stamp: string; readonly n: number | null }>
  /** A reconciliation that takes longer is silence with a line. */
  readonly reconcileMs: number
  /** The host's graph, if it has one. */
  readonly nodes?: (dir: string) => readonly TestNode[]
}

export function createJudge(companion: Companion, rest: Partial<Judge> = {}): Judge {
  const { observations, claimCache } = companion
  return {
    companion,
    observations,
    claimCache,
    said: new Set(),
    suiteRuns: new Map(),
    suiteCounts: new Map(),
    reconcileMs: 50,
    ...rest,
  }
}

/** A bash call can write thousands of files: the first of them speak for the rest. */
const maxChanged = 50

const silence = (state: CompanionState, abstained: Abstained, ledger: readonly LedgerLine[] = []): Judgement => ({
  state,
  judged: false,
  note: null,
  action: null,
  abstained,
  reconciliation: null,
  ledger,
})

/** Events that are no calls change windows and observations, and say nothing. */
export function judgeEvent(judge: Judge, state: CompanionState, event: SessionEvent, context: JudgeContext): Judgement {
  const config = judge.companion.config()
  if (!config.enabled) return disabled(judge, state, config)
  if (event.kind !== 'tool-finished') return silence(hear(judge, state, event, config), { code: 'not-a-call' })
  return judgeCall(judge, state, event, context, config)
}

function disabled(judge: Judge, state: CompanionState, config: CompanionConfig): Judgement {
  const ledger = once(judge, 'disabled') ? [ledgerLine(config, 'disabled', lines.disabled)] : []
  return silence(state, { code: 'disabled' }, ledger)
}

function once({ said }: Judge, key: string): boolean {
  if (said.has(key)) return false
  said.add(key)
  return true
}

function hear(judge: Judge, state: CompanionState, event: SessionEvent, config: CompanionConfig): CompanionState {
  const isLiterally = isLiteral(config, 'reset')
  const speaks = event.kind === 'person-spoke' || (event.kind === 'turn-started' && (event.by === 'person' || isLiterally))
  if (speaks) {
    const names = event.agent === undefined ? Object.keys(state.agents) : [event.agent]
    let next = state
    // Who did nothing yet has a fresh window.
    for (const name of names.filter(each => Object.hasOwn(next.agents, each)))
      next = withAgent(next, name, openWindow(agentOf(next, name)))
    return next
  }
  if (event.kind === 'file-changed') {
    const { deps, knowledge } = judge.companion
    const path = projectPath(deps, event.path)
    if (path !== null && path !== '') {
      judge.observations.changed(path, knowledge.tree.kind(path), knowledge.packages.of(path))
      knowledge.touch(path)
    }
  }
  return state
}

function judgeCall(
  judge: Judge,
  before: CompanionState,
  event: ToolFinished,
  context: JudgeContext,
  config: CompanionConfig,
): Judgement {
  const isLiterally = isLiteral(config, 'calls')
  const isPlain = (event.written?.length ?? 0) === 0 && !runsCode(event.tool) && event.parent === undefined
  if (isPlain && !config.emitOn.includes(event.tool)) {
    return silence(before, { code: isOwnTool(event.tool) ? 'own-call' : 'not-judged' })
  }
  const { deps, knowledge } = judge.companion
  let agent = agentOf(before, event.agent)
  const call = callOf(deps, event)
  if (event.parent !== undefined && !isLiterally) {
    return silence(withAgent(before, event.agent, rememberInside(agent, event.parent, call.written)), { code: 'sub-call' })
  }
  const inside = Object.hasOwn(agent.inside, event.call) ? agent.inside[event.call]! : []
  if (inside.length > 0) {
    const { [event.call]: _, ...rest } = agent.inside
    agent = { ...agent, inside: rest }
  }
  if (isOwnTool(event.tool)) return silence(withAgent(before, event.agent, agent), { code: 'own-call' })
  const written = [...new Set([...call.written, ...inside])]
  const run = config.observe && config.compat === 'none' && runsCode(event.tool) ? runIn(event.output) : null
  if (run !== null) {
    const dir = knowledge.packages.of(fileIn(folderOfCall(judge, call))).dir
    const isWhole = call.command !== null && isWholeCommand(call.command, config.wholeRuns)
    judge.observations.see(dir, run, isWhole)
  }
  for (const path of written) {
    judge.observations.changed(path, knowledge.tree.kind(path), knowledge.packages.of(path))
    knowledge.touch(path)
  }
  agent = noteWritten(agent, written)
  const isWrite = event.ok && written.length > 0
  const isJudged =
    config.emitOn.includes(event.tool) ||
    (isWrite && config.emitOn.includes('@writes')) ||
    (run !== null && config.emitOn.includes('@runs'))
  if (!isJudged) return silence(withAgent(before, event.agent, agent), { code: 'not-judged' })
  const full: Call = { ...call, written }
  const state = withAgent(before, event.agent, agent)
  return new CallJudge(judge, config, event, full, context, run !== null).judge(state)
}

/** The run's folder, relative to the project; empty for the root and for one outside. */
export function folderOfCall({ companion: { deps } }: Pick<Judge, 'companion'>, { cwd }: Pick<Call, 'cwd'>): string {
  return cwd === undefined ? '' : (projectPath(deps, cwd) ?? '')
}

const fileIn = (folder: string) => (folder === '' ? '.' : `${folder}/.`)

export function ledgerLine(config: CompanionConfig, what: string, text: string, rest: Partial<LedgerLine> = {}): LedgerLine {
  return { what, text: `${labelOf(config)}: ${text}`, ...rest }
}

class CallJudge {
  readonly #judge: Judge
  readonly #config: CompanionConfig
  readonly #event: ToolFinished
  readonly #call: Call
  readonly #context: JudgeContext
  readonly #hasRun: boolean
  readonly #ledger: LedgerLine[] = []
  #first: Abstained | null = null

  constructor(judge: Judge, config: CompanionConfig, event: ToolFinished, call: Call, context: JudgeContext, hasRun: boolean) {
    this.#judge = judge
    this.#config = config
    this.#event = event
    this.#call = call
    this.#context = context
    this.#hasRun = hasRun
  }

  judge(state: CompanionState): Judgement {
    const config = this.#config
    const workspace = findWorkspace(this.#judge.companion, config, this.#event, this.#call)
    this.#tellOfPacks(workspace?.compiled ?? this.#judge.companion.compiled(config))
    if (workspace === null) {
      this.#line('abstained', lines.foreign, { reason: 'foreign-workspace' })
      return silence(state, { code: 'foreign-workspace' }, this.#ledger)
    }
    let agent = agentOf(state, this.#event.agent)
    agent = { ...agent, judged: agent.judged + 1 }
    if (config.refillCalls > 0 && agent.judged - agent.began > config.refillCalls) {
      agent = noteWritten({ ...openWindow(agent), began: agent.judged - 1 }, this.#call.written)
    }
    const reconciled = reconcile(this.#judge, config, workspace, this.#event, this.#call, this.#hasRun, agent, this.#context)
    this.#ledger.push(...reconciled.ledger)
    agent = reconciled.agent
    const finish = (next: AgentState, rest: Partial<Judgement>): Judgement => ({
      ...silence(withAgent(state, this.#event.agent, next), { code: 'no-signal' }, this.#ledger),
      judged: true,
      reconciliation: reconciled.result,
      ...rest,
    })
    if (reconciled.note !== null) return finish(agent, { note: reconciled.note, action: reconciled.action, abstained: null })
    if (!this.#event.ok && !isLiteral(config, 'calls')) return finish(agent, { abstained: { code: 'failed-call' } })
    const outcome = this.#intents(workspace, agent)
    if (outcome === null) return finish(agent, { abstained: this.#first ?? { code: 'no-signal' } })
    return finish(outcome.agent, { note: outcome.note, action: outcome.action, abstained: null })
  }

  #line(what: string, text: string, rest: Partial<LedgerLine> = {}): void {
    this.#ledger.push(ledgerLine(this.#config, what, text, rest))
  }

  /** Once per version of a file: what was ignored, and what can never be reached. */
  #tellOfPacks(compiled: Compiled): void {
    for (const { layer, file, faults, stamp, status } of compiled.layers) {
      const [fault] = faults
      if (status !== 'ignored' || fault === undefined || !once(this.#judge, `pack ${file} ${stamp}`)) continue
      this.#line('pack', lines.packIgnored(layer, fault.code), { reason: fault.code })
    }
    for (const intent of compiled.intents.filter(each => isEnabled(each, this.#config))) {
      const gate = gateNow(intent, this.#config)
      const most = bestOf(intent)
      if (gate <= most || !once(this.#judge, `unreachable ${intent.id} ${gate} ${most}`)) continue
      this.#line('unreachable', lines.unreachable(intent.id, gate, most), { reason: intent.id })
    }
  }

  #intents(workspace: Workspace, agent: AgentState): { agent: AgentState; note: JudgedNote; action: string } | null {
    const { companion } = this.#judge
    const config = this.#config
    const sources = companion.knowledge.now(workspace.compiled, this.#context.declaredBy)
    const changed = this.#call.written
      .filter(path => !isExcluded(path, config.exclude, isLiteral(config, 'exclude')))
      .slice(0, maxChanged)
    for (const intent of workspace.compiled.intents) {
      if (!isEnabled(intent, config)) continue
      const found =
        intent.find.length > 0 ? this.#finder(intent, sources, changed, agent) : this.#targets(intent, workspace, agent)
      if (found === 'capped') return null
      if (found !== null) return found
    }
    return null
  }

  #finder(intent: Intent, sources: Sources, changed: readonly string[], agent: AgentState) {
    const config = this.#config
    const text = changedText(this.#event.input)
    const ranked = rankCandidates(sources, intent, changed, config.evidence, () => text)
    const [best] = ranked
    if (best === undefined) return null
    const gate = gateNow(intent, config)
    if (best.k < gate) return this.#abstain('ambiguous', intent, best.k, lines.ambiguous(intent.id, best.k))
    const literal = isLiteral(config, 'exclude')
    const nameable = ranked.filter(
      each =>
        each.k >= gate &&
        !isExcluded(each.path, config.exclude, literal) &&
        isNameable(each) &&
        (each.missing || isRegular(sources.deps, each.path)),
    )
    if (nameable.length === 0) return this.#abstain('no-companions', intent, best.k, lines.noCompanions(intent.id, best.k))
    const written = new Set(agent.written)
    const told = config.yieldToKeel ? this.#context.toldByKeel() : new Set<string>()
    const left = leftOf(agent, intent, nameable, config, path => written.has(path) || told.has(path))
    switch (left.kind) {
      case 'travelling':
        return this.#abstain('travelling', intent, best.k, lines.travelling(intent.id, best.k))
      case 'deduped':
      case 'struck':
        return this.#abstain(left.kind, intent, best.k, lines.suppressed(left.kind, intent.id))
      default: {
        const held = this.#held(intent, best.k, agent)
        if (held !== undefined) return held
        const { candidates } = left
        const note = finderNote(labelOf(config), intent, candidates, config)
        return this.#emit(intent, candidates[0]!.k, candidates.slice(0, note.count), note, agent)
      }
    }
  }

  #targets(intent: Intent, workspace: Workspace, agent: AgentState) {
    const config = this.#config
    const found = judgeTargets(this.#judge.companion, config, workspace, intent, this.#event, this.#call)
    if (found.fired.length === 0) return null
    const weights = intent.signals
      .filter(({ id }) => found.fired.some(signal => signal === id))
      .map(({ id, weight }) => ({ id, weight }))
    const inOrder = found.fired.flatMap(id => weights.find(each => each.id === id)?.weight ?? [])
    const sum = sumOf(inOrder)
    const k = confidenceOf(sum)
    if (k < gateNow(intent, config)) return this.#abstain('ambiguous', intent, k, lines.ambiguous(intent.id, k))
    const { targets, counts } = found.targets()
    if (!counts) return this.#abstain('no-companions', intent, k, lines.noCompanions(intent.id, k))
    const held = this.#held(intent, k, agent)
    if (held !== undefined) return held
    const note = targetNote(labelOf(config), intent, k, targets, found.fired, config)
    const evidence = found.fired.flatMap(signal => {
      const weight = weights.find(each => each.id === signal)?.weight
      return weight === undefined ? [] : [{ signal, weight, strength: 1, contribution: weight, detail: {} }]
    })
    const candidates = targets
      .slice(0, note.count)
      .map((path): Candidate => ({ path, for: '', sum, k, missing: false, because: [], evidence }))
    return this.#emit(intent, k, candidates, note, agent)
  }

  /** `undefined`: nothing holds it back. */
  #held(intent: Intent, k: number, agent: AgentState): 'capped' | null | undefined {
    if (isCooling(agent, intent.id, this.#config))
      return this.#abstain('cooldown', intent, k, lines.suppressed('cooldown', intent.id))
    if (!isCapped(agent, this.#config)) return undefined
    this.#abstain('cap', intent, k, lines.suppressed('cap', intent.id))
    return 'capped'
  }

  #abstain(code: Abstained['code'], intent: Intent, k: number, text: string): null {
    this.#first ??= { code, intent: intent.id, k: documentNumber(k) }
    const isSuppressed = text.startsWith('suppressed')
    const detail = { intent: intent.id, k: documentNumber(k), tool: this.#event.tool }
    this.#line(isSuppressed ? 'suppressed' : 'abstained', text, { reason: code, detail })
    return null
  }

  #emit(
    intent: Intent,
    k: number,
    candidates: readonly Candidate[],
    listed: { readonly text: string; readonly summary: string; readonly count: number },
    agent: AgentState,
  ): { agent: AgentState; note: JudgedNote; action: string } {
    const { tool } = this.#event
    const detail = { intent: intent.id, k: documentNumber(k), n: listed.count, tool }
    this.#line('suggest', lines.suggest(intent.id, k, listed.count, tool), { reason: intent.id, detail })
    const action = this.#context.newId()
    return {
      agent: noteGiven(agent, { intent: intent.id, action, of: intent, candidates }),
      note: { text: listed.text, summary: listed.summary, intent: intent.id, k, candidates },
      action,
    }
  }
}
