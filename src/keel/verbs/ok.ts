/**
 * `ok`: somebody read the document and says that it still holds for its source as it is now. In a host's
 * session the word is kept and the stamp is written when the agent's turn ends; elsewhere at once.
 */

import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { hints } from '../../session/voice.ts'
import { names } from '../../text/fit.ts'
import { chooseEdges, recordAcks } from '../acks.ts'
import { parseChild } from '../child.ts'
import type { KeelDeps } from '../deps.ts'
import { shown, sourceName } from '../naming.ts'
import { checkReason, isPersonOnly, reasonBounds } from '../policy.ts'
import { okText } from '../report/text.ts'
import { commandOfOk, waysOf } from '../report/ways.ts'
import type { Ack, Edge, Hex12, JournalRecord, KeelProject } from '../types.ts'
import { type Answer, absolutePath, decoder, inTurn, isOn, type KeelVerbs, projectPath, sweep, whoOf } from './shared.ts'

export interface OkInput {
  readonly child: string
  readonly source?: string
  readonly reason?: string
  readonly expect?: string
  readonly who?: string
  readonly all?: boolean
}

export interface OkOutput extends Answer {
  readonly acked: readonly {
    readonly id: string
    readonly child: string
    readonly source: string
    readonly old: Hex12 | null
    readonly new: Hex12
  }[]
  readonly skipped: readonly {
    readonly id: string
    readonly child: string
    readonly source: string
    readonly state: Edge['state']
    readonly why: string
  }[]
  readonly written: readonly string[]
  readonly degraded: readonly string[]
  /** In a session: the stamps are written when the turn ends. */
  readonly recorded?: true
}

const input = {
  type: 'object',
  properties: {
    child: { type: 'string', description: 'the document that was read', minLength: 1, maxLength: 4096 },
    source: {
      type: 'string',
      description:
        'which of its sources: as it is written there, the source file, or the edge id; left out: the only one that needs it',
      maxLength: 4096,
    },
    reason: {
      type: 'string',
      description: `why it still holds, ${reasonBounds.min}–${reasonBounds.max} characters; needed for a suspect`,
      maxLength: 2000,
    },
    expect: {
      type: 'string',
      description: 'refuse unless the source has this content (12 hex digits)',
      minLength: 12,
      maxLength: 12,
    },
    who: { type: 'string', description: 'who says so: person, agent, person:NAME or agent:NAME', maxLength: 200 },
    all: { type: 'boolean', description: 'every edge of the document that needs it' },
  },
  required: ['child'],
  additionalProperties: false,
} as const

export function okOperation(verbs: KeelVerbs): Operation<OkInput, OkOutput> {
  return {
    name: 'keel.ok',
    tool: 'keel_ok',
    summary: 'Says, with a reason, that a document you have read still holds although its source changed.',
    guidance:
      'Use it only for a document that you read against the source as it is now: the stamp will say that this content was reviewed. If the document no longer holds, update it instead. In a session the stamp is written when your turn ends.',
    input,
    cliOnly: ['who', 'all'],
    toolRequired: ['reason'],
    positional: ['child', 'source'],
    readOnly: false,
    decode: decoder<OkInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => acknowledge(keel, deps, given, caller)),
    render: okText,
    wrote: ({ acked, written }) =>
      written.length === 0 ? undefined : { what: 'acknowledged', text: `acknowledged ${acked.length} in ${names(written, 3)}` },
    examples: [
      'outrigger keel ok docs/quick.md --reason "wording only"',
      'outrigger keel ok docs/quick.md guide.md#Setup --reason "the steps are the same" --expect 95495efc9d5d',
    ],
  }
}

