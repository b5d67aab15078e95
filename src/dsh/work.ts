/** What keeps a session of the host at work beside its main agent. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { TrackedAgent } from './agents.ts'
import type { DoorHost } from './host.ts'
import { ownMessage } from './next/messages.ts'
import { isPersonMessage } from './translate.ts'

export interface Work {
  readonly draining: boolean
  readonly queued: number
  /** Helper agents that run for this one, or for a helper of it. */
  readonly children: number
  readonly jobs: number
  /** Permissions that a person has to decide, also of helpers. */
  readonly approvals: number
  /** Questions of a tool that a person has to answer. */
  readonly questions: number
  readonly planMode: boolean
  /** The host will begin a turn by itself: a reminder is scheduled. */
  readonly otherLoop: boolean
}

/**
 * @param agent - a main agent.
 * @param waitsOf - what the log of an agent told to be open.
 */
export function busyOf(
  agent: Agent,
  host: Pick<DoorHost, 'agents' | 'find' | 'jobs' | 'planMode'>,
  waitsOf: (agent: Agent) => Pick<TrackedAgent, 'approvals' | 'questions' | 'wakes'>,
): Work {
  const helpers = host.agents().filter(other => other !== agent && worksFor(other, agent, host.find))
  const all = [agent, ...helpers]
  return {
    draining: agent.status === 'running',
    // A message of the loop that waits for its own turn keeps nobody waiting, nor does context that goes along with whatever comes next.
    queued:
      agent.inbox.nextTurn.filter(message => ownMessage(message) === undefined).length +
      agent.inbox.nextStep.filter(isPersonMessage).length,
    children: helpers.filter(helper => helper.status === 'running').length,
    jobs: all.reduce((sum, each) => sum + host.jobs(each), 0),
    approvals: all.reduce((sum, each) => sum + waitsOf(each).approvals.size, 0),
    questions: all.reduce((sum, each) => sum + waitsOf(each).questions.size, 0),
    planMode: host.planMode(agent),
    otherLoop: waitsOf(agent).wakes.size > 0,
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
