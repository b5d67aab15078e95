/** `pack load` and `pack trust`: notes for the next context, and whose they are. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import type { LoadDocument, TrustLevel } from '../types.ts'
import { decoder, forField, needPerson, type PackVerbs, streamField } from './shared.ts'

interface LoadVerbInput {
  readonly stream: string
  readonly trust?: boolean
  readonly for?: string
}

const loadInput = {
  type: 'object',
  properties: {
    stream: streamField,
    trust: { type: 'boolean', description: 'these notes are yours, as they are now' },
    for: forField,
  },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

export function loadOperation(verbs: PackVerbs): Operation<LoadVerbInput, LoadDocument> {
  return {
    name: 'pack.load',
    tool: 'pack_load',
    summary: 'Gives the saved notes of a work stream, as data.',
    input: loadInput,
    cliOnly: ['trust'],
    positional: ['stream'],
    readOnly: true,
    decode: decoder<LoadVerbInput>(loadInput),
    run: (given, caller) => load(verbs, given, caller),
    render: loadText,
    exitCode: ({ text }) => (text === null ? 1 : 0),
    examples: ['outrigger pack load billing', 'outrigger pack load billing --trust --json'],
  }
}

async function load(verbs: PackVerbs, given: LoadVerbInput, caller: Caller): Promise<LoadDocument> {
  if (given.trust === true) needPerson(caller, 'say that notes are theirs', given.stream)
  const document = await verbs.pack().load({
    stream: given.stream,
    ...(given.trust === true && { trust: true }),
    ...(given.for !== undefined && { goal: given.for }),
  })
  if (document.text !== null || caller.door === 'cli') return document
  throw new OutriggerError('PACK_UNTRUSTED', words(document), {
    subject: given.stream,
    hint: `a person reads them and types: outrigger pack trust ${given.stream}`,
    exit: 1,
  })
}

function words({ stream, trust }: LoadDocument): string {
  return trust.level === 'foreign'
    ? `notes of "${stream}" came with this folder and were not written here`
    : `notes of "${stream}" were changed outside outrigger`
}

function loadText(document: LoadDocument): string {
  if (document.text !== null) return document.text
  const rows = document.changes ?? []
  return [`${words(document)}; read them, then: outrigger pack trust ${document.stream}`, ...rows.map(row => `  ${row}`)].join(
    '\n',
  )
}

interface TrustDocument {
  readonly stream: string
  readonly level: TrustLevel
}

const trustInput = {
  type: 'object',
  properties: { stream: streamField },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

export function trustOperation(verbs: PackVerbs): Operation<{ readonly stream: string }, TrustDocument> {
  return {
    name: 'pack.trust',
    summary: 'Says that the notes of a stream are yours, as they are now.',
    input: trustInput,
    positional: ['stream'],
    readOnly: false,
    decode: decoder<{ readonly stream: string }>(trustInput),
    async run({ stream }, caller) {
      needPerson(caller, 'say that notes are theirs', stream)
      return { stream, level: await verbs.pack().trust(stream) }
    },
    render: ({ stream, level }) => `notes of "${stream}": ${level}`,
    wrote: ({ stream }) => ({ what: 'trusted', text: `notes of "${stream}" taken as their own by a person` }),
    examples: ['outrigger pack trust billing', 'outrigger pack trust billing --json'],
  }
}
