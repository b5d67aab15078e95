/** What was run again is proved equal, where a copy of it was stored: the same bytes are the same value. */
import { sha256 } from './journal.ts'
import type { CheckedComponent, Kernel } from './kernel.ts'
import type { Path } from './path.ts'
import type { Checkpoint, PlannedName } from './plan.ts'
import type { Secrets } from './secrets.ts'

/** No comparison is begun after so many ms. */
const proofMs = 500
const graceMs = 1_000
/** Of a copy; what is larger was not stored either. */
const maxBytes = 256 * 1024 * 1024

/** The names with `exact` instead of `replayed` where that could be shown. */
export async function prove(
  names: ReadonlyMap<string, PlannedName>,
  path: Path,
  { kernel, secrets }: { readonly kernel: Pick<Kernel, 'check'>; readonly secrets: Secrets },
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
  for (const component of checked?.components ?? []) {
    const copy = copies[component.index]!
    if (component.opaque.length > 0 || !(await isSame(component, copy, secrets))) continue
    for (const name of copy.names) {
      const known = names.get(name)
      if (known?.status === 'replayed') proved.set(name, { ...known, status: 'exact' })
    }
  }
  return proved
}

type Copy = Checkpoint['components'][number]

async function isSame({ hash, content }: CheckedComponent, copy: Copy, secrets: Secrets): Promise<boolean> {
  if (copy.secrets === undefined || content === undefined) return hash === copy.hash
  const hidden = await secrets.bytes.hide(content)
  return (
    hidden !== undefined && sha256(hidden.bytes) === copy.hash && JSON.stringify(hidden.places) === JSON.stringify(copy.secrets)
  )
}

/** The newest copies of what the head has, of names that were run again. */
function currentCopies(names: ReadonlyMap<string, PlannedName>, { dependencies, checkpoints }: Path): readonly Copy[] {
  const again = new Set([...names].flatMap(([name, { status }]) => (status === 'replayed' ? [name] : [])))
  if (again.size === 0) return []
  const { components } = dependencies
  const newest = new Map<string, Copy>()
  for (const { cell, components: stored } of checkpoints()) {
    for (const copy of stored) {
      const isCurrent = copy.names.every(name => names.has(name) && cell >= components.lastTouch(name, Number.POSITIVE_INFINITY))
      for (const name of copy.names) if (isCurrent) newest.set(name, copy)
    }
  }
  return [...new Set(newest.values())].filter(copy => copy.names.some(name => again.has(name)))
}
