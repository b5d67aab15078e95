/** What was run again is proved equal, where a copy of it was stored: the same bytes are the same value. */
import type { Kernel } from './kernel.ts'
import type { Path } from './path.ts'
import type { PlannedName } from './plan.ts'

/** No comparison is begun after so many ms. */
const proofMs = 500
const graceMs = 1_000
/** Of a copy; what is larger was not stored either. */
const maxBytes = 256 * 1024 * 1024

/** The names with `exact` instead of `replayed` where that could be shown. */
export async function prove(
  names: ReadonlyMap<string, PlannedName>,
  path: Path,
  kernel: Pick<Kernel, 'check'>,
): Promise<ReadonlyMap<string, PlannedName>> {
  const copies = currentCopies(names, path)
  if (copies.length === 0) return names
  const checked = await kernel.check(
    {
      components: copies.map(({ names: held, hash }) => ({ names: held, have: hash })),
      budgetMs: proofMs,
      maxComponentBytes: maxBytes,
    },
    proofMs + graceMs,
  )
  const proved = new Map(names)
  for (const { index, hash, opaque } of checked?.components ?? []) {
    const copy = copies[index]!
    if (hash !== copy.hash || opaque.length > 0) continue
    for (const name of copy.names) {
      const known = names.get(name)
      if (known?.status === 'replayed') proved.set(name, { ...known, status: 'exact' })
    }
  }
  return proved
}

/** The newest copies of what the head has, of names that were run again. */
function currentCopies(
  names: ReadonlyMap<string, PlannedName>,
  { dependencies, checkpoints }: Path,
): readonly { readonly names: readonly string[]; readonly hash: string }[] {
  const again = new Set([...names].flatMap(([name, { status }]) => (status === 'replayed' ? [name] : [])))
  if (again.size === 0) return []
  const { components } = dependencies
  const newest = new Map<string, { readonly names: readonly string[]; readonly hash: string }>()
  for (const { cell, components: stored } of checkpoints()) {
    for (const copy of stored) {
      const isCurrent = copy.names.every(name => names.has(name) && cell >= components.lastTouch(name, Number.POSITIVE_INFINITY))
      for (const name of copy.names) if (isCurrent) newest.set(name, copy)
    }
  }
  return [...new Set(newest.values())].filter(copy => copy.names.some(name => again.has(name)))
}
