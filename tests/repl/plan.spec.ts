/** Plans of recovery as pure functions: against a small model of names that share objects, and on histories written out. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Components } from '../../src/repl/components.ts'
import { type Dependencies, dependenciesOf, type LostName, type PathCell } from '../../src/repl/dependencies.ts'
import { type Checkpoint, type LateActivity, type Plan, type PlanInput, plan } from '../../src/repl/plan.ts'
import type { FixedEntry } from '../../src/repl/worker/tape.ts'

const names = ['a', 'b', 'c', 'd', 'e'] as const
type Name = (typeof names)[number]

/** What a cell does; an operation whose names are not bound does nothing. */
type Operation =
  | { readonly kind: 'declare'; readonly name: Name }
  | { readonly kind: 'alias'; readonly name: Name; readonly of: Name }
  | { readonly kind: 'change'; readonly name: Name }
  | { readonly kind: 'remove'; readonly name: Name }
  /** A function that changes what another name holds. */
  | { readonly kind: 'define'; readonly name: Name; readonly changes: Name }
  | { readonly kind: 'call'; readonly name: Name }
  | { readonly kind: 'primitive'; readonly name: Name }

interface Cell {
  readonly operation: Operation
  readonly isEffect: boolean
  /** Names whose values cannot be copied. */
  readonly check: { readonly opaque: readonly Name[] } | undefined
  /** What a cell of this life does after this one: how many cells ago that was. */
  readonly late: { readonly ago: number; readonly isEffect: boolean } | undefined
  /** The worker dies after it, and recovery goes by the plan. */
  readonly dies: boolean
}

type Held =
  | { readonly kind: 'object'; readonly content: number[] }
  | { readonly kind: 'function'; readonly changes: Name }
  | { readonly kind: 'primitive'; readonly value: number }

type World = Map<Name, Held>

function perform(
  world: World,
  { operation }: Cell,
  cell: number,
): { readonly written: readonly Name[]; readonly removed: readonly Name[] } {
  const nothing = { written: [], removed: [] }
  switch (operation.kind) {
    case 'declare':
      world.set(operation.name, { kind: 'object', content: [cell] })
      return { written: [operation.name], removed: [] }
    case 'primitive':
      world.set(operation.name, { kind: 'primitive', value: cell })
      return { written: [operation.name], removed: [] }
    case 'define':
      world.set(operation.name, { kind: 'function', changes: operation.changes })
      return { written: [operation.name], removed: [] }
    case 'alias': {
      const held = world.get(operation.of)
      if (held === undefined) return nothing
      world.set(operation.name, held)
      return { written: [operation.name], removed: [] }
    }
    case 'change':
      changeIn(world, operation.name, cell)
      return nothing
    case 'call': {
      const held = world.get(operation.name)
      if (held?.kind === 'function') changeIn(world, held.changes, cell)
      return nothing
    }
    case 'remove':
      return world.delete(operation.name) ? { written: [], removed: [operation.name] } : nothing
    default:
      return operation satisfies never
  }
}

function changeIn(world: World, name: Name, cell: number): void {
  const held = world.get(name)
  if (held?.kind === 'object') held.content.push(cell)
}

/** A callback that a cell left: it changes what the cell's name holds by now. */
function performLate(world: World, { operation }: Cell, cell: number): void {
  changeIn(world, operation.name, -cell)
}

const touchOf = ({ operation }: Cell): readonly string[] => {
  if (operation.kind === 'alias') return [operation.name, operation.of]
  return operation.kind === 'define' ? [operation.name, operation.changes] : [operation.name]
}

function entryOf(held: Held | undefined, { operation }: Cell, cell: number): FixedEntry | undefined {
  if (held?.kind === 'primitive') return { of: 'primitive', value: String(held.value) }
  // Only the cell that has the text can make the function again.
  if (held?.kind === 'function' && operation.kind === 'define')
    return { of: 'source', cell, start: 0, end: 0, free: [held.changes] }
  return undefined
}

/** A copy with the same sharing. */
function copyOf(world: World, wanted: readonly Name[]): World {
  const made = new Map<Held, Held>()
  const copy: World = new Map()
  for (const name of wanted) {
    const held = world.get(name)
    if (held === undefined) continue
    if (!made.has(held)) made.set(held, held.kind === 'object' ? { ...held, content: [...held.content] } : { ...held })
    copy.set(name, made.get(held)!)
  }
  return copy
}

