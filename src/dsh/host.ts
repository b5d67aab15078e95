/** What the door asks of the host; tests hand in their own. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { OutriggerError } from '../errors.ts'
import type { ActionOf } from '../session/actions.ts'
import { openBeside } from './fresh.ts'
import { askModel, type ModelReply } from './model.ts'

export interface HostGoal {
  readonly id: string
  readonly revision: number
  readonly objective: string
  readonly phase: string
  readonly activation: 'armed' | 'disarmed'
}

interface GoalService {
  get(agent: Agent): HostGoal | undefined
  disarm(agent: Agent): unknown
}

export interface DoorHost {
  /** A live agent by the id of its session. */
  find(session: string): Agent | undefined
  /** All live agents. */
  agents(): readonly Agent[]
  /** Background jobs of an agent that run now. */
  jobs(agent: Agent): number
  /** Calls back whenever the jobs of an agent, or of nobody, are others. */
  onJobs(changed: (owner: Agent | undefined) => void): void
  /** The agent plans and does not act, or will from its next step on because a person chose so. */
  planMode(agent: Agent): boolean
  /** The goal of an agent, with whether the host's own driver goes on with it; `undefined`: none, or no such service. */
  goal(agent: Agent): HostGoal | undefined
  /** Keep the host's driver of the goal from starting turns; the goal stays. Throws when there is no such service. */
  disarmGoal(agent: Agent): void
  /**
   * Start a turn that no agent began, once all before it is written down. Throws what the host throws.
   *
   * @param isWanted - asked at the last moment.
   */
  start(agent: Agent, message: UserMessage, isWanted: () => boolean): Promise<void>
  /** Tokens that fit into the agent's context; 0 when the host does not know. */
  window(agent: Agent): number
  /** Tokens at which the host compacts a window of this size; `undefined`: nothing here does. */
  compactsAt(window: number): number | undefined
  /** Ask the session's model beside its conversation. Never rejects. */
  ask(agent: Agent, ask: ActionOf<'ask-model'>, signal: AbortSignal): Promise<ModelReply>
  /** Open a session beside this one. @param onId - told its id before it begins. */
  openBeside(agent: Agent, onId: (session: string) => void): Promise<Agent>
  /** One line for people; the host's log. */
  warn(text: string): void
}

/** Where the host has no service that knows: the last row counts, also of the part that was replayed. */
function foldPlanMode(events: readonly { readonly type: string; readonly data: unknown }[]): boolean {
  const last = events.findLast(({ type }) => type === 'plan/mode')
  return (last?.data as { readonly active?: unknown } | undefined)?.active === true
}

/** Of the host's own compaction, where its row says nothing. */
const usualRatio = 0.8

/** Rows mount concurrently, so what may be absent is looked up late. */
export function hostOf(ctx: Context): DoorHost {
  const log = ctx.logger('outrigger')
  return {
    find: session => ctx.agents.list().find(agent => agent.id === session),
    agents: () => ctx.agents.list(),
    jobs: agent => {
      const jobs = ctx.get('jobs') as { list(caller: unknown): readonly { readonly status: string }[] } | undefined
      return jobs?.list(agent).filter(job => job.status === 'running' || job.status === 'stopping').length ?? 0
    },
    onJobs: changed =>
      ctx.inject(['jobs'], scope => {
        // Calls back with the owner; an older host has no such method.
        const jobs = scope.get('jobs') as { onJobsChanged?(listener: (owner: Agent | undefined) => void): () => void }
        if (jobs.onJobsChanged !== undefined) scope.effect(() => jobs.onJobsChanged!(changed))
      }),
    planMode: agent => {
      const controller = ctx.get('planMode') as { get(agent: Agent): { active: boolean; pending?: boolean } } | undefined
      const state = controller?.get(agent)
      return state === undefined ? foldPlanMode(agent.session.events) : (state.pending ?? state.active)
    },
    goal: agent => (ctx.get('goals') as GoalService | undefined)?.get(agent),
    disarmGoal: agent => {
      const goals = ctx.get('goals') as GoalService | undefined
      if (goals === undefined) throw new OutriggerError('DSH_NO_GOALS', 'the host has no goals')
      goals.disarm(agent)
    },
    start: async (agent, message, isWanted) => {
      await ctx.sessions.flush(agent.session)
      if (isWanted()) ctx.agents.withoutInitiator(() => agent.followup(message))
    },
    window: agent => agent.session.requestContext()?.contextWindow ?? 0,
    compactsAt: window => {
      const compaction = ctx.get('compaction') as { readonly config?: { readonly thresholdRatio?: number } } | undefined
      return compaction === undefined ? undefined : Math.floor(window * (compaction.config?.thresholdRatio ?? usualRatio))
    },
    ask: (agent, ask, signal) => askModel(ctx, agent, ask, signal),
    openBeside: (agent, onId) => openBeside(ctx, agent, onId),
    warn: text => {
      log.warn(text)
      // No row of the host prints what is logged; without this a person would never read it.
      process.stderr.write(`${text}\n`)
    },
  }
}
