/** `pack auto` and `pack pending`: what sessions of this project do by themselves, and what they have prepared. */
import { OutriggerError } from '../../errors.ts'
import type { Store } from '../../ports/store.ts'
import type { AnyOperation, InputSchema, Operation } from '../../session/operation.ts'
import { createRecords, type PendingOf } from '../records.ts'
import { decoder, sessionField } from './shared.ts'

export function packSessionOperations(store: () => Promise<Store>): readonly AnyOperation[] {
  return [autoOperation(store), pendingOperation(store)]
}

interface AutoInput {
  readonly verb: 'on' | 'off' | 'status'
}

interface AutoDocument {
  readonly auto: boolean
}

const autoInput = {
  type: 'object',
  properties: {
    verb: { type: 'string', description: 'switch it, or say what it is', enum: ['on', 'off', 'status'], default: 'status' },
  },
  additionalProperties: false,
} as const satisfies InputSchema

/** The store's, never a file's of the repository: it is this person's word for this project. */
function autoOperation(store: () => Promise<Store>): Operation<AutoInput, AutoDocument> {
  return {
    name: 'pack.auto',
    summary: 'Says or switches whether sessions of this project go to a fresh one by themselves near the wall.',
    input: autoInput,
    positional: ['verb'],
    readOnly: false,
    decode: decoder<AutoInput>(autoInput),
    async run({ verb = 'status' }, caller) {
      const records = createRecords(store)
      if (verb === 'status') return { auto: await records.auto() }
      if (caller.actor.kind !== 'person') {
        throw new OutriggerError('PACK_PERSON_ONLY', 'only a person switches auto mode', {
          hint: `a person types: outrigger pack auto ${verb}`,
          exit: 1,
        })
      }
      await records.setAuto(verb === 'on')
      return { auto: verb === 'on' }
    },
    render: ({ auto }) => `auto mode ${auto ? 'on' : 'off'}`,
    examples: ['outrigger pack auto status', 'outrigger pack auto on'],
  }
}

interface PendingInput {
  readonly session?: string
}

type PendingRow = Omit<PendingOf, 'createdAt'> & {
  /** ISO 8601. */
  readonly createdAt: string
}

interface PendingDocument {
  readonly pending: readonly PendingRow[]
}

const pendingInput = {
  type: 'object',
  properties: { session: sessionField },
  additionalProperties: false,
} as const satisfies InputSchema

function pendingOperation(store: () => Promise<Store>): Operation<PendingInput, PendingDocument> {
  return {
    name: 'pack.pending',
    summary: 'Lists fresh starts that are prepared and reviews that wait for a choice.',
    input: pendingInput,
    readOnly: true,
    decode: decoder<PendingInput>(pendingInput),
    async run({ session }) {
      const all = await createRecords(store).allPending()
      const wanted = session === undefined ? all : all.filter(one => one.session === session)
      return { pending: wanted.map(one => ({ ...one, createdAt: new Date(one.createdAt).toISOString() })) }
    },
    render: ({ pending }) =>
      pending.length === 0
        ? 'nothing is prepared'
        : pending
            .map(
              ({ session, stream, revision, phase, createdAt }) =>
                `${session}: "${stream}" revision ${revision}, ${phase} since ${createdAt}`,
            )
            .join('\n'),
    examples: ['outrigger pack pending', 'outrigger pack pending --session s-1 --json'],
  }
}
