/** The host's events as ours, and what its results carry. Pure. */
import type { Action, ActionOf } from '../../session/actions.ts'
import type { By, SessionEvent, TurnEndReason, Usage } from '../../session/events.ts'
import type { HostEvent, Result } from './host.ts'

/** Names of the commands that a person types; the file of the same name answers where there is no module. */
export const commands = {
  keel: { description: 'Documents behind their sources', argumentHint: '[scan | why <file> | watch | off | on]' },
  pack: {
    description: 'Save the notes of this work and go on in a fresh session',
    argumentHint: '[stream] [--review] | save | auto | status',
  },
  unpack: { description: 'Load saved notes into this session', argumentHint: '<stream> [--trust]' },
  next: { description: 'One suggested next step, and the loop', argumentHint: '[run | arm | disarm | on | off]' },
  outrigger: { description: 'Show whether Outrigger works here and what to do if not', argumentHint: '' },
} as const

/** Who of the host's prompts is a person. */
const persons: readonly string[] = ['composer', 'bridge', 'sdk', 'slack-ping', 'unclassified']

export function isPerson(e: HostEvent): boolean {
  return persons.includes(String((e['origin'] as { kind?: unknown } | undefined)?.kind ?? 'unclassified'))
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const reasons: Readonly<Record<string, TurnEndReason>> = {
  answer: 'completed',
  refusal: 'refused',
  error: 'error',
  aborted: 'aborted',
  interrupted: 'interrupted',
  'max-tokens': 'max-tokens',
  blocked: 'blocked',
}

/** @param stopReason - of the turn's last step. */
export function endOf(e: HostEvent, stopReason: string): TurnEndReason {
  if (e['isAborted'] === true) return 'aborted'
  const reason = reasons[textOf(e['reason'])] ?? 'completed'
  return reason === 'completed' && stopReason === 'max_tokens' ? 'max-tokens' : reason
}

/** Who began a turn: a person spoke since the last one, or a submission of ours is on its way, or the host. */
export function starter(spoke: boolean, ours: 'plugin' | 'person' | undefined): By {
  return spoke ? 'person' : (ours ?? 'host')
}

/** What a turn or an answer cost, without what came out of the host's cache. */
export function usageOf(e: HostEvent): { readonly usage?: Usage } {
  const usage = (e['usage'] ?? {}) as Readonly<Record<string, unknown>>
  const count = (name: string): number => (typeof usage[name] === 'number' ? usage[name] : 0)
  const [input, output] = [count('input_tokens') + count('cache_creation_input_tokens'), count('output_tokens')]
  return input + output > 0 ? { usage: { input, output } } : {}
}

/** Does the host's stop name wake-ups that it has scheduled? */
export function wakesItself(e: HostEvent): boolean {
  const crons = e['session_crons']
  return Array.isArray(crons) && crons.length > 0
}

/** An older node cannot read the program at all, and prints it instead of a reason. */
export function whyNotStarted({ exitCode, stderr }: { readonly exitCode: number; readonly stderr: string }): string {
  const [, version, major, minor] = /Node\.js v((\d+)\.(\d+)\.\d+)\s*$/.exec(stderr) ?? []
  const isOld = Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19)
  if (version !== undefined && isOld) return `node ${version} is too old: 22.19 or newer is needed`
  // Of a stack of Node's only one line says what happened.
  const [thrown] = /^\w*Error(?: \[\w+\])?: .*$/m.exec(stderr) ?? []
  return thrown ?? (stderr.trim() || `it ended with ${exitCode}`)
}

/** Why there is no engine process, and what a person can do about it. */
export function troubleOf(error: unknown): string {
  const why = String(error).replace(/^(?:\w*Error: )+(?:outrigger: )?/, '')
  return `no engine process: ${why.slice(0, 400)}${/\n\s*hint: /.test(why) ? '' : `. ${adviceOn(why)}`}`
}

function adviceOn(why: string): string {
  const [, missing] = /not found in \$PATH: "([^"]*)"/.exec(why) ?? []
  if (missing === 'outrigger') return 'Install it with: npm install -g outrigger'
  if (missing === 'node') return 'Put Node 22.19 or newer on the PATH of this program.'
  if (missing !== undefined) return 'OUTRIGGER_BIN names it: correct that, or unset it.'
  if (why.includes('is too old')) return 'Put a newer Node first on the PATH of this program.'
  if (why.includes('Cannot find module')) return 'Install the plugin again, or correct OUTRIGGER_BIN if you set it.'
  if (why.includes('no answer within')) return '`outrigger doctor` names the process that hangs.'
  return '`outrigger doctor` says more.'
}

export type Place = Pick<SessionEvent, 'session' | 'project' | 'at'>

export function measured(place: Place, e: HostEvent, compactsAt: number | undefined): SessionEvent | undefined {
  const { tokens, window, percent } = (e['context'] ?? {}) as { tokens?: unknown; window?: unknown; percent?: unknown }
  if (typeof tokens !== 'number' || typeof window !== 'number') return undefined
  return {
    ...place,
    kind: 'context-measured',
    tokens,
    window,
    ...(compactsAt !== undefined && { compactsAt }),
    ...(typeof percent === 'number' && { percent }),
  }
}

/** What the host compacts at: its own threshold, else what it can hold at all. */
export function compactsAtOf(usage: Readonly<Record<string, unknown>>): number | undefined {
  const all = { ...usage, ...((usage['breakdown'] ?? {}) as object), ...((usage['context'] ?? {}) as object) } as Record<
    string,
    unknown
  >
  const found = [all['autoCompactThreshold'], all['rawMaxTokens']].find(value => typeof value === 'number' && value > 0)
  return found as number | undefined
}

export function contextsOf(actions: readonly Action[]): readonly string[] {
  return actions.flatMap(action => (action.kind === 'add-context' ? [action.text] : []))
}

/** The strings of one event become one message, joined by a line's end: an empty line between ours is part of the text. */
export function withContext(result: Result, actions: readonly Action[]): Result {
  const texts = contextsOf(actions)
  if (texts.length === 0) return result
  const before = (result['additionalContext'] as readonly string[] | undefined) ?? []
  return { ...result, additionalContext: [...before, texts.join('\n\n')] }
}

export function withWatches(result: Result, actions: readonly Action[]): Result {
  const watch = actions.find((action): action is ActionOf<'watch'> => action.kind === 'watch')
  if (watch === undefined) return result
  const before = (result['watchPaths'] as readonly string[] | undefined) ?? []
  return { ...result, watchPaths: [...new Set([...before, ...watch.paths])] }
}

/** Behind the block of another plugin. */
export function withHold(result: Result, actions: readonly Action[]): Result {
  const hold = actions.find((action): action is ActionOf<'hold-stop'> => action.kind === 'hold-stop')
  if (hold === undefined) return result
  const before = textOf(result['block'])
  return { ...result, block: before === '' ? hold.text : `${before}\n\n${hold.text}` }
}

/** The host writes our name before a status line. */
export function statusText(text: string | null): string | undefined {
  return text === null || text === '' ? undefined : text.replace(/^outrigger: /, '')
}
