/**
 * Acknowledgements: which edges a person or a model means, whether these can be acknowledged at all,
 * and the ones that a session's agent gave and that wait for the end of its turn.
 *
 * A tool call must not change a document under the agent's hands, so in a session it only leaves a
 * record in the store, keyed by the session; the engine takes it up at the boundary. The record holds
 * the content it was given for: what moved since is not written.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import { hints } from '../session/voice.ts'
import { shown, sourceName } from './naming.ts'
import { waysOf } from './report/ways.ts'
import type { Ack, Edge, Hex12, SuspectReason } from './types.ts'

const ackable: ReadonlySet<SuspectReason> = new Set(['changed', 'stamp-removed', 'bad-stamp', 'needs-reason', 'needs-person'])

/** Something is left to do that an acknowledgement does. */
function canBeAcked(edge: Edge): boolean {
  if (edge.current === null) return false
  if (edge.state === 'suspect') return edge.reason !== null && ackable.has(edge.reason)
  return edge.state === 'pending-stamp' || edge.state === 'ok-requested'
}

export interface Chosen {
  readonly acks: readonly Edge[]
  readonly skipped: readonly { readonly edge: Edge; readonly why: string }[]
}

/**
 * The edges of a child that `source` and `all` mean.
 *
 * @param edges - all edges of the child.
 * @param source - an edge id, the entry's text, its ref, `ref#anchor`, or the target; left out: what needs it.
 * @throws `KEEL_UNKNOWN_EDGE`, `KEEL_AMBIGUOUS_EDGE`, `KEEL_NOT_ACKABLE`.
 */
export function chooseEdges(child: string, edges: readonly Edge[], source: string | undefined, all: boolean): Chosen {
  const meant = source === undefined ? edges : edges.filter(edge => isNamed(edge, source))
  if (meant.length === 0) throw unknownEdge(child, edges, source)
  const suspects = meant.filter(edge => edge.state === 'suspect')
  const waiting = suspects.length > 0 ? suspects : meant.filter(canBeAcked)
  if (waiting.length > 1 && source === undefined && !all) throw ambiguous(child, waiting)
  const acks = waiting.filter(canBeAcked)
  const stuck = waiting.find(edge => !canBeAcked(edge))
  if (acks.length === 0 && stuck !== undefined) throw notAckable(stuck)
  const rest = acks.length === 0 ? meant : suspects.filter(edge => !acks.includes(edge))
  return { acks, skipped: rest.map(edge => ({ edge, why: whyNot(edge) })) }
}

export function isNamed(edge: Edge, source: string): boolean {
  const plain = edge.anchor === null ? edge.ref : `${edge.ref}#${edge.anchor}`
  const inside = edge.anchor === null ? `[[${edge.ref}]]` : `[[${edge.ref}#${edge.anchor}]]`
  const withTarget = edge.target !== null && edge.anchor !== null ? `${edge.target}#${edge.anchor}` : null
  return [edge.id, plain, edge.ref, edge.target, withTarget, sourceName(edge), `[[${edge.ref}]]`, inside].includes(source)
}

function whyNot(edge: Edge): string {
  if (edge.state === 'clean') return 'it is clean'
  if (edge.state === 'suspect') return `${edge.reason} cannot be acknowledged: correct the reference (keel fix)`
  if (edge.state === 'pending-stamp' || edge.state === 'ok-requested') return 'it is stamped at the next boundary'
  return `its source cannot be checked (${edge.state})`
}

function unknownEdge(child: string, edges: readonly Edge[], source: string | undefined): OutriggerError {
  if (edges.length === 0) {
    return new OutriggerError('KEEL_UNKNOWN_EDGE', `${child} declares no source`, {
      subject: child,
      ...hints(voice => `${waysOf(voice).check()} lists the documents that do`),
    })
  }
  const known = edges.slice(0, 5).map(edge => shown(sourceName(edge)))
  return new OutriggerError('KEEL_UNKNOWN_EDGE', `${child} declares no source "${shown(source ?? '')}"`, {
    subject: source ?? child,
    hint: `it declares ${known.join(', ')}${edges.length > 5 ? ` and ${edges.length - 5} more` : ''}`,
  })
}

