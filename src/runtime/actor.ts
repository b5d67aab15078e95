/**
 * Who acts: a person, or an agent that may read and review but not switch on what spends or starts turns.
 * Found once by the door. What a caller states is a record, not a proof; what the environment says about an
 * agent cannot be stated away.
 */
import { OutriggerError } from '../errors.ts'
import type { Actor, Caller } from '../session/operation.ts'
import type { Environment } from './project.ts'

/**
 * What hosts set for the commands of their agent, and for nothing else. `CLAUDECODE` is not among them: hooks and
 * servers of that host carry it too.
 */
export const agentMarkers: readonly { readonly variable: string; readonly isAgent: (value: string) => boolean }[] = [
  { variable: 'OUTRIGGER_ACTOR', isAgent: value => value === 'agent' || value.startsWith('agent:') },
  { variable: 'AI_AGENT', isAgent: value => value.endsWith('_agent') },
  { variable: 'CURSOR_AGENT', isAgent: value => value !== '' && value !== '0' },
  { variable: 'GEMINI_CLI', isAgent: value => value !== '' && value !== '0' },
  { variable: 'DSH_SHELL', isAgent: value => value !== '' && value !== '0' },
  { variable: 'CODEX_SANDBOX', isAgent: value => value !== '' },
]

export interface ActorQuestion {
  readonly env: Environment
  readonly door: Caller['door']
  /** Standard input is a terminal: a person can type. */
  readonly isTerminal: boolean
  /** `person`, `agent`, each with `:name`; what `--who` said, or a host of the one who typed a command. */
  readonly stated?: string
}

/** Throws `BAD_INPUT` for a statement of another form. */
export function findActor({ env, door, isTerminal, stated }: ActorQuestion): Actor {
  const said = stated === undefined ? undefined : parseStated(stated)
  const marker = agentMarkers.find(({ variable, isAgent }) => isAgent(env[variable] ?? ''))
  if (marker !== undefined) {
    const name = (said?.kind === 'agent' ? said.name : undefined) ?? nameIn(env['OUTRIGGER_ACTOR']) ?? nameOfHost(env['AI_AGENT'])
    return {
      kind: 'agent',
      ...(name !== undefined && { name }),
      basis: marker.variable === 'OUTRIGGER_ACTOR' ? 'stated' : 'host',
    }
  }
  if (door !== 'cli') return { kind: 'agent', ...said, basis: 'host' }
  if (said !== undefined) return { ...said, basis: said.kind === 'person' && isTerminal ? 'terminal' : 'stated' }
  return { kind: 'person', basis: isTerminal ? 'terminal' : 'stated' }
}

function parseStated(text: string): Pick<Actor, 'kind' | 'name'> {
  const match = /^(person|agent)(?::(.*))?$/su.exec(text.trim())
  if (match === null) {
    throw new OutriggerError('BAD_INPUT', `"${text.slice(0, 40)}" does not say who acts`, {
      subject: 'who',
      hint: 'give person or agent, with a name if you like: person:Ada',
    })
  }
  const name = cleaned(match[2])
  return { kind: match[1] as 'person' | 'agent', ...(name !== undefined && { name }) }
}

function nameIn(marker: string | undefined): string | undefined {
  return marker?.startsWith('agent:') ? cleaned(marker.slice('agent:'.length)) : undefined
}

/** `claude-code_2-1-332_agent` names the host first. */
function nameOfHost(marker: string | undefined): string | undefined {
  return marker?.endsWith('_agent') ? cleaned(marker.split('_')[0]) : undefined
}

/** One line of at most 100 characters. */
function cleaned(name: string | undefined): string | undefined {
  const text = [...(name ?? '').replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim()].slice(0, 100).join('')
  return text === '' ? undefined : text
}
