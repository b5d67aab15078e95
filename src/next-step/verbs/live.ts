/** Verbs about a session that is live: each is what a person could type after `/next`, sent to the process that runs the session. */
import { OutriggerError } from '../../errors.ts'
import { decodeInput } from '../../session/decode.ts'
import type { AnyOperation, Caller, FieldSchema, InputSchema } from '../../session/operation.ts'
import { answerText, type ReplyDocument } from '../answer-text.ts'
import type { Command, CommandName } from '../effects.ts'
import { refusals } from '../texts.ts'
import { typed } from '../words.ts'

export interface LiveDeps {
  /**
   * Type a command in a session that is live.
   *
   * @param session - left out: the project's newest.
   * @returns `undefined`: no such session is live.
   */
  command(
    session: string | undefined,
    args: string,
    by: 'person' | 'plugin',
  ): Promise<{ readonly session: string; readonly document: ReplyDocument } | undefined>
}

const session: FieldSchema = {
  type: 'string',
  description: 'a live session; default the newest of the project',
  minLength: 1,
  maxLength: 200,
}

interface Verb {
  readonly name: CommandName
  readonly summary: string
  readonly fields: Readonly<Record<string, FieldSchema>>
  readonly positional?: readonly string[]
  readonly tool?: string
  readonly personOnly: boolean
  readonly examples: readonly string[]
}

const number = (description: string): FieldSchema => ({ type: 'integer', description })
const flag = (description: string): FieldSchema => ({ type: 'boolean', description })

const verbs: readonly Verb[] = [
  {
    name: 'state',
    summary: 'The stored next step of a live session, its loop and limits; generates and changes nothing.',
    fields: {},
    tool: 'next_suggest',
    personOnly: false,
    examples: ['outrigger next state', 'outrigger next state --session s1 --json'],
  },
  {
    name: 'arm',
    summary: 'Lets the loop of a live session start turns by itself, within an allowance.',
    fields: {
      rounds: number('turns it may start, 1–256'),
      tokens: number('tokens it may spend, 10,000–100,000,000'),
      minutes: number('minutes it may last, 1–1,440'),
      until: { type: 'string', description: 'a command; the loop ends when it exits with 0', maxLength: 500 },
      judge: flag('ask judgeModel between rounds whether the work is done'),
      goOn: flag('go on where the agent only asks for permission to continue'),
      allowRisky: flag('fire steps that destroy, ship or reveal, too'),
      take: flag('take the loop over from another process'),
    },
    personOnly: true,
    examples: ['outrigger next arm --rounds 5 --until "npm test"', 'outrigger next arm --minutes 30 --json'],
  },
  {
    name: 'disarm',
    summary: 'Ends the loop of a live session.',
    fields: {},
    personOnly: false,
    examples: ['outrigger next disarm', 'outrigger next disarm --session s1 --json'],
  },
  {
    name: 'run',
    summary: 'Starts a turn with the offered step, as the person.',
    fields: {
      offer: {
        type: 'string',
        description: 'the offer by its name; default the one that is ready',
        minLength: 1,
        maxLength: 100,
      },
    },
    personOnly: true,
    examples: ['outrigger next run', 'outrigger next run --session s1 --json'],
  },
  {
    name: 'dismiss',
    summary: 'Sends the offered step away.',
    fields: {},
    personOnly: true,
    examples: ['outrigger next dismiss', 'outrigger next dismiss --session s1'],
  },
  {
    name: 'off',
    summary: 'Turns next-step off in a live session.',
    fields: {},
    personOnly: false,
    examples: ['outrigger next off', 'outrigger next off --session s1'],
  },
  {
    name: 'on',
    summary: 'Turns next-step on again in a live session.',
    fields: {},
    personOnly: true,
    examples: ['outrigger next on', 'outrigger next on --session s1'],
  },
  {
    name: 'model',
    summary: 'Names the model of the next step, or takes the name back.',
    fields: { spec: { type: 'string', description: 'provider/model, or clear', minLength: 1, maxLength: 400 } },
    positional: ['spec'],
    personOnly: true,
    examples: ['outrigger next model deepseek-official/deepseek-v4-flash', 'outrigger next model clear'],
  },
]

export function liveOperations(deps: LiveDeps): readonly AnyOperation[] {
  return verbs.map(verb => operationOf(verb, deps))
}

type Given = Readonly<Record<string, unknown>> & { readonly session?: string }

function operationOf({ name, summary, fields, positional, tool, personOnly, examples }: Verb, deps: LiveDeps): AnyOperation {
  const input: InputSchema = { type: 'object', properties: { ...fields, session }, additionalProperties: false }
  return {
    name: `next.${name}`,
    ...(tool !== undefined && { tool }),
    summary,
    input,
    ...(positional !== undefined && { positional }),
    readOnly: name === 'state',
    decode: (value: unknown) => decodeInput(input, value),
    async run({ session: of, ...given }: Given, caller: Caller) {
      const isPerson = isPersonHere(caller)
      if (personOnly && !isPerson) throw refused('NEXT_NEEDS_PERSON', name)
      const command = { name, ...given } as Omit<Command, 'by'>
      const answer = await deps.command(of ?? caller.session, typed(command), isPerson ? 'person' : 'plugin')
      if (answer === undefined) throw refused('NEXT_NO_SESSION', of)
      const { name: _, kind, ...document } = answer.document
      if (!document.ok) throw refused(String(document['code']), document['holder'] ?? of)
      return { ...document, ...(kind !== 'done' && kind !== undefined && { kind }), session: answer.session }
    },
    render: (output: Readonly<Record<string, unknown>>) => answerText({ ...output, name, ok: true }),
    examples,
  }
}

/** A terminal without an agent's mark; behind another door, whoever that door vouches for. */
function isPersonHere({ door, actor }: Caller): boolean {
  return actor.kind === 'person' && (door !== 'cli' || actor.basis === 'terminal')
}

/** A refusal of a verb, with what to do. */
export function refused(code: string, subject: unknown): OutriggerError {
  const { message, hint, exit } = refusals[code] ?? { message: code, hint: 'see outrigger next state', exit: 2 as const }
  return new OutriggerError(code, message, { hint, exit, ...(typeof subject === 'string' && { subject }) })
}