function ambiguous(child: string, edges: readonly Edge[]): OutriggerError {
  const known = edges.slice(0, 5).map(edge => `${shown(sourceName(edge))} (${edge.id})`)
  return new OutriggerError('KEEL_AMBIGUOUS_EDGE', `${child} has ${edges.length} sources that could be meant`, {
    subject: child,
    ...hints(
      voice =>
        `name the source${voice === 'tool' ? '' : ', or give --all'}: ${known.join(', ')}${edges.length > 5 ? ` and ${edges.length - 5} more` : ''}`,
    ),
  })
}

function notAckable(edge: Edge): OutriggerError {
  return new OutriggerError('KEEL_NOT_ACKABLE', `${shown(sourceName(edge))} is ${edge.reason}: there is no content to agree to`, {
    subject: edge.id,
    ...hints(voice => waysOf(voice).proposals(edge.child)),
  })
}

const keyOf = (session: string): string => `keel/acks/${session}`
/** Attempts against other writers of the same record; a session has few. */
const attempts = 20

/** Leave acknowledgements for the session's next boundary; a newer one for the same edge replaces the older. */
export async function recordAcks(store: Store, session: string, acks: readonly Ack[]): Promise<void> {
  await change(store, session, known => [...known.filter(one => !acks.some(ack => ack.edge === one.edge)), ...acks])
}

export async function pendingAcks(store: Store, session: string): Promise<readonly Ack[]> {
  return decodeAcks((await store.get(keyOf(session)))?.value ?? null)
}

/** Take acknowledgements out that a boundary dealt with; those given meanwhile stay. */
export async function dropAcks(store: Store, session: string, done: readonly Ack[]): Promise<void> {
  if (done.length === 0) return
  await change(store, session, known => known.filter(one => !done.some(ack => isSame(ack, one))))
}

function isSame(a: Ack, b: Ack): boolean {
  return a.edge === b.edge && a.content === b.content && a.reason === b.reason
}

async function change(store: Store, session: string, next: (known: readonly Ack[]) => readonly Ack[]): Promise<void> {
  const key = keyOf(session)
  for (let attempt = 1; ; attempt++) {
    const now = await store.get(key)
    const acks = next(decodeAcks(now?.value ?? null))
    try {
      if (acks.length > 0) await store.put(key, { acks: acks as unknown as Json }, now?.version ?? 0)
      else if (now !== undefined) await store.remove(key, now.version)
      return
    } catch (error) {
      // Another call of the same session wrote in between.
      if (!(error instanceof OutriggerError && error.code === 'STORE_VERSION_MOVED') || attempt === attempts) throw error
    }
  }
}

/** Records that do not have the form are left out: an acknowledgement can be given again. */
function decodeAcks(json: Json): readonly Ack[] {
  if (typeof json !== 'object' || json === null || !('acks' in json)) return []
  const { acks } = json as { readonly acks: Json }
  return Array.isArray(acks) ? (acks as readonly Json[]).flatMap(decodeAck) : []
}

function decodeAck(json: Json): readonly Ack[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return []
  const { edge, content, kind, reason, who, evidence } = json as Readonly<Record<string, Json>>
  if (typeof edge !== 'string' || typeof content !== 'string' || !/^[0-9a-f]{12}$/.test(content)) return []
  if (kind !== 'ok' && kind !== 'updated') return []
  if (typeof who !== 'object' || who === null || Array.isArray(who) || !('kind' in who)) return []
  return [
    {
      edge,
      content: content as Hex12,
      kind,
      reason: typeof reason === 'string' ? reason : null,
      who: who as unknown as Ack['who'],
      evidence: (evidence ?? null) as Ack['evidence'],
    },
  ]
}
