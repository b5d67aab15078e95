/** How programs of a host reach the REPL, as its door found it at its last start in this project: a document in the store, for doctor. */
import type { Json } from '../ports/json.ts'
import type { Project } from './project.ts'

export interface ReplSeam {
  readonly host: 'dsh'
  /** The host's service that programs go through; `other`: it is not ours, `none`: there is no such service. */
  readonly seam: 'codeRuntime' | 'ptcRuntime' | 'other' | 'none'
  /** What does not work, each in words for a person. */
  readonly degraded: readonly string[]
  /** Cells run under the host's policy for processes. */
  readonly confined: boolean
}

const key = 'repl/seam'

/** Kept when it is not what is known already. @returns whether it is news. */
export async function noteSeam(project: Project, seam: ReplSeam): Promise<boolean> {
  // What works needs no store of its own.
  if (seam.degraded.length === 0 && !project.hasStore()) return false
  const store = await project.store()
  const known = await store.get(key)
  if (known !== undefined && JSON.stringify(known.value) === JSON.stringify(seam)) return false
  await store.put(key, seam as unknown as Json, known?.version ?? 0)
  const text = seam.degraded.length === 0 ? `programs go through ${seam.seam}` : seam.degraded.join('; ')
  const what = seam.degraded.length === 0 ? 'seam' : 'degraded'
  await project.ledger.write([{ what, reason: seam.seam, text, engine: 'repl', session: null, turn: null }])
  return true
}

export async function readSeam(project: Project): Promise<ReplSeam | undefined> {
  if (!project.hasStore()) return undefined
  const value = (await (await project.store()).get(key))?.value as Partial<ReplSeam> | null | undefined
  if (typeof value !== 'object' || value === null || !Array.isArray(value.degraded)) return undefined
  return value as ReplSeam
}
