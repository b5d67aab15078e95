/** Commands for sessions that are live, in this process or in another one of this machine. */
import { OutriggerError } from '../errors.ts'
import type { ReplyDocument } from '../next-step/answer-text.ts'
import type { Action } from '../session/actions.ts'
import type { Outrigger } from './outrigger.ts'
import type { Project } from './project.ts'

export interface LiveAnswer {
  readonly session: string
  readonly document: ReplyDocument
}

/** Types a command in a session of this process. */
export type TypeHere = (session: string, name: string, args: string, by: 'person' | 'plugin') => Promise<LiveAnswer | undefined>

/** Asks another process of ours by its socket; the answer is an operation's output. */
export type Reach = (
  socket: string,
  op: string,
  input: Readonly<Record<string, unknown>>,
  by: 'person' | 'agent',
) => Promise<unknown>

/** @param deliver - takes what the command asks of the session's host. */
export function typeHere(
  {
    outrigger,
    project,
    isLive,
  }: { readonly outrigger: Pick<Outrigger, 'handle'>; readonly project: Project; isLive(session: string): boolean },
  deliver: (session: string, actions: readonly Action[]) => void,
): TypeHere {
  return async (session, name, args, by) => {
    if (!isLive(session)) return undefined
    const event = { kind: 'command-run', session, project: project.root, at: project.clock.now(), name, args, by } as const
    const actions = await outrigger.handle(event)
    const reply = actions.find(action => action.kind === 'reply')
    const others = actions.filter(action => action !== reply)
    if (others.length > 0) deliver(session, others)
    if (reply?.kind !== 'reply')
      throw new OutriggerError('NEXT_NO_ANSWER', 'the session gave no answer', { exit: 3, hint: 'try again' })
    return { session, document: reply.document as unknown as ReplyDocument }
  }
}

const prefix = 'live/'

/** Where a session is live: the socket of the process that runs it, and since when. */
export interface LiveEntry {
  readonly socket: string
  readonly pid: number
  readonly door: string
  /** ms since the epoch. */
  readonly at: number
}

/** Say where a session is live. A store that cannot be written hides it, no more. */
export async function enterLive(project: Pick<Project, 'sessionStore'>, session: string, entry: LiveEntry): Promise<void> {
  try {
    const store = await project.sessionStore()
    const key = `${prefix}${session}`
    await store.put(key, { ...entry }, (await store.get(key))?.version ?? 0)
  } catch {
    // Another process says so at the same time: the later one has it.
  }
}

/** The session is live here no more. An entry of another process stays. */
export async function leaveLive(project: Pick<Project, 'sessionStore'>, session: string): Promise<void> {
  try {
    const store = await project.sessionStore()
    const key = `${prefix}${session}`
    const there = await store.get(key)
    if ((there?.value as { pid?: number } | undefined)?.pid === process.pid) await store.remove(key, there!.version)
  } catch {
    // Whoever reads it asks the socket, and nobody answers there.
  }
}

interface Place {
  readonly session: string
  readonly socket: string
  readonly at: number
}

/** Where sessions of the project are live, the newest first. */
export async function livePlaces(project: Pick<Project, 'hasStore' | 'store'>): Promise<readonly Place[]> {
  if (!project.hasStore()) return []
  const store = await project.store()
  const places: Place[] = []
  for (const key of await store.list(prefix)) {
    const value = (await store.get(key))?.value as { readonly socket?: unknown; readonly at?: unknown } | null | undefined
    if (typeof value?.socket !== 'string') continue
    places.push({ session: key.slice(prefix.length), socket: value.socket, at: typeof value.at === 'number' ? value.at : 0 })
  }
  return places.sort((one, other) => other.at - one.at)
}
