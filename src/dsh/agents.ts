/**
 * What the door keeps about each agent of the host while it lives: which session it counts for, what its
 * turn has said, which calls it has reported, and context that waits for the next request.
 */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { wakesIn } from './wakes.ts'

export interface TrackedAgent {
  readonly agent: Agent
  /** The session that its events count for: its own, or that of the main agent it works for. */
  readonly session: string
  /** A helper agent's id; `undefined` for a main agent. */
  readonly helper: string | undefined
  readonly cwd: string
  /** Number of the host's open or last turn; 0 before the first. */
  turn: number
  /** Texts of the assistant's messages in this turn, oldest first. */
  answers: string[]
  /** It was kept going before in this turn. */
  held: boolean
  /** Calls of this turn that a finished result was reported for. */
  readonly reported: Set<string>
  /** Calls of this turn as the model made them. */
  readonly called: Map<string, { readonly name: string; readonly arguments: string }>
  /** Messages for the next request. */
  pending: UserMessage[]
  started: boolean
  /** The session from which this one was opened by us. */
  previous?: string
  /** Settles when the start of its session was answered: the first request waits for what is behind. */
  starting: Promise<unknown>
  /** The runtime that was told of it last; one that was made anew has heard of nothing. */
  toldTo?: unknown
  /** What was last told about work beside the agent. */
  busy: string
  /** Tokens of the open turn as its requests reported them; input without what a cache gave. */
  usage: { input: number; output: number }
  /** Permissions that were asked for and not decided. */
  readonly approvals: Set<string>
  /** Calls that wait for a person's answer. */
  readonly questions: Set<string>
  /** Reminders by which the host will wake the agent. */
  readonly wakes: Set<string>
  /** Turns that were not begun because the loop's message was refused. */
  readonly voided: Set<number>
  /** What was last told about the goal. */
  goal: string
}

/** @param find - a live agent by its session's id. */
export function trackAgent(agent: Agent, find: (session: string) => Agent | undefined): TrackedAgent {
  const isHelper = agent.session.header.origin === 'subagent'
  const main = isHelper ? mainOf(agent, find) : agent
  return {
    agent,
    session: main?.id ?? agent.session.header.parentSession ?? agent.id,
    helper: isHelper ? agent.id : undefined,
    cwd: main?.session.header.cwd ?? agent.session.header.cwd ?? process.cwd(),
    turn: 0,
    answers: [],
    held: false,
    reported: new Set(),
    called: new Map(),
    pending: [],
    started: false,
    starting: Promise.resolve(),
    busy: '',
    usage: { input: 0, output: 0 },
    approvals: new Set(),
    questions: new Set(),
    wakes: wakesIn(agent.session),
    voided: new Set(),
    goal: '',
  }
}

/** The agent that a helper works for, over any number of helpers in between. */
function mainOf(agent: Agent, find: (session: string) => Agent | undefined): Agent | undefined {
  let current: Agent | undefined = agent
  while (current?.session.header.origin === 'subagent') {
    const parent: string | undefined = current.session.header.parentSession
    current = parent === undefined ? undefined : find(parent)
  }
  return current
}

/** Begin a turn: nothing said, nothing called, not held. */
export function openTurn(tracked: TrackedAgent, turn: number): void {
  tracked.turn = turn
  tracked.answers = []
  tracked.held = false
  tracked.usage = { input: 0, output: 0 }
  tracked.reported.clear()
  tracked.called.clear()
}
