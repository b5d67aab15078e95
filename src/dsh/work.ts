/** What keeps a session of the host at work beside its main agent. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { DoorHost } from './host.ts'
import { ownMessage } from './next/messages.ts'

export interface Work {
  readonly draining: boolean
  readonly queued: number
  /** Helper agents that run for this one, or for a helper of it. */
  readonly children: number
  readonly jobs: number
  readonly approvals: number
  readonly planMode: boolean
}

/** @param agent - a main agent. */
/** @param at - what the session's log told of it. */
export function busyOf(
  agent: Agent,
  host: Pick<DoorHost, 'agents' | 'find' | 'jobs'>,
  at: { readonly approvals: ReadonlySet<string>; readonly planMode: boolean },
): Work {
  const helpers = host.agents().filter(other => other !== agent && worksFor(other, agent, host.find))
  return {
    draining: agent.status === 'running',
    // A message of the loop that waits for its own turn keeps nobody waiting.
    queued: agent.inbox.nextTurn.filter(message => ownMessage(message) === undefined).length + agent.inbox.nextStep.length,
    children: helpers.filter(helper => helper.status === 'running').length,
    jobs: [agent, ...helpers].reduce((sum, each) => sum + host.jobs(each), 0),
    approvals: at.approvals.size,
    planMode: at.planMode,
  }
}

function worksFor(helper: Agent, main: Agent, find: DoorHost['find']): boolean {
  let current: Agent | undefined = helper
  while (current?.session.header.origin === 'subagent') {
    const parent: string | undefined = current.session.header.parentSession
    if (parent === main.id) return true
    current = parent === undefined ? undefined : find(parent)
  }
  return false
}