function record(cells: readonly Cell[]) {
  let world: World = new Map()
  const path: PathCell[] = []
  const checkpoints: Checkpoint[] = []
  const late: LateActivity[] = []
  let born = 0
  const copies = new Map<string, World>()
  let lost: LostName[] = []
  cells.forEach((cell, index) => {
    const number = index + 1
    const { written, removed } = perform(world, cell, number)
    path.push({
      cell: number,
      touch: touchOf(cell),
      dynamic: false,
      world: false,
      written: written.map(name => {
        const entry = entryOf(world.get(name), cell, number)
        return { name, kind: 'const' as const, ...(entry !== undefined && { entry }) }
      }),
      removed,
      unfixed: [],
      refused: cell.isEffect ? 'closure-effect' : undefined,
      language: 1,
      computeMs: 1,
      lostBefore: lost,
    })
    lost = []
    const owner = number - (cell.late?.ago ?? 0)
    let time = number
    if (cell.late !== undefined && owner > born) {
      performLate(world, cells[owner - 1]!, owner)
      time = number + 0.5
      late.push({ time, cell: owner, ...(cell.late.isEffect && { refused: 'closure-effect' as const }) })
    }
    if (cell.check !== undefined) {
      const dependencies = dependenciesWith(path, late)
      const components: Checkpoint['components'][number][] = []
      const opaque: Checkpoint['opaque'][number][] = []
      for (const group of dependencies.components.groups()) {
        const bound = group.filter(name => world.has(name as Name) && dependencies.fixed(name) === undefined) as Name[]
        const held = bound.filter(name => !cell.check!.opaque.includes(name))
        for (const name of bound) if (!held.includes(name)) opaque.push({ name, reason: 'open-handle' })
        if (held.length === 0) continue
        const hash = `${number}:${held.join()}`
        copies.set(hash, copyOf(world, held))
        components.push({ names: held, hash })
      }
      checkpoints.push({ cell: time, components, opaque })
    }
    if (cell.dies) {
      const input = inputOf(path, checkpoints, [], late)
      const planned = plan(input, dependenciesWith(path, late))
      world = carryOut(planned, input, cells, copies)
      born = number
      lost = [...planned.names].flatMap(([name, each]) =>
        each.status === 'lost' ? [{ name, reason: each.reason ?? 'closure-effect', cell: each.cell }] : [],
      )
    }
  })
  return { world, path, checkpoints, copies, lost, late }
}

function dependenciesWith(
  path: readonly PathCell[],
  late: readonly LateActivity[],
  lost: readonly LostName[] = [],
): Dependencies {
  const dependencies = dependenciesOf([])
  for (const cell of path) {
    dependencies.add(cell)
    for (const each of late) if (Math.floor(each.time) === cell.cell) dependencies.addLate(each.cell, each.time)
  }
  dependencies.lose(lost)
  return dependencies
}

function inputOf(
  path: readonly PathCell[],
  checkpoints: readonly Checkpoint[],
  lost: readonly LostName[] = [],
  late: readonly LateActivity[] = [],
): PlanInput {
  return {
    path,
    late,
    lost,
    checkpoints,
    refusedCells: new Map(),
    refusedCopies: new Map(),
    languages: new Set([1]),
    recoverMs: 1_000_000,
  }
}

function carryOut(planned: Plan, { late = [] }: PlanInput, cells: readonly Cell[], copies: ReadonlyMap<string, World>): World {
  const world: World = new Map()
  for (const { name, cell, entry } of planned.entries) {
    if (entry.of === 'primitive') world.set(name as Name, { kind: 'primitive', value: Number(entry.value) })
    else if (entry.of === 'source') {
      const { operation } = cells[entry.cell - 1]!
      if (operation.kind === 'define') world.set(name as Name, { kind: 'function', changes: operation.changes })
      else throw new Error(`cell ${cell} defines nothing`)
    }
  }
  for (const { hash, names: wanted } of planned.copies) {
    const copy = copyOf(copies.get(hash)!, [...copies.get(hash)!.keys()])
    for (const { name } of wanted) world.set(name as Name, copy.get(name as Name)!)
  }
  for (const time of [...planned.replays, ...planned.lates].sort((a, b) => a - b)) {
    const owner = late.find(each => each.time === time)?.cell
    if (owner === undefined) perform(world, cells[time - 1]!, time)
    else if (planned.replays.includes(owner)) performLate(world, cells[owner - 1]!, owner)
    else throw new Error(`cell ${owner} is not run again`)
  }
  return world
}

