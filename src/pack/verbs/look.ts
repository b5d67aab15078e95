/** `pack show`, `list`, `diff`, `verify` and `prompt`: verbs that look and change nothing. */

import type { InputSchema, Operation } from '../../session/operation.ts'
import { entriesText } from '../session-texts.ts'
import type { DiffDocument, ListDocument, PromptDocument, ShowDocument, VerifyDocument } from '../types.ts'
import { decoder, forField, type PackVerbs, streamField } from './shared.ts'

const showInput = {
  type: 'object',
  properties: {
    stream: streamField,
    ids: {
      type: 'array',
      description: 'entries by their ids or ranges of them (c04, c10-c12); all without any, with the state',
      items: { type: 'string', maxLength: 60 },
      maxItems: 50,
    },
  },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

interface ShowInput {
  readonly stream: string
  readonly ids?: readonly string[]
}

export function showOperation(verbs: PackVerbs): Operation<ShowInput, ShowDocument> {
  return {
    name: 'pack.show',
    tool: 'pack_show',
    summary: 'Shows whole entries of the journal of a work stream by their ids.',
    input: showInput,
    positional: ['stream', 'ids'],
    readOnly: true,
    decode: decoder<ShowInput>(showInput),
    run: ({ stream, ids }) => verbs.pack().show(stream, ids ?? []),
    render: showText,
    exitCode: ({ missing }) => (missing.length > 0 ? 1 : 0),
    examples: ['outrigger pack show billing', 'outrigger pack show billing c04 c10-c12'],
  }
}

function showText({ entries, missing, state }: ShowDocument): string {
  if (state !== null) return state.text.trimEnd()
  const rows = entries.map(entry => {
    const lines = entry.lines.map(line => `  ${line.id} ${line.section ?? 'journal'} ${line.state}${line.shown ? ' shown' : ''}`)
    const flags = entry.flags.length === 0 ? '' : ` ${entry.flags.join(',')}`
    const word = entry.state === 'intact' ? '' : ` (${entry.state})`
    return [`### ${entry.id} ${entry.at} ${entry.session}${flags}${word}`, entry.text, ...lines].join('\n')
  })
  return [...rows, ...missing.map(id => `${id}: there is none`)].join('\n\n')
}

const noInput = { type: 'object', properties: {}, additionalProperties: false } as const satisfies InputSchema

export function listOperation(verbs: PackVerbs): Operation<Record<string, never>, ListDocument> {
  return {
    name: 'pack.list',
    summary: 'Lists the work streams of the project.',
    input: noInput,
    readOnly: true,
    decode: decoder<Record<string, never>>(noInput),
    run: () => verbs.pack().list(),
    render: ({ streams }) =>
      streams.length === 0
        ? 'no notes in this project; a stream begins with: outrigger pack capture <name> -'
        : streams
            .map(one => {
              const saved = one.saved === null ? 'not saved yet' : `revision ${one.revision}, saved ${one.saved}`
              const rest = [entriesText(one.entries), ...(one.unsaved > 0 ? [`${one.unsaved} unsaved`] : []), one.trust]
              return `${one.stream}: ${one.legacy ? 'of the older tool; the first use takes it over' : `${saved}, ${rest.join(', ')}`}`
            })
            .join('\n'),
    examples: ['outrigger pack list', 'outrigger pack list --json'],
  }
}

const diffInput = {
  type: 'object',
  properties: {
    stream: streamField,
    from: { type: 'integer', description: 'revision to begin at; default the one before', minimum: 0, maximum: 1_000_000_000 },
    to: { type: 'integer', description: 'revision to end at; default the present one', minimum: 0, maximum: 1_000_000_000 },
  },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

interface DiffInput {
  readonly stream: string
  readonly from?: number
  readonly to?: number
}

export function diffOperation(verbs: PackVerbs): Operation<DiffInput, DiffDocument> {
  return {
    name: 'pack.diff',
    summary: 'Says what two revisions of the notes say differently, and why.',
    input: diffInput,
    positional: ['stream'],
    readOnly: true,
    decode: decoder<DiffInput>(diffInput),
    run: ({ stream, from, to }) => verbs.pack().diff(stream, from, to),
    render: diffText,
    examples: ['outrigger pack diff billing', 'outrigger pack diff billing --from 3 --to 7'],
  }
}

export function diffText({ from, to, added, removed, changed, scalars }: DiffDocument): string {
  const rows = [
    ...scalars.map(({ key, from: before, to: after }) => `${key}: ${before || 'none'} → ${after || 'none'}`),
    ...added.map(({ id, section, text }) => `+ ${section}: ${text} (${id})`),
    ...removed.map(
      ({ id, section, text, why, reason }) => `- ${section}: ${text} (${id}) ${why}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...changed.flatMap(({ id, section, from: before, to: after }) => [
      `- ${section}: ${before} (${id})`,
      `+ ${section}: ${after} (${id})`,
    ]),
  ]
  return [`revision ${from} → ${to}`, ...(rows.length === 0 ? ['the same lines'] : rows)].join('\n')
}

const verifyInput = {
  type: 'object',
  properties: { stream: streamField },
  additionalProperties: false,
} as const satisfies InputSchema

export function verifyOperation(verbs: PackVerbs): Operation<{ readonly stream?: string }, VerifyDocument> {
  return {
    name: 'pack.verify',
    summary: 'Checks journals and states: damage, lost lines, lines that did nothing.',
    input: verifyInput,
    positional: ['stream'],
    readOnly: true,
    decode: decoder<{ readonly stream?: string }>(verifyInput),
    run: ({ stream }) => verbs.pack().verify(stream),
    render: ({ ok, entries, findings }) =>
      [
        ...findings.map(({ stream, severity, code, line, message }) => {
          return `${severity}: ${stream}${line === undefined ? '' : `:${line}`} ${code}: ${message}`
        }),
        `${ok ? 'fine' : 'not fine'}: ${entriesText(entries)}`,
      ].join('\n'),
    exitCode: ({ ok }) => (ok ? 0 : 1),
    examples: ['outrigger pack verify', 'outrigger pack verify billing --json'],
  }
}

const promptInput = {
  type: 'object',
  properties: { stream: streamField, for: forField },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

interface PromptInput {
  readonly stream: string
  readonly for?: string
}

export function promptOperation(verbs: PackVerbs): Operation<PromptInput, PromptDocument> {
  return {
    name: 'pack.prompt',
    summary: 'Prints what a model is asked for a save; its reply goes to `pack save --designation`.',
    input: promptInput,
    positional: ['stream'],
    readOnly: true,
    decode: decoder<PromptInput>(promptInput),
    run: ({ stream, for: goal }) => verbs.pack().prompt(stream, goal),
    render: ({ prompt }) => prompt,
    examples: [
      'outrigger pack prompt billing',
      'outrigger pack prompt billing | my-model | outrigger pack save billing --designation -',
    ],
  }
}
