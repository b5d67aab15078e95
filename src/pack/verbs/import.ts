/** `pack import`: the checkpoints of a session that was recorded. */
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import type { Ignored, TakenTrailer } from '../types.ts'
import { decoder, fileField, type PackVerbs, streamField } from './shared.ts'

interface ImportInput {
  readonly log: string
  readonly stream: string
}

interface ImportDocument {
  readonly stream: string
  readonly format: string
  readonly session: string
  readonly turns: number
  readonly captured: readonly string[]
  readonly duplicates: number
  readonly ignored: readonly Ignored[]
  /** Bytes at the end of the log that are half a frame. */
  readonly torn: unknown
}

const input = {
  type: 'object',
  properties: { log: fileField("a session's log, or a folder with one"), stream: streamField },
  required: ['log', 'stream'],
  additionalProperties: false,
} as const satisfies InputSchema

export function importOperation(verbs: PackVerbs): Operation<ImportInput, ImportDocument> {
  return {
    name: 'pack.import',
    summary: "Files the checkpoints of a session's log; those that are filed already stay one.",
    input,
    positional: ['log'],
    readOnly: false,
    decode: decoder<ImportInput>(input),
    run: (given, caller) => importLog(verbs, given, caller),
    render: ({ captured, duplicates, turns, stream }) =>
      `${captured.length} checkpoints of ${turns} turns filed in "${stream}"${duplicates > 0 ? `, ${duplicates} were there` : ''}`,
    wrote: ({ captured, stream }) =>
      captured.length === 0 ? undefined : { what: 'imported', text: `${captured.length} checkpoints filed in "${stream}"` },
    examples: [
      'outrigger pack import session.jsonl.zstd --stream billing',
      'outrigger pack import ~/.dsh/sessions/x/y --stream billing --json',
    ],
  }
}

async function importLog(verbs: PackVerbs, { log: path, stream }: ImportInput, caller: Caller): Promise<ImportDocument> {
  const pack = verbs.pack()
  pack.checkStream(stream)
  const log = await verbs.openLog(path, caller)
  const trailers: TakenTrailer[] = []
  const ignored: Ignored[] = []
  let turns = 0
  for await (const event of log.events) {
    if (event.kind !== 'turn-ended') continue
    turns += 1
    const taken = pack.take({
      texts: [...(event.earlier ?? []), event.answer],
      session: event.session,
      turn: event.turn,
      ...(event.turnId !== undefined && { turnId: event.turnId }),
      ...(event.reason !== 'completed' && { flags: [event.reason] }),
      ...(event.agent !== undefined && { agent: event.agent }),
      at: event.at,
    })
    trailers.push(...taken.trailers)
    ignored.push(...taken.ignored)
  }
  const { fresh, known, duplicates } = await sortOut(verbs, stream, trailers)
  const { captured } = await pack.append(stream, fresh, known)
  return {
    stream,
    format: log.format,
    session: log.session,
    turns,
    captured: captured.filter(one => !one.duplicate).map(one => one.id),
    duplicates: duplicates + captured.filter(one => one.duplicate).length,
    ignored,
    torn: log.summary().torn,
  }
}

/** A session that was captured live counts its turns as its door did: the same words of it, as often, are the same entries. */
async function sortOut(
  verbs: PackVerbs,
  stream: string,
  trailers: readonly TakenTrailer[],
): Promise<{
  readonly fresh: readonly TakenTrailer[]
  readonly known: ReadonlyMap<string, string>
  readonly duplicates: number
}> {
  const held = new Map<string, number>()
  const known = new Map<string, string>()
  for (const { key, id, words } of await verbs.pack().filed(stream)) {
    known.set(key, id)
    held.set(words, (held.get(words) ?? 0) + 1)
  }
  const seen = new Map<string, number>()
  let duplicates = 0
  const fresh = trailers.filter(trailer => {
    const words = `${trailer.session}\0${trailer.body}`
    const count = (seen.get(words) ?? 0) + 1
    seen.set(words, count)
    if (!known.has(trailer.key) && (held.get(words) ?? 0) < count) return true
    duplicates += 1
    return false
  })
  return { fresh, known, duplicates }
}
