/** How what several engines ask for becomes one: contexts, holds, status lines, notices, watched paths. Pure. */
import type { Action, ActionOf, EngineName } from '../session/actions.ts'
import { engineOrder } from '../session/actions.ts'

/** Order of the parts of a status line. */
const statusOrder: readonly EngineName[] = ['pack', 'keel', 'companion', 'repl', 'next']
const statusChars = 160
const separator = ' · '

export interface StatusPart {
  readonly text: string
  readonly urgent: boolean
}

/**
 * One line: a degraded mode, then what is urgent, then the rest; at most 160 characters, the last part
 * that begins in it cut with `…`. `null`: nobody says anything.
 */
export function composeStatus(parts: ReadonlyMap<EngineName, StatusPart>, modes: readonly string[]): string | null {
  const ordered = statusOrder.flatMap(engine => parts.get(engine) ?? [])
  const texts = [
    ...(modes.length > 0 ? [`outrigger: ${modes.join(', ')}`] : []),
    ...ordered.filter(part => part.urgent).map(part => part.text),
    ...ordered.filter(part => !part.urgent).map(part => part.text),
  ]
  let line = ''
  for (const text of texts.map(oneLine).filter(text => text !== '')) {
    const joined = line === '' ? text : line + separator + text
    if (joined.length <= statusChars) {
      line = joined
      continue
    }
    const begins = line === '' || line.length + separator.length + 1 < statusChars
    return begins ? `${cutWhole(joined, statusChars - 1)}…` : line
  }
  return line === '' ? null : line
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

function cutWhole(text: string, end: number): string {
  const code = text.charCodeAt(end - 1)
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end).trimEnd()
}

/** Parts in engine order, each as it is; one action an engine. `ids` of an action are those it stands for. */
export function mergeContexts(
  contexts: readonly ActionOf<'add-context'>[],
): readonly { readonly action: ActionOf<'add-context'>; readonly ids: readonly string[] }[] {
  return engineOrder.flatMap(engine => {
    const own = contexts.filter(context => context.engine === engine)
    const [first] = own
    if (first === undefined) return []
    const text = joinTexts(own.map(context => context.text))
    return [{ action: { ...first, text, summary: first.summary.slice(0, 120) }, ids: own.map(context => context.id) }]
  })
}

/** An empty line between. */
export const joinTexts = (texts: readonly string[]): string =>
  texts.map((text, index) => (index < texts.length - 1 ? text.replace(/\n+$/, '') : text)).join('\n\n')

export const inEngineOrder = <A extends Action>(actions: readonly A[]): readonly A[] =>
  engineOrder.flatMap(engine => actions.filter(action => action.engine === engine))

const defaultNoticeMs = 4_000

/** How long a notice stands: 1 s to a minute. */
export const noticeMs = (ms: number | undefined): number => Math.min(Math.max(ms ?? defaultNoticeMs, 1_000), 60_000)

/** Paths that all engines together want to be watched. */
export const unionOf = (lists: Iterable<readonly string[]>): readonly string[] => [...new Set([...lists].flat())].sort()
