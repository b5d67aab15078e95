/** What documents state against what was counted, at one call: told once, with a rest in between. */
import type { LedgerLine } from '../../session/engine.ts'
import type { ToolFinished } from '../../session/events.ts'
import { relativeTo } from '../../text/paths.ts'
import { claimsOf, type Reconciled, reconcileClaims } from '../claims/check-claims.ts'
import type { Package } from '../packages.ts'
import { observeSuite, reconcileSuites } from '../playform/suites.ts'
import type { Workspace } from '../playform/workspace.ts'
import { labelOf } from '../project.ts'
import { lines, reconciliationNote } from '../texts.ts'
import type { CompanionConfig } from '../types.ts'
import type { Call } from './call.ts'
import { isCapped, isCooling, noteGiven, reconciliationIntent } from './gates.ts'
import { folderOfCall, type Judge, ledgerLine } from './judge.ts'
import type { AgentState } from './state.ts'
import type { JudgeContext, JudgedNote, ReconciliationResult } from './types.ts'

export interface ReconcileOutcome {
  readonly agent: AgentState
  readonly note: JudgedNote | null
  readonly action: string | null
  /** `null`: out of scope. */
  readonly result: ReconciliationResult | null
  readonly ledger: readonly LedgerLine[]
}

const maxPackages = 8

export function reconcile(
  judge: Judge,
  config: CompanionConfig,
  workspace: Workspace,
  event: ToolFinished,
  call: Call,
  hasRun: boolean,
  agent: AgentState,
  context: JudgeContext,
): ReconcileOutcome {
  const none: ReconcileOutcome = { agent, note: null, action: null, result: null, ledger: [] }
  const ledger: LedgerLine[] = []
  try {
    const started = performance.now()
    const found =
      config.compat === 'playform'
        ? bySuites(judge, config, workspace, event, call, ledger)
        : byClaims(judge, call, hasRun, workspace)
    if (performance.now() - started > judge.reconcileMs) {
      return {
        ...none,
        ledger: [ledgerLine(config, 'failed', lines.failed('reconciliation', `took more than ${judge.reconcileMs} ms`))],
      }
    }
    return tell(judge, config, found, event, agent, context, ledger)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ...none, ledger: [ledgerLine(config, 'failed', lines.failed('reconciliation', message))] }
  }
}

/** Packages of what was written and of the folder that a run ran in. */
function byClaims(
  { companion, observations, claimCache }: Judge,
  call: Call,
  hasRun: boolean,
  { compiled }: Workspace,
): readonly Reconciled[] {
  const { deps, knowledge } = companion
  if (!knowledge.isListed || knowledge.tree.capped) return []
  const found = new Map<string, Package>()
  const add = (of: Package) => found.set(of.dir, of)
  for (const path of call.written) add(knowledge.packages.of(path))
  if (hasRun) {
    const folder = folderOfCall({ companion }, call)
    add(knowledge.packages.of(folder === '' ? '.' : `${folder}/.`))
  }
  const context = {
    deps,
    tree: knowledge.tree,
    packages: knowledge.packages,
    observations,
    claims: compiled.claims,
    cache: claimCache,
  }
  return [...found.values()].slice(0, maxPackages).flatMap(of => reconcileClaims(of, claimsOf(context, of)) ?? [])
}

function bySuites(
  { companion, suiteRuns, suiteCounts, nodes }: Judge,
  config: CompanionConfig,
  { package: of, root }: Workspace,
  event: ToolFinished,
  call: Call,
  ledger: LedgerLine[],
): readonly Reconciled[] {
  if (of === null) return []
  const context = { deps: companion.deps, config, runs: suiteRuns, counts: suiteCounts, ...(nodes !== undefined && { nodes }) }
  if (config.observe && call.command !== null) observeSuite(context, of, call.command, event.output)
  const found = reconcileSuites(context, of)
  if (found === null) return []
  if (found.skipped.length > 0) {
    ledger.push(ledgerLine(config, 'failed', lines.failed('reconciliation', `skipped ${found.skipped.length} folders`)))
  }
  const dir = relativeTo(root, of.dir) ?? ''
  return [{ package: { dir, name: of.name }, drifts: found.drifts, expected: found.expected, actual: found.actual }]
}

function tell(
  judge: Judge,
  config: CompanionConfig,
  found: readonly Reconciled[],
  event: ToolFinished,
  before: AgentState,
  context: JudgeContext,
  ledger: LedgerLine[],
): ReconcileOutcome {
  let agent = before
  for (const { package: of, drifts } of found) {
    if (drifts.length > 0) continue
    // A new drift of a package that was clear is told again.
    const { [of.dir]: _told, ...rest } = agent.drifts
    const { [of.dir]: _open, ...open } = agent.open
    agent = { ...agent, drifts: rest, open }
  }
  for (const { package: of, drifts, expected, actual } of found) {
    if (drifts.length === 0 && !judge.said.has(`clear ${of.dir}`)) {
      judge.said.add(`clear ${of.dir}`)
      const totals = { package: of.name, expected, actual }
      ledger.push(ledgerLine(config, 'reconciliation', lines.clear(totals), { reason: 'clear', detail: { ...totals } }))
    }
  }
  const first = found.find(({ drifts }) => drifts.length > 0) ?? found[0]
  if (first === undefined) return { agent, note: null, action: null, result: null, ledger }
  const { package: of, drifts, expected, actual } = first
  const totals = { package: of.name, expected, actual }
  const base = { package: of.name, dir: of.dir === '' ? '.' : of.dir, drifts, expected, actual }
  const end = (status: ReconciliationResult['status'], rest: Partial<ReconcileOutcome> = {}): ReconcileOutcome => ({
    agent,
    note: null,
    action: null,
    result: { ...base, status },
    ledger,
    ...rest,
  })
  if (drifts.length === 0) return end('clear')
  agent = { ...agent, open: { ...agent.open, [of.dir]: drifts.map(({ file, reason }) => ({ file, reason })) } }
  const key = JSON.stringify([...drifts].map(each => [each.file, each.reason, each.expected, each.actual]).sort())
  const skip = (why: 'deduped' | 'cooldown' | 'cap'): ReconcileOutcome => {
    ledger.push(ledgerLine(config, 'reconciliation', lines.skipped(why, of.name), { reason: why, detail: { package: of.name } }))
    return end(why, { agent })
  }
  if (agent.drifts[of.dir] === key) return skip('deduped')
  if (isCooling(agent, reconciliationIntent, config)) return skip('cooldown')
  if (isCapped(agent, config)) return skip('cap')
  const { text, summary } = reconciliationNote(labelOf(config), totals, drifts, config.compat === 'playform', config.maxNoteChars)
  const detail = { ...totals, drifts: drifts.length, tool: event.tool }
  ledger.push(ledgerLine(config, 'reconciliation', lines.drift(totals, drifts.length, event.tool), { reason: 'drift', detail }))
  const action = context.newId()
  agent = noteGiven(agent, { intent: reconciliationIntent, action, candidates: [] })
  agent = { ...agent, drifts: { ...agent.drifts, [of.dir]: key } }
  return end('note', { agent, action, note: { text, summary, intent: reconciliationIntent, k: null, candidates: [], drifts } })
}