async function acknowledge(keel: KeelProject, deps: KeelDeps, given: OkInput, caller: Caller): Promise<OkOutput> {
  const { edges } = await sweep(keel, caller)
  const typed = projectPath(given.child, keel, deps, caller)
  const child = edges.some(edge => edge.child === typed) ? typed : (keel.findFile(given.child) ?? typed)
  if (edges.some(edge => edge.child === child)) refuseConflicted(keel, deps, child)
  const { acks: chosen, skipped } = chooseEdges(
    child,
    edges.filter(edge => edge.child === child),
    given.source,
    given.all === true,
  )
  const skips = skipped.map(({ edge, why }) => skip(edge, why))
  if (chosen.length === 0) {
    return { on: isOn(keel), acked: [], skipped: skips, written: [], degraded: keel.assessment().degraded }
  }
  const who = await whoOf(caller, deps, given.who)
  if (who.kind === 'agent' && isPersonOnly(keel.config, child)) throw needsPerson(child)
  const reason = reasonFor(chosen, given)
  if (given.expect !== undefined) refuseMoved(chosen, given.expect)
  const acks = chosen.map(edge => ackOf(edge, reason, who))
  const acked = chosen.map(edge => ({
    id: edge.id,
    child: edge.child,
    source: sourceName(edge),
    old: edge.old,
    new: edge.current!,
  }))
  if (caller.session !== undefined && (caller.door === 'dsh' || caller.door === 'claude-code')) {
    await recordAcks(await deps.store(), caller.session, acks)
    const { degraded } = keel.assessment()
    return { on: isOn(keel), acked, skipped: skips, written: [], degraded, recorded: true }
  }
  const result = await keel.boundary({
    paths: [child],
    acks,
    onlyAcks: true,
    onBusy: 'refuse',
    who,
    byAgent: who.kind === 'agent',
    ...(caller.session !== undefined && { session: caller.session }),
  })
  const stamped = new Map(result.stamped.map(one => [one.id, one]))
  const why = result.skipped.find(one => one.child === child)?.why
  if (why === undefined && stamped.size === 0) throw moved(chosen[0]!)
  return {
    on: isOn(keel),
    acked: acked.filter(one => stamped.has(one.id)).map(one => ({ ...one, new: stamped.get(one.id)!.new })),
    skipped: [
      ...skips,
      ...chosen.filter(edge => !stamped.has(edge.id)).map(edge => skip(edge, why ?? 'its source moved meanwhile')),
    ],
    written: result.written,
    degraded: keel.assessment().degraded,
  }
}

function skip(edge: Edge, why: string): OkOutput['skipped'][number] {
  return { id: edge.id, child: edge.child, source: sourceName(edge), state: edge.state, why }
}

function ackOf(edge: Edge, reason: string | null, who: JournalRecord['who']): Ack {
  return { edge: edge.id, content: edge.current!, kind: 'ok', reason, who, evidence: null }
}

/** A new edge is trusted as it is; a suspect is not. */
function reasonFor(chosen: readonly Edge[], given: OkInput): string | null {
  const isNeeded = chosen.some(edge => edge.state === 'suspect')
  if (!isNeeded && (given.reason ?? '').trim() === '') return null
  return checkReason(given.reason, voice => waysOf(voice).acknowledge(given.child, given.source))
}

function refuseConflicted(keel: KeelProject, deps: KeelDeps, child: string): void {
  if (!parseChild(deps.files.read(absolutePath(keel, child))).conflicted) return
  throw new OutriggerError('KEEL_CONFLICTED_FILE', `${shown(child)} has merge markers`, {
    subject: child,
    hint: 'settle the merge, then acknowledge',
  })
}

function needsPerson(child: string): OutriggerError {
  return new OutriggerError('KEEL_NEEDS_PERSON', `only a person may say that ${shown(child)} still holds`, {
    subject: child,
    ...hints(voice => `${voice === 'tool' ? 'leave it: ' : ''}a person types: ${commandOfOk(child)}`),
  })
}

function refuseMoved(chosen: readonly Edge[], expect: string): void {
  const other = chosen.find(edge => edge.current !== expect)
  if (other !== undefined) throw moved(other)
}

function moved(edge: Edge): OutriggerError {
  return new OutriggerError('KEEL_SOURCE_MOVED', `${shown(sourceName(edge))} is ${edge.current ?? 'gone'} now`, {
    subject: edge.id,
    ...hints(voice => `read it again: ${waysOf(voice).change(edge.child)}`),
    exit: 4,
  })
}
