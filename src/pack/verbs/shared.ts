/** What the verbs share: the project, text input, sessions' logs, fields. */
import { OutriggerError } from '../../errors.ts'
import type { Files } from '../../ports/files.ts'
import { decodeInput } from '../../session/decode.ts'
import { emptyFolded, type Folded, foldEvent } from '../../session/folded.ts'
import type { Log } from '../../session/logs/index.ts'
import type { Caller, FieldSchema, InputSchema } from '../../session/operation.ts'
import { hints } from '../../session/voice.ts'
import type { Designation, PackProject } from '../types.ts'

export interface PackVerbs {
  /** Asked for at every call: a changed configuration makes a new one. */
  readonly pack: () => PackProject
  readonly files: Files
  /** A session's log by its path, `-`, or a folder that holds one. */
  openLog(path: string, caller: Caller): Promise<Log>
  /** Ask the person's model; left out: there is none. */
  ask?(prompt: string, caller: Caller): Promise<Designation>
}

/** A decoder for this schema; the type is what the schema says. */
export function decoder<Input>(schema: InputSchema): (value: unknown) => Input {
  return value => decodeInput(schema, value) as unknown as Input
}

export const streamField: FieldSchema = { type: 'string', description: 'name of the work stream', minLength: 1, maxLength: 200 }
export const fileField = (about: string): FieldSchema => ({
  type: 'string',
  description: `${about}: a file, or - for standard input`,
  minLength: 1,
  maxLength: 4_096,
})
export const sessionField: FieldSchema = { type: 'string', description: "the session's id", minLength: 1, maxLength: 200 }
export const forField: FieldSchema = {
  type: 'string',
  description: 'what the next session works on: the notes that matter for it',
  minLength: 1,
  maxLength: 300,
}

const maxBytes = 4 * 1024 * 1024

/** Text of a file or of standard input; at most 4 MiB. */
export async function textFrom(verbs: PackVerbs, path: string, caller: Caller): Promise<string> {
  if (path === '-' && caller.stdin !== undefined) {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of caller.stdin()) {
      size += chunk.byteLength
      if (size > maxBytes) throw tooBig('-')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
  const whole = /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path) ? path : `${caller.cwd ?? verbs.pack().root}/${path}`
  try {
    return Buffer.from(verbs.files.read(whole, maxBytes)).toString('utf8')
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    if (error.code === 'FILES_TOO_LARGE') throw tooBig(path)
    throw new OutriggerError('BAD_INPUT', `${path} cannot be read`, {
      subject: path,
      hint: 'give a file, or - for standard input',
      cause: error,
    })
  }
}

function tooBig(path: string): OutriggerError {
  return new OutriggerError('PACK_TOO_BIG', `${path === '-' ? 'standard input' : path} is over 4 MiB`, {
    subject: path,
    hint: 'give it in pieces',
  })
}

/** What a log adds up to. */
export async function factsFrom(verbs: PackVerbs, path: string, caller: Caller): Promise<Folded['facts']> {
  const log = await verbs.openLog(path, caller)
  const { testCommands } = verbs.pack().config
  let folded: Folded | undefined
  for await (const event of log.events) {
    folded = foldEvent(folded ?? emptyFolded(log.session, log.project, event.at), event, { testCommands }).folded
  }
  return (folded ?? emptyFolded(log.session, log.project, 0)).facts
}

/** Only a person says that notes are theirs. */
export function needPerson(caller: Caller, what: string, stream: string): void {
  if (caller.actor.kind === 'person') return
  throw new OutriggerError('PACK_UNTRUSTED', `only a person may ${what}`, {
    subject: stream,
    ...hints(voice => `${voice === 'tool' ? 'leave it: ' : ''}a person types: outrigger pack trust ${stream}`),
    exit: 1,
  })
}
