/** Where the work stands, by code: git, the last test, commands, open todos. */
import type { GitStatus } from '../ports/git.ts'
import type { AgentRef } from '../session/events.ts'
import type { Command, SessionFacts } from '../session/facts.ts'
import { clip } from '../text/clip.ts'
import { oneLine } from '../text/data.ts'
import type { Frontier } from './assemble.ts'
import { collapse } from './clauses.ts'

const maxNames = 12
const maxRan = 5
const maxTodos = 10
const maxAgents = 10

export type SavedFacts = Pick<SessionFacts, 'commands' | 'lastTest' | 'todos' | 'agents'> & {
  /** Project-relative, sorted. */
  readonly written: readonly string[]
}

export function savedFacts(facts: SessionFacts): SavedFacts {
  const written = Object.entries(facts.files)
    .filter(([, file]) => file.writtenAt !== null)
    .map(([path]) => path)
    .sort()
    .slice(-500)
  const { commands, lastTest, todos, agents } = facts
  return { commands, lastTest, todos, agents, written }
}

/** Changed files as the notes name them: our own are none of the work. */
export function changedFiles(status: GitStatus): readonly string[] {
  return status.kind === 'ready' ? status.changed.filter(path => !path.startsWith('.outrigger/')) : []
}

/** @param mask - every line goes through it. */
export function frontierOf(status: GitStatus, facts: SavedFacts | null, mask: (text: string) => string): Frontier {
  const short = (text: string): string => clip(mask(collapse(text)), 120)
  const commandLine = (word: string, command: Command): string =>
    `${word}: ${short(command.command)} → exit ${command.exit ?? 'unknown'}`
  const open = facts?.todos.filter(todo => todo.state !== 'completed') ?? []
  const test = facts?.lastTest ?? null
  return {
    git: gitLines(status).map(mask),
    test: test === null ? [] : [`${commandLine('test', test)} at ${new Date(test.at).toISOString()}`],
    ran: (facts?.commands ?? []).slice(-maxRan).map(command => commandLine('ran', command)),
    todo: capped(
      open.map(todo => `todo: [${todo.state === 'in_progress' ? '>' : ' '}] ${short(todo.text)}`),
      maxTodos,
      more => `todo: +${more} more`,
    ),
  }
}

/** The line with all names, then with fewer and fewer. */
function gitLines(status: GitStatus): readonly string[] {
  switch (status.kind) {
    case 'none':
      return ['git: none']
    case 'failed':
      return [`git: unknown (${clip(collapse(status.why), 60)})`]
    case 'ready': {
      const head = `git: ${oneLine(status.branch ?? 'detached', 200)} @ ${status.commit?.slice(0, 12) ?? 'none'}`
      const changed = changedFiles(status)
      if (changed.length === 0) return [`${head}, clean`]
      const names = changed.slice(0, maxNames).map(path => oneLine(path, 200))
      return Array.from({ length: names.length + 1 }, (_, left) => {
        const shown = names.slice(0, names.length - left)
        const more = changed.length - shown.length
        return `${head}, ${changed.length} changed${shown.length === 0 ? '' : `: ${shown.join(', ')}${more > 0 ? ` +${more} more` : ''}`}`
      })
    }
    default:
      return status satisfies never
  }
}

const atWork: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'idle'])

export function agentLines(agents: readonly AgentRef[] | 'timed-out' | null, mask: (text: string) => string): readonly string[] {
  if (agents === 'timed-out') return ['agents: unknown (list timed out)']
  const rows = (agents ?? [])
    .filter(agent => atWork.has(agent.status))
    .map(agent => {
      const name = mask(collapse(agent.name ?? agent.type))
      const about = agent.description === undefined ? '' : ` — ${clip(mask(collapse(agent.description)), 100)}`
      return `agent in flight: ${clip(name, 80)} [${clip(collapse(agent.id), 80)}] ${agent.status}${about}`
    })
  return capped(rows, maxAgents, more => `agent in flight: +${more} more, not listed`)
}

function capped(rows: readonly string[], max: number, more: (left: number) => string): readonly string[] {
  return rows.length <= max ? rows : [...rows.slice(0, max), more(rows.length - max)]
}
