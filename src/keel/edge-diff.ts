/** What changed in a source since an edge was stamped, as text. */

import { hunks } from '../text/diff.ts'
import type { Core } from './core.ts'
import { blobId } from './forms.ts'
import { oldContent, readOrNull, sliceOf } from './history.ts'
import { absoluteOf } from './places.ts'
import type { Edge, EdgeDiff, Hex12 } from './types.ts'

const maxBytes = 1024 * 1024
const maxLines = 20_000

type Why = NonNullable<EdgeDiff['why']>

export async function diffOf(core: Core, edge: Edge): Promise<EdgeDiff> {
  const { root, files, config } = core.deps
  const { target, old } = edge
  if (edge.class !== 'moved' || old === null || target === null) return unavailable('no-copy')
  // What lies outside of the project is nobody's to show.
  if (isOutside(core, target)) return unavailable('outside-project')
  const size = sizeOf(core, target)
  if (size === null) return unavailable('moved-again')
  if (size > 16 * maxBytes) return unavailable('too-large')
  const bytes = readOrNull(files, absoluteOf(root, target), 16 * maxBytes)
  const now = bytes === null ? null : await sliceOf(bytes, target, edge.anchor)
  if (now === null) return unavailable('moved-again')
  if (now.view.binary) return unavailable('binary')
  const current: Hex12 = config.compare === 'exact' ? now.view.ids.raw : now.view.ids.norm
  if (edge.current !== null && current !== edge.current) return unavailable('moved-again')
  if (now.norm.length > maxBytes) return unavailable('too-large')
  const copy = core.baseline().get(old)
  const before =
    copy ?? (await oldContent({ git: core.deps.git, root, compare: config.compare, target, anchor: edge.anchor, stamp: old }))
  if (before === null) return unavailable('no-copy')
  const compared = hunks(before, now.norm, { maxBytes, maxLines })
  if (compared.kind !== 'ok') return unavailable(compared.kind)
  return { status: 'ok', why: null, text: compared.text, basis: copy !== undefined && blobId(copy) === old ? 'baseline' : 'git' }
}

function unavailable(why: Why): EdgeDiff {
  return { status: 'unavailable', why, text: null, basis: null }
}

function sizeOf(core: Core, path: string): number | null {
  try {
    return core.deps.files.stat(absoluteOf(core.deps.root, path))?.size ?? null
  } catch {
    return null // it may not be looked at any more
  }
}

/** Also a link inside the project whose file lies outside of it. */
function isOutside(core: Core, target: string): boolean {
  if (target.startsWith('/') || /^[A-Za-z]:/u.test(target) || target.startsWith('../')) return true
  const { files, root } = core.deps
  try {
    const real = files.realpath(absoluteOf(root, target))?.replaceAll('\\', '/')
    const realRoot = (files.realpath(root) ?? root).replaceAll('\\', '/')
    return real !== undefined && !real.startsWith(`${realRoot}/`)
  } catch {
    return true // nobody can say where it leads
  }
}
