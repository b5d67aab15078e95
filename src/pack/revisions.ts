/** Earlier states of a stream. */
import type { PackDeps } from './deps.ts'
import { absolute, pathsOf, readText, revisionPath } from './files.ts'
import { parseState } from './state-file.ts'

/** Their numbers, rising. */
export function historyOf(deps: PackDeps, stream: string): readonly number[] {
  const folder = absolute(deps, pathsOf(stream).history)
  if (deps.files.stat(folder)?.kind !== 'folder') return []
  return deps.files
    .list(folder)
    .flatMap(({ name }) => {
      const match = /^r(\d{4,12})\.md$/.exec(name)
      return match === null ? [] : [Number(match[1])]
    })
    .sort((one, other) => one - other)
}

/** Text of a revision, the present one too; `null`: not kept. */
export function textOfRevision(deps: PackDeps, stream: string, revision: number): string | null {
  const present = readText(deps, pathsOf(stream).state)
  if (present !== null && parseState(present)?.revision === revision) return present
  return readText(deps, revisionPath(stream, revision))
}

/** `history/handoff-r0007-2.md`: the first name that is free. */
export function handoffPath(deps: PackDeps, stream: string, revision: number): string {
  const name = (count: number): string => `${pathsOf(stream).history}/handoff-r${String(revision).padStart(4, '0')}-${count}.md`
  let count = 1
  while (deps.files.stat(absolute(deps, name(count))) !== undefined) count++
  return name(count)
}
