/** `pack name`, `redact`, `screen` and `private`: small questions that scripts and people ask. */
import type { InputSchema, Operation } from '../../session/operation.ts'
import { find, mask } from '../../text/redact.ts'
import { type Screen, screen } from '../screen.ts'
import { redactedOf } from '../take.ts'
import type { Redacted } from '../types.ts'
import { decoder, fileField, type PackVerbs, textFrom } from './shared.ts'

const nameInput = {
  type: 'object',
  properties: { title: { type: 'string', description: "a session's title", maxLength: 1_000 } },
  required: ['title'],
  additionalProperties: false,
} as const satisfies InputSchema

interface NameDocument {
  readonly title: string
  readonly stream: string | null
  /** The title itself is the name. */
  readonly exact: boolean
}

export function nameOperation(verbs: PackVerbs): Operation<{ readonly title: string }, NameDocument> {
  return {
    name: 'pack.name',
    summary: 'Says which stream a title names.',
    input: nameInput,
    positional: ['title'],
    readOnly: true,
    decode: decoder<{ readonly title: string }>(nameInput),
    async run({ title }) {
      const stream = verbs.pack().streamOfTitle(title)
      return { title, stream, exact: stream === title }
    },
    render: ({ stream }) => stream ?? 'it names none',
    examples: ['outrigger pack name "Billing v2"', 'outrigger pack name Café --json'],
  }
}

const textInput = {
  type: 'object',
  properties: { input: { ...fileField('the text'), default: '-' } },
  additionalProperties: false,
} as const satisfies InputSchema

interface TextInput {
  readonly input: string
}

interface RedactDocument {
  readonly text: string
  readonly found: readonly Redacted[]
}

export function redactOperation(verbs: PackVerbs): Operation<TextInput, RedactDocument> {
  return {
    name: 'pack.redact',
    summary: 'Masks the secrets of a text.',
    input: textInput,
    positional: ['input'],
    readOnly: true,
    decode: decoder<TextInput>(textInput),
    async run({ input }, caller) {
      const text = await textFrom(verbs, input, caller)
      const { redact } = verbs.pack().config
      const counts = new Map<string, number>()
      for (const { rule } of find(text, redact)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
      return { text: mask(text, redact), found: redactedOf(counts) }
    },
    render: ({ text }) => text,
    examples: ['outrigger pack redact - < log.txt', 'outrigger pack redact notes.md --json'],
  }
}

const screenInput = {
  type: 'object',
  properties: {
    input: { ...fileField('the answer'), default: '-' },
    final: { type: 'boolean', description: 'the answer is whole' },
  },
  additionalProperties: false,
} as const satisfies InputSchema

interface ScreenInput extends TextInput {
  readonly final?: boolean
}

export function screenOperation(verbs: PackVerbs): Operation<ScreenInput, Screen> {
  return {
    name: 'pack.screen',
    summary: 'Shows an answer as a person sees it: without its checkpoints.',
    input: screenInput,
    positional: ['input'],
    readOnly: true,
    decode: decoder<ScreenInput>(screenInput),
    run: async ({ input, final }, caller) => screen(await textFrom(verbs, input, caller), final === true),
    render: ({ text }) => text,
    examples: ['outrigger pack screen answer.md --final', 'outrigger pack screen - --json'],
  }
}

const privateInput = {
  type: 'object',
  properties: { set: { type: 'string', description: 'on, off or status', enum: ['on', 'off', 'status'], default: 'status' } },
  additionalProperties: false,
} as const satisfies InputSchema

interface PrivateInput {
  readonly set: 'on' | 'off' | 'status'
}

export function privateOperation(verbs: PackVerbs): Operation<PrivateInput, { readonly private: boolean }> {
  return {
    name: 'pack.private',
    summary: 'Keeps the notes out of git, by a line in the repository’s own exclude file.',
    input: privateInput,
    positional: ['set'],
    readOnly: false,
    decode: decoder<PrivateInput>(privateInput),
    async run({ set }) {
      const pack = verbs.pack()
      return { private: set === 'status' ? pack.isPrivate() : await pack.setPrivate(set === 'on') }
    },
    render: ({ private: isOn }) => (isOn ? 'the notes stay out of git' : 'the notes can be committed'),
    examples: ['outrigger pack private on', 'outrigger pack private status'],
  }
}
