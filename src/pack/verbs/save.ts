/** `pack save`: fold the journal into the notes that the next context gets. */
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import { degradedWords } from '../status-file.ts'
import type { Designation, SaveDocument } from '../types.ts'
import { decoder, factsFrom, fileField, forField, type PackVerbs, sessionField, streamField, textFrom } from './shared.ts'

interface SaveVerbInput {
  readonly stream: string
  readonly session?: string
  readonly log?: string
  readonly checkpoint?: string
  readonly designation?: string
  readonly designate?: boolean
  readonly for?: string
  readonly expectRevision?: number
  readonly expectedRevision?: number
  readonly maxChars?: number
  readonly maxTokens?: number
  readonly strict?: boolean
}

const revision = {
  type: 'integer',
  description: 'refuse when the notes are at another revision',
  minimum: 0,
  maximum: 1_000_000_000,
} as const

const input = {
  type: 'object',
  properties: {
    stream: streamField,
    session: sessionField,
    log: fileField("a session's log, for the frontier and for what commands said"),
    checkpoint: {
      type: 'string',
      description: 'clauses to file first, one a line: "decision: …", "open: …", "retire_done: <id>"',
      minLength: 1,
      maxLength: 16_384,
    },
    designation: {
      type: 'string',
      description: 'what to add, change and retire, in the form that `pack prompt` asks for; on the command line a file or -',
      minLength: 1,
      maxLength: 65_536,
    },
    designate: { type: 'boolean', description: 'ask the model of the configuration what to add, change and retire' },
    for: forField,
    expectRevision: revision,
    expectedRevision: revision,
    maxChars: { type: 'integer', description: 'characters of the notes', minimum: 2_000, maximum: 60_000 },
    maxTokens: { type: 'integer', description: 'estimated tokens of the notes', minimum: 600, maximum: 20_000 },
    strict: { type: 'boolean', description: 'exit with 1 when the save is degraded' },
  },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

export function saveOperation(verbs: PackVerbs): Operation<SaveVerbInput, SaveDocument> {
  return {
    name: 'pack.save',
    tool: 'pack_save',
    summary: 'Writes the notes of a work stream, so that a fresh context can go on from them.',
    guidance:
      'Give what was settled as `checkpoint` (one clause a line: decision, constraint, learning, definition, rejected, open, assumption, refs, reasoning, pivot; retire_done and the like with ids). What the notes hold already needs no repetition.',
    input,
    cliOnly: ['session', 'log', 'designate', 'expectRevision', 'maxChars', 'maxTokens', 'strict'],
    positional: ['stream'],
    readOnly: false,
    decode: decoder<SaveVerbInput>(input),
    run: (given, caller) => save(verbs, given, caller),
    render: saveText,
    exitCode: ({ outcome }, { strict }) => (strict === true && outcome === 'degraded' ? 1 : 0),
    wrote: ({ stream, revision: at, unchanged, state }) =>
      unchanged ? undefined : { what: 'saved', text: `notes of "${stream}" written: revision ${at}, ${state.chars} characters` },
    examples: ['outrigger pack save billing', 'outrigger pack save billing --log session.jsonl.zstd --for "port the importer"'],
  }
}

async function save(verbs: PackVerbs, given: SaveVerbInput, caller: Caller): Promise<SaveDocument> {
  const pack = verbs.pack()
  const session = given.session ?? caller.session
  const facts = given.log === undefined ? undefined : await factsFrom(verbs, given.log, caller)
  const expectRevision = given.expectRevision ?? given.expectedRevision
  if (given.checkpoint !== undefined) {
    const text = given.checkpoint.includes('<!-- ckpt') ? given.checkpoint : `<!-- ckpt\n${given.checkpoint}\n-->`
    await pack.capture(given.stream, { texts: [text], ...(session !== undefined && { session }) })
  }
  const base = {
    stream: given.stream,
    ...(session !== undefined && { session }),
    ...(facts !== undefined && { facts }),
    ...(given.for !== undefined && { goal: given.for }),
    ...(given.maxChars !== undefined && { maxChars: given.maxChars }),
    ...(given.maxTokens !== undefined && { maxTokens: given.maxTokens }),
  }
  const expected = expectRevision === undefined ? {} : { expectRevision }
  if (given.designation !== undefined) {
    const text = caller.door === 'cli' ? await textFrom(verbs, given.designation, caller) : given.designation
    return pack.save({ ...base, ...expected, designation: { kind: 'reply', text } })
  }
  if (given.designate !== true) return pack.save({ ...base, ...expected })
  // The notes are complete before a model is asked; it can only add to them.
  await pack.save({ ...base, ...expected })
  return pack.save({ ...base, designation: await designationFor(verbs, given, caller) })
}

async function designationFor(verbs: PackVerbs, given: SaveVerbInput, caller: Caller): Promise<Designation> {
  if (verbs.ask === undefined) return { kind: 'failed', reason: 'no model is configured' }
  const { prompt } = await verbs.pack().prompt(given.stream, given.for)
  return verbs.ask(prompt, caller)
}

function saveText(document: SaveDocument): string {
  const { stream, revision: at, unchanged, state, lines, fidelity } = document
  const degraded = degradedWords(document)
  const rows = [
    unchanged
      ? `notes of "${stream}" are as they were: revision ${at}`
      : `notes of "${stream}" written: revision ${at}, ${state.chars} characters, about ${state.tokens} tokens, fidelity ${fidelity.score}`,
    `${lines.shown} of ${lines.live} lines shown${lines.shortened > 0 ? `, ${lines.shortened} shortened` : ''} → ${state.path}`,
    ...(degraded === '' ? [] : [`degraded: ${degraded}`]),
    ...(document.dropped.length === 0 ? [] : [`left out to fit: ${document.dropped.join(', ')}`]),
    ...document.retired.map(({ id, key, by, reason }) => `${id} ${key} by ${by}${reason === null ? '' : `: ${reason}`}`),
    ...document.rejected.map(({ entry, key, token, why }) => `${entry}: ${key} ${token} did nothing (${why})`),
    ...document.unrouted.map(id => `${id} has no clause that begins with a keyword`),
    ...(document.migrated === null ? [] : [`taken over from ${document.migrated.join(', ')}`]),
    ...(document.handoff === undefined ? [] : [`hand-over → ${document.handoff.path}`]),
  ]
  return rows.join('\n')
}
