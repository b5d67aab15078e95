/** What the verbs share: the project's companion, paths as people type them. */
import { OutriggerError } from '../../errors.ts'
import { decodeInput } from '../../session/decode.ts'
import type { Caller, InputSchema } from '../../session/operation.ts'
import type { CompanionDeps } from '../deps.ts'
import { projectPath } from '../paths.ts'
import type { Companion } from '../project.ts'

/** Asked for at every run. */
export type GetCompanion = () => Companion

export function decoder<Input>(schema: InputSchema): (value: unknown) => Input {
  return value => decodeInput(schema, value) as unknown as Input
}

/** A path that somebody typed; relative ones begin at the caller's folder when something is there, else at the root. Throws `COMPANION_OUTSIDE`. */
export function typedPath(deps: CompanionDeps, typed: string, caller: Caller): string {
  const here = caller.cwd === undefined ? null : projectPath(deps, typed, caller.cwd)
  const fromRoot = projectPath(deps, typed)
  const chosen = here !== null && (exists(deps, here) || fromRoot === null || !exists(deps, fromRoot)) ? here : fromRoot
  if (chosen !== null) return chosen
  throw new OutriggerError('COMPANION_OUTSIDE', `${typed.slice(0, 200)} lies outside of the project`, {
    subject: typed,
    hint: 'give files of the project',
  })
}

export function exists({ root, files }: CompanionDeps, path: string): boolean {
  try {
    return files.lstat(path === '' ? root : `${root}/${path}`) !== undefined
  } catch {
    return false
  }
}

/** Throws `COMPANION_NO_SUCH_PATH`. */
export function requireThere(deps: CompanionDeps, path: string, typed: string): void {
  if (exists(deps, path)) return
  throw new OutriggerError('COMPANION_NO_SUCH_PATH', `there is no ${typed.slice(0, 200)}`, {
    subject: typed,
    hint: 'give files that are there, or add --removed for those that are gone',
    toolHint: 'give files that are there',
  })
}
