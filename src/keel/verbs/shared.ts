/** What the verbs share: their turn on the project, paths as people type them, who acts, filters. */
import { OutriggerError } from '../../errors.ts'
import { decodeInput } from '../../session/decode.ts'
import type { Caller, FieldSchema, InputSchema } from '../../session/operation.ts'
import { hints } from '../../session/voice.ts'
import type { KeelDeps } from '../deps.ts'
import { exclusive } from '../exclusive.ts'
import type { Assessment, Edge, JournalRecord, KeelProject, RefreshOptions } from '../types.ts'

/** Both are asked for at every call: a changed configuration makes new ones. */
export interface KeelVerbs {
  readonly keel: () => KeelProject
  readonly deps: () => KeelDeps
}

/** Every document says whether sessions hear keel. */
export interface Answer {
  readonly on: boolean
}

export function isOn(keel: KeelProject): boolean {
  return !keel.isOff().off
}

/** Run a verb in its turn on the project. */
export async function inTurn<T>(verbs: KeelVerbs, run: (keel: KeelProject, deps: KeelDeps) => Promise<T>): Promise<T> {
  const keel = verbs.keel()
  return exclusive(keel, () => run(keel, verbs.deps()))
}

/** A decoder for this schema; the type is what the schema says. */
export function decoder<Input>(schema: InputSchema): (value: unknown) => Input {
  return value => decodeInput(schema, value) as unknown as Input
}

export const pathsField: FieldSchema = {
  type: 'array',
  description: 'files or folders; only edges whose document or source is one of them or lies below one',
  items: { type: 'string', maxLength: 4096 },
  maxItems: 10_000,
}

export const formatField: (forms: readonly string[]) => FieldSchema = forms => ({
  type: 'string',
  description: 'form of the answer',
  enum: forms,
  default: forms[0]!,
})

export const outField: FieldSchema = { type: 'string', description: 'write the answer to this file', maxLength: 4096 }

export function refreshOptions(caller: Caller, keel: KeelProject, budgetMs?: number): RefreshOptions {
  const budget = budgetMs ?? (caller.door === 'cli' ? undefined : keel.config.sweepBudgetMs)
  return {
    signal: caller.signal,
    progress: (what, done, total) => caller.progress(what, done, total),
    ...(budget !== undefined && { budgetMs: budget }),
  }
}

/** Look at everything and keep what was learned for the next time. */
export async function sweep(keel: KeelProject, caller: Caller, budgetMs?: number): Promise<Assessment> {
  const assessment = await keel.refresh({ kind: 'full', searchMoves: true }, refreshOptions(caller, keel, budgetMs))
  await keel.save()
  return assessment
}

/**
 * A path as a person types it, in the project's form: `.` is the root and the empty text, outside of the
 * project it stays absolute. Relative ones begin at the caller's folder when something is there, else at the root.
 */
export function projectPath(typed: string, keel: KeelProject, deps: KeelDeps, caller: Caller): string {
  const root = slashed(keel.root)
  const path = slashed(typed)
  if (isAbsolute(path)) return inside(normal(path), root)
  const fromRoot = normal(path)
  const cwd = caller.cwd === undefined ? root : slashed(caller.cwd)
  if (cwd === root || !cwd.startsWith(`${root}/`)) return fromRoot
  const fromHere = normal(`${cwd.slice(root.length + 1)}/${path}`)
  const isThere = fromHere === '' || deps.files.lstat(`${root}/${fromHere}`) !== undefined
  return isThere || deps.files.lstat(`${root}/${fromRoot}`) === undefined ? fromHere : fromRoot
}

function inside(path: string, root: string): string {
  if (path === root) return ''
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/').replace(/(?<=.)\/+$/, '')
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:\//.test(path)
}

/** Without `.`, `..` and empty segments; a leading `/` stays. */
function normal(path: string): string {
  const out: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') out.pop()
    else if (segment !== '.' && segment !== '') out.push(segment)
  }
  return `${path.startsWith('/') ? '/' : ''}${out.join('/')}`
}

export function absolutePath(keel: KeelProject, path: string): string {
  return isAbsolute(path) ? path : `${keel.root}/${path}`
}

/** Is this file one of these, or below one? An empty text is the root. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some(folder => folder === '' || path === folder || path.startsWith(`${folder}/`))
}

/** The edges whose document or source is one of these or lies below one. */
export function edgesBelow(edges: readonly Edge[], folders: readonly string[]): readonly Edge[] {
  return edges.filter(edge => isBelow(edge.child, folders) || (edge.target !== null && isBelow(edge.target, folders)))
}

/**
 * Whom the journal will name.
 *
 * @param stated - `person`, `agent`, each with `:name`. An agent that the door recognised stays one.
 */
export async function whoOf(caller: Caller, deps: KeelDeps, stated?: string): Promise<JournalRecord['who']> {
  const { actor, session } = caller
  const said = stated === undefined ? undefined : decodeWho(stated)
  const isAgent = actor.kind !== 'person' || said?.kind === 'agent'
  const name = said?.name ?? actor.name ?? (isAgent ? undefined : await deps.git.userName(deps.root))
  return {
    kind: isAgent ? 'agent' : 'person',
    ...(name !== undefined && name !== '' && { name }),
    ...(session !== undefined && { session }),
  }
}

function decodeWho(stated: string): { readonly kind: 'person' | 'agent'; readonly name?: string } {
  const [kind, ...rest] = stated.split(':')
  if (kind !== 'person' && kind !== 'agent') {
    throw new OutriggerError('BAD_INPUT', `"${stated.slice(0, 60)}" names nobody`, {
      subject: 'who',
      hint: 'give person, agent, person:NAME or agent:NAME',
    })
  }
  const name = rest.join(':').trim()
  return name === '' ? { kind } : { kind, name }
}

/** The document or source that a person names; for verbs about one file. */
export function knownFile(typed: string, keel: KeelProject, deps: KeelDeps, caller: Caller): string {
  const path = projectPath(typed, keel, deps, caller)
  const found = keel.findFile(typed) ?? keel.findFile(path)
  if (found !== null) return found
  throw unknownFile(typed)
}

export function unknownFile(typed: string): OutriggerError {
  return new OutriggerError('KEEL_UNKNOWN_FILE', `${typed.slice(0, 200)} is no file here that keel knows`, {
    subject: typed,
    ...hints(
      voice =>
        `give the path of a document or of one of its sources${voice === 'tool' ? '' : '; outrigger keel check --all --json lists them'}`,
    ),
  })
}
