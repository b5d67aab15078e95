/** Copies of what cells changed, so that a restart does not depend on running them again. */
import { type Journal, sha256 } from './journal.ts'
import type { CheckedComponent, Kernel } from './kernel.ts'
import type { Path } from './path.ts'
import type { Secrets } from './secrets.ts'
import type { OpaqueName, ReplConfig, StoredComponent } from './types.ts'

export interface CheckpointParts {
  readonly kernel: Kernel
  readonly journal: Journal
  readonly secrets: Pick<Secrets, 'bytes'>
  config(): Pick<ReplConfig, 'checkpoint' | 'checkpointBudgetMs' | 'checkpointMaxMs' | 'checkpointComponentMb'>
  /** What the worker told meanwhile comes first. */
  beforeWrite(): Promise<void>
}

export interface Checkpoints {
  /** Copy whatever has no current copy, and say what could not be: for a cell whose effects forbid to run it again, or for a state that is named. */
  whole(path: Path): Promise<void>
  /** The same within the time that a next cell may wait. True: something was left for later, for want of time. */
  quick(path: Path): Promise<boolean>
  /** The same without that limit, while nobody waits. */
  slow(path: Path): Promise<void>
  /** Somebody waits: what a slow one has not begun is left for later. */
  stop(): void
  /** The worker is another one. */
  forget(): void
}

/** How long after its limit a worker may still be busy with the last component. */
const graceMs = 10_000
/** Components that a slow copy takes at once. */
const slowPart = 64
/** A component that takes long is copied again only after computing so many times as long. */
const restFactor = 20

export function createCheckpoints({ kernel, journal, secrets, config, beforeWrite }: CheckpointParts): Checkpoints {
  /** What a component took last, and how much was computed when it did. */
  const costs = new Map<string, { readonly ms: number; readonly computed: number }>()
  let computed = 0
  /** The head after which everything had a copy. */
  let clean: number | undefined
  let isSlow = false

  /** A cell that touched nothing leaves everything as it was. */
  const isStillClean = ({ head, cells, dependencies }: Path): boolean => {
    const before = cells.at(-2)?.cell ?? 0
    const isLate = (cell: number): boolean => (journal.state.cells.get(cell)?.active.length ?? 0) > 0
    return clean === before && dependencies.touchOf(head).length === 0 && !isLate(head) && !isLate(before)
  }

  async function take(path: Path, wanted: readonly Wanted[], budgetMs: number, isFinal: boolean): Promise<boolean> {
    const maxComponentBytes = config().checkpointComponentMb * 1024 * 1024
    // A copy that was removed has to be made again.
    const there = await Promise.all(wanted.map(({ have }) => have !== undefined && journal.has(have)))
    const checked = await kernel.check(
      {
        components: wanted.map(({ names, have }, at) => ({ names, ...(have !== undefined && there[at] === true && { have }) })),
        budgetMs,
        maxComponentBytes,
      },
      budgetMs + graceMs,
    )
    if (checked === undefined) return true
    await beforeWrite()
    const components: StoredComponent[] = []
    const opaque: OpaqueName[] = []
    const add = ({ names, bytes, cells }: CheckedComponent, stored: Kept): void => {
      components.push({ names, bytes, ...(cells.length > 0 && { cells }), ...stored })
    }
    for (const component of checked.components) {
      const { index, names, hash, content, opaque: parts, ms } = component
      costs.set(keyOf(wanted[index]!.names), { ms, computed })
      if (hash !== undefined && content === undefined) add(component, knownCopy(path, names, hash))
      else if (content !== undefined) {
        const kept = await keep(content)
        if (kept !== undefined) add(component, kept)
        else {
          const { clean, secret } = await separate(names, maxComponentBytes)
          for (const name of secret) opaque.push({ name, reason: 'secret' })
          if (clean !== undefined) add(...clean)
        }
      }
      for (const { name, reason, path: where, type } of parts) {
        opaque.push({ name, reason, detail: where === name ? type : `${type} at ${where}` })
      }
    }
    // What was not begun is over its time; who must not run again says so.
    if (isFinal) {
      for (const index of checked.skipped) {
        for (const name of wanted[index]!.names) opaque.push({ name, reason: 'too-large', detail: 'no time was left' })
      }
    }
    if (components.length > 0 || opaque.length > 0) await journal.write({ k: 'check', cell: path.head, components, opaque })
    return !isFinal && checked.skipped.length > 0
  }

  /** Some of the names hold what only looks like a secret: the others are stored without them. */
  async function separate(
    names: readonly string[],
    maxComponentBytes: number,
  ): Promise<{ readonly clean?: readonly [CheckedComponent, Kept]; readonly secret: readonly string[] }> {
    const check = async (components: readonly (readonly string[])[]): Promise<readonly CheckedComponent[]> => {
      const limits = { budgetMs: config().checkpointMaxMs, maxComponentBytes }
      const wanted = { components: components.map(each => ({ names: each })), ...limits }
      return (await kernel.check(wanted, limits.budgetMs + graceMs))?.components ?? []
    }
    const clean: string[] = []
    for (const { names: alone, content } of await check(names.map(name => [name]))) {
      if (content !== undefined && (await secrets.bytes.hide(content)) !== undefined) clean.push(...alone)
    }
    const secret = names.filter(name => !clean.includes(name))
    if (clean.length === 0) return { secret }
    const [component] = await check([clean])
    const kept = component?.content === undefined ? undefined : await keep(component.content)
    return kept === undefined ? { secret: names } : { clean: [component!, kept], secret }
  }

  /** `undefined`: it must not be stored. */
  async function keep(content: Uint8Array): Promise<Kept | undefined> {
    const hidden = await secrets.bytes.hide(content)
    if (hidden === undefined) return undefined
    const hash = sha256(hidden.bytes)
    await journal.keep(hash, hidden.bytes)
    return { hash, ...(hidden.places.length > 0 && { secrets: hidden.places }) }
  }

  return {
    async whole(path) {
      const wanted = withoutCopy(path)
      if (wanted.length === 0) return
      if (config().checkpoint === 'off') return
      await take(path, wanted, config().checkpointMaxMs, true)
    },
    async quick(path) {
      computed += path.cells.at(-1)?.computeMs ?? 0
      if (config().checkpoint === 'off') return false
      if (isStillClean(path)) {
        clean = path.head
        return false
      }
      const { checkpointBudgetMs } = config()
      const all = withoutCopy(path)
      const wanted = all.filter(({ names }) => {
        const cost = costs.get(keyOf(names))
        return cost === undefined || cost.ms <= checkpointBudgetMs || computed - cost.computed >= cost.ms * restFactor
      })
      const isLeft = wanted.length > 0 && (await take(path, wanted, checkpointBudgetMs, false))
      const isOver = isLeft || wanted.length < all.length
      clean = isOver ? undefined : path.head
      return isOver
    },
    async slow(path) {
      const wanted = withoutCopy(path)
      if (wanted.length === 0 || config().checkpoint === 'off') return
      isSlow = true
      try {
        // Each part is written by itself: what ends the process meanwhile does not cost all of it.
        for (let at = 0; at < wanted.length && isSlow; at += slowPart)
          await take(path, wanted.slice(at, at + slowPart), config().checkpointMaxMs, false)
      } finally {
        isSlow = false
      }
    },
    stop: () => {
      if (isSlow) kernel.hurry()
      isSlow = false
    },
    forget: () => {
      costs.clear()
      clean = undefined
    },
  }
}