const name = fc.constantFrom(...names)
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('declare' as const), name }),
  fc.record({ kind: fc.constant('alias' as const), name, of: name }),
  fc.record({ kind: fc.constant('change' as const), name }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('define' as const), name, changes: name }),
  fc.record({ kind: fc.constant('call' as const), name }),
  fc.record({ kind: fc.constant('primitive' as const), name }),
)
const often = (weight: number): fc.Arbitrary<boolean> => fc.integer({ min: 0, max: 99 }).map(drawn => drawn < weight)
const histories = (deaths: number): fc.Arbitrary<readonly Cell[]> =>
  fc.array(
    fc.record({
      operation,
      isEffect: often(20),
      check: fc.option(fc.record({ opaque: fc.subarray([...names], { maxLength: 2 }) }), { nil: undefined }),
      late: fc.option(fc.record({ ago: fc.nat(3), isEffect: often(20) }), { nil: undefined, freq: 3 }),
      dies: often(deaths),
    }),
    { maxLength: 14 },
  )

describe('a plan', () => {
  it.each([
    ['after one life', 0],
    ['after workers that died before', 15],
  ])('never hands out a value that is not the one the name had, %s', (_, deaths) => {
    fc.assert(
      fc.property(histories(deaths), cells => {
        const { world, path, checkpoints, copies, lost, late } = record(cells)
        const input = inputOf(path, checkpoints, lost, late)
        const planned = plan(input, dependenciesWith(path, late, lost))
        const back = carryOut(planned, input, cells, copies)
        const bound = new Set(world.keys())
        for (const gone of lost) bound.delete(gone.name as Name)
        expect([...planned.names.keys()].sort()).toEqual([...bound].sort())
        for (const [each, { status }] of planned.names) {
          if (status === 'lost') expect(back.has(each as Name)).toBe(false)
          else expect([each, back.get(each as Name)]).toEqual([each, world.get(each as Name)])
        }
      }),
      { numRuns: Number(process.env['OUTRIGGER_PLANS'] ?? 3_000) },
    )
  })

  it('brings no name back that a cell took away, which cannot be run again', () => {
    const cell = (operation: Operation, check?: Cell['check']): Cell => ({
      operation,
      isEffect: true,
      check,
      late: undefined,
      dies: true,
    })
    const { world } = record([
      cell({ kind: 'alias', name: 'c', of: 'b' }),
      cell({ kind: 'define', name: 'b', changes: 'a' }),
      cell({ kind: 'declare', name: 'c' }, { opaque: [] }),
      cell({ kind: 'remove', name: 'c' }),
    ])
    expect(world.has('c')).toBe(false)
  })

  it('loses nothing when every cell can be run again', () => {
    fc.assert(
      fc.property(histories(0), cells => {
        const { path, late } = record(
          cells.map(cell => ({
            ...cell,
            isEffect: false,
            check: undefined,
            late: cell.late && { ...cell.late, isEffect: false },
          })),
        )
        for (const { status } of plan(inputOf(path, [], [], late), dependenciesWith(path, late)).names.values())
          expect(status).not.toBe('lost')
      }),
    )
  })

  it('loses nothing when everything has a copy from after the last cell', () => {
    fc.assert(
      fc.property(histories(0), cells => {
        const last = cells.length - 1
        const { path, checkpoints, late } = record(
          cells.map((cell, index) => ({ ...cell, check: index === last ? { opaque: [] } : undefined })),
        )
        const planned = plan(inputOf(path, checkpoints, [], late), dependenciesWith(path, late))
        for (const { status } of planned.names.values()) expect(status).not.toBe('lost')
        expect([...planned.replays, ...planned.lates]).toEqual([])
      }),
    )
  })
})

describe('components', () => {
  it('are told as they were at any time', () => {
    const sets = fc.array(fc.subarray([...names], { minLength: 1 }), { maxLength: 12 })
    fc.assert(
      fc.property(sets, all => {
        const grown = new Components()
        for (const [index, set] of all.entries()) grown.touch(set, index + 1)
        all.forEach((_, index) => {
          const then = new Components()
          for (const [time, set] of all.slice(0, index + 1).entries()) then.touch(set, time + 1)
          for (const each of names) {
            const time = index + 1
            expect(grown.lastTouch(each, time)).toBe(then.lastTouch(each, Number.POSITIVE_INFINITY))
            for (const other of names) {
              const isOne = then.componentOf(each) !== undefined && then.componentOf(each) === then.componentOf(other)
              if (isOne) expect(grown.componentOf(each, time)).toBe(grown.componentOf(other, time))
            }
          }
        })
      }),
    )
  })
})

describe('dependencies', () => {
  it('grown cell by cell are those of the whole path', () => {
    fc.assert(
      fc.property(histories(10), cells => {
        const { path } = record(cells)
        const grown = dependenciesOf([])
        for (const cell of path) grown.add(cell)
        const whole = dependenciesOf(path)
        for (const { cell } of path) expect([...grown.touchOf(cell)].sort()).toEqual([...whole.touchOf(cell)].sort())
        expect([...grown.bound]).toEqual([...whole.bound])
      }),
    )
  })
})
