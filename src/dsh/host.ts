/** What the door asks of the host; tests hand in their own. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ActionOf } from '../session/actions.ts'
import { openBeside } from './fresh.ts'
import { askModel, type ModelReply } from './model.ts'

export interface DoorHost {
  /** A live agent by the id of its session. */
  find(session: string): Agent | undefined
  /** All live agents. */
  agents(): readonly Agent[]
  /** Background jobs of an agent that run now. */
  jobs(agent: Agent): number
  /** Tokens that fit into the agent's context; 0 when the host does not know. */
  window(agent: Agent): number
  /** Ask the session's model beside its conversation. Never rejects. */
  ask(agent: Agent, ask: ActionOf<'ask-model'>, signal: AbortSignal): Promise<ModelReply>
  /** Open a session beside this one. @param onId - told its id before it begins. */
  openBeside(agent: Agent, onId: (session: string) => void): Promise<Agent>
  /** One line for people; the host's log. */
  warn(text: string): void
}

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
    window: agent => agent.session.requestContext()?.contextWindow ?? 0,
    ask: (agent, ask, signal) => askModel(ctx, agent, ask, signal),
    openBeside: (agent, onId) => openBeside(ctx, agent, onId),
    warn: text => {
      log.warn(text)
      // No row of the host prints what is logged; without this a person would never read it.
      process.stderr.write(`${text}\n`)
    },
  }
}