interface Wanted {
  /** Sorted. */
  readonly names: readonly string[]
  /** Hash of the newest copy of exactly these. */
  readonly have?: string
}

type Kept = Pick<StoredComponent, 'hash' | 'secrets'>

/** As it was stored before. */
function knownCopy(path: Path, names: readonly string[], hash: string): Kept {
  const known = path.checkpoints().flatMap(({ components }) => components.filter(each => each.hash === hash))
  const newest = known.findLast(each => keyOf(each.names) === keyOf(names)) ?? known.at(-1)
  return { hash, ...(newest?.secrets !== undefined && { secrets: newest.secrets }) }
}

const keyOf = (names: readonly string[]): string => names.join('\n')

/** Components with a name that was touched since it was copied last. */
function withoutCopy({ dependencies, checkpoints }: Path): readonly Wanted[] {
  const { components, bound } = dependencies
  const groups = components
    .groups()
    .map(group => group.filter(name => bound.has(name) && dependencies.fixed(name) === undefined).sort())
    .filter(group => group.length > 0)
  if (groups.length === 0) return []
  const copied = new Map<string, number>()
  const newest = new Map<string, string>()
  for (const { cell, components: stored, opaque } of checkpoints()) {
    for (const { names, hash } of stored) {
      newest.set(keyOf(names), hash)
      for (const name of names) copied.set(name, cell)
    }
    for (const { name } of opaque) copied.set(name, cell)
  }
  return groups.flatMap(names => {
    const isCurrent = names.every(name => (copied.get(name) ?? -1) >= components.lastTouch(name, Number.POSITIVE_INFINITY))
    const have = newest.get(keyOf(names))
    return isCurrent ? [] : [{ names, ...(have !== undefined && { have }) }]
  })
}
