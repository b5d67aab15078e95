/**
 * What next-step knows of a session from its events alone: the newest turn, what its tools did, what was said, the goal,
 * what else is at work. The same events give the same facts; nothing in here decides.
 */
import { foldWork, noWork, type Work } from '../session/busy.ts'
import type { By, SessionEvent, Todo } from '../session/events.ts'
import { cutMiddle } from '../text/data.ts'
import { mask } from '../text/redact.ts'
import { endOf } from './asks.ts'
import { foldGoal, type Goals, noGoals } from './goals.ts'
import { foldTool, noTurnWork, type TurnWork } from './local.ts'
import { hostsIn } from './risky.ts'
import type { NewestTurn } from './types.ts'

/** Secrets in it are masked. */
export interface Said {
  readonly who: 'person' | 'agent' | 'ours' | 'tool'
  readonly text: string
}

export interface NextFacts {
  readonly isChild: boolean
  readonly isInteractive: boolean
  readonly isMounted: boolean
  readonly isStarter: boolean
  readonly title: string | null
  readonly project: string
  readonly turn: NewestTurn | null
  readonly by: By | null
  /** Of the newest turn that ended, and of the one that is open. */
  readonly work: TurnWork
  /** Tool events since the last turn ended; a turn that begins takes them along. */
  readonly open: TurnWork
  /** The end of it. */
  readonly answer: string | null
  /** The person's newest message. */
  readonly said: string | null
  readonly hosts: readonly string[]
  /** Oldest first. */
  readonly talk: readonly Said[]
  readonly goals: Goals
  readonly todos: readonly Todo[]
  readonly busy: Work
}

export function emptyNextFacts(project: string): NextFacts {
  return {
    isChild: false,
    isInteractive: true,
    isMounted: true,
    isStarter: true,
    title: null,
    project,
    turn: null,
    by: null,
    work: noTurnWork,
    open: noTurnWork,
    answer: null,
    said: null,
    hosts: [],
    talk: [],
    goals: noGoals,
    todos: [],
    busy: noWork,
  }
}

const maxTalkChars = 20_000
const maxHosts = 200
const maxTodo = 400

/** @param talkChars - how much of what was said is kept. */
export function foldNext(facts: NextFacts, event: SessionEvent, talkChars: number = maxTalkChars): NextFacts {
  if (event.agent !== undefined) return facts
  const busy = foldWork(facts.busy, event)
  const next = fold(facts, event, talkChars)
  return busy === facts.busy ? next : { ...next, busy }
}

function fold(facts: NextFacts, event: SessionEvent, talkChars: number): NextFacts {
  switch (event.kind) {
    case 'session-started': {
      if (event.source === 'compact') return facts
      const fresh = event.source === 'clear' ? { ...emptyNextFacts(facts.project), goals: facts.goals, turn: facts.turn } : facts
      return {
        ...fresh,
        isChild: event.child ?? false,
        isInteractive: event.interactive ?? true,
        isMounted: event.mounted ?? true,
        isStarter: event.starter ?? true,
        title: event.title ?? facts.title,
        // What was open when the session was left is not open in the one that goes on.
        turn: facts.turn?.isOpen === true ? { ...facts.turn, isOpen: false, reason: 'interrupted' } : facts.turn,
      }
    }
    case 'title-changed':
      return { ...facts, title: event.title.slice(0, 200) }
    case 'person-spoke': {
      const text = cutMiddle(event.text, 2_000)
      const hosts = [...new Set([...facts.hosts, ...hostsIn(event.text.slice(0, 20_000))])].slice(-maxHosts)
      return { ...facts, said: text, hosts, talk: add(facts.talk, { who: 'person', text }, talkChars) }
    }
    case 'turn-started': {
      if (facts.turn !== null && event.turn <= facts.turn.turn) return facts
      return { ...facts, turn: { turn: event.turn, isOpen: true, reason: null }, by: event.by, open: noTurnWork }
    }
    case 'tool-finished': {
      const text = toolLine(event)
      return { ...facts, open: foldTool(facts.open, event), talk: add(facts.talk, { who: 'tool', text }, talkChars) }
    }
    case 'turn-ended': {
      const isImplied = facts.turn === null || event.turn > facts.turn.turn
      const isEnd = isImplied || (event.turn === facts.turn?.turn && facts.turn.isOpen)
      if (!isEnd) return facts
      const answer = event.answer
      const said = { who: 'agent', text: cutMiddle(answer, 4_000) } as const
      return {
        ...facts,
        turn: { turn: event.turn, isOpen: false, reason: event.reason },
        by: isImplied ? 'host' : facts.by,
        work: facts.open,
        open: noTurnWork,
        answer: endOf(answer),
        talk: answer === '' ? facts.talk : add(shortenAnswers(facts.talk), said, talkChars),
      }
    }
    case 'todos-changed':
      return { ...facts, todos: event.todos.slice(0, 100).map(({ text, state }) => ({ text: cutMiddle(text, maxTodo), state })) }
    case 'goal-changed': {
      const goals = foldGoal(facts.goals, event)
      return goals === facts.goals ? facts : { ...facts, goals }
    }
    default:
      return facts
  }
}

/** What a plugin's turn was begun with, for the record of what was said. */
export function noteOurs(facts: NextFacts, text: string, talkChars: number = maxTalkChars): NextFacts {
  return { ...facts, talk: add(facts.talk, { who: 'ours', text: cutMiddle(text, 400) }, talkChars) }
}

/** Secrets are masked here, once. Newest kept: as many as fit twice the room, so that a long answer leaves something beside it. */
function add(talk: readonly Said[], { who, text }: Said, chars: number): readonly Said[] {
  const all = [...talk, { who, text: mask(text) }]
  let left = Math.max(chars, 4_000) + 4_000
  let from = all.length
  while (from > 0 && left > 0 && all.length - from < 200) {
    from--
    left -= all[from]!.text.length + 20
  }
  return from === 0 ? all : all.slice(from)
}

function shortenAnswers(talk: readonly Said[]): readonly Said[] {
  const at = talk.findLastIndex(({ who }) => who === 'agent')
  if (at === -1 || talk[at]!.text.length <= 2_000) return talk
  return talk.with(at, { who: 'agent', text: cutMiddle(talk[at]!.text, 2_000) })
}

function toolLine({
  tool,
  ok,
  written,
}: {
  readonly tool: string
  readonly ok: boolean
  readonly written?: readonly string[]
}): string {
  const wrote = written === undefined || written.length === 0 ? '' : `; wrote ${written.slice(0, 8).join(', ')}`
  return cutMiddle(`tool ${tool}: ${ok ? 'ok' : 'failed'}${wrote}`, 200)
}

/** Todos that are completed now. */
export const doneTodos = (facts: NextFacts): number => facts.todos.filter(({ state }) => state === 'completed').length
