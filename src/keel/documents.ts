/**
 * What is known of every listed document, in columns: 100,000 documents are looked through in each full
 * sweep, and are loaded and saved as they lie in memory.
 */
import type { FileIdentity } from '../ports/files.ts'

/** `unread`: listed, not looked into (a zone without children). `plain`: declares nothing. `child`: has a record of its own. */
export type DocumentRole = 'unread' | 'plain' | 'child'

const roles: readonly DocumentRole[] = ['unread', 'plain', 'child']
const settledFlag = 4

/** The columns of `count` documents, in the order of `paths`. */
export interface DocumentColumns {
  readonly paths: readonly string[]
  readonly device: BigUint64Array
  readonly inode: BigUint64Array
  readonly mtimeNs: BigInt64Array
  readonly ctimeNs: BigInt64Array
  readonly size: Float64Array
  readonly flags: Uint8Array
}

export interface DocumentTable {
  readonly size: number
  has(path: string): boolean
  role(path: string): DocumentRole | undefined
  /** The document is known, still the one that was read, and that reading proves its bytes. */
  isCurrent(path: string, stat: FileIdentity): boolean
  /** `see` and `role` of a row that `isCurrent`; `undefined`, and nothing done, for any other. */
  seeCurrent(path: string, stat: FileIdentity): DocumentRole | undefined
  set(path: string, stat: FileIdentity | null, role: DocumentRole, isSettled: boolean): void
  delete(path: string): boolean
  /** A new listing begins: no row was seen in it. `set` sees its row. */
  begin(): void
  /** The row is in the listing; `false` when there is none. */
  see(path: string): boolean
  unseen(): readonly string[]
  paths(): readonly string[]
  /** Rows that are left, without gaps. */
  columns(): DocumentColumns
}

interface Row {
  readonly device: bigint
  readonly inode: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly size: number
  readonly flags: number
}

export function emptyColumns(capacity = 0, paths: readonly string[] = []): DocumentColumns {
  return {
    paths,
    device: new BigUint64Array(capacity),
    inode: new BigUint64Array(capacity),
    mtimeNs: new BigInt64Array(capacity),
    ctimeNs: new BigInt64Array(capacity),
    size: new Float64Array(capacity),
    flags: new Uint8Array(capacity),
  }
}

/** @param start - the rows it begins with; their arrays are taken over. */
export function createDocumentTable(start: DocumentColumns = emptyColumns()): DocumentTable {
  /** Where each row is. Not made as long as listings come by the rows in their order and nothing is added or removed. */
  let indexOf: Map<string, number> | null = null
  /** The row that a listing comes by next, if it is as the one before. */
  let next = 0
  let rows = start
  let used = start.paths.length
  /** Number of the listing that a row was last seen in. */
  let seenIn = new Uint32Array(start.flags.length)
  let listing = 0
  let seen = 0
  let halves = halvesOf(rows)

  const table: DocumentTable = {
    get size() {
      return indexOf?.size ?? used
    },
    has: path => find(path) !== undefined,
    role(path) {
      const at = find(path)
      return at === undefined ? undefined : roleOf(at)
    },
    isCurrent(path, stat) {
      const at = find(path)
      return at !== undefined && isCurrentRow(at, stat)
    },
    seeCurrent(path, stat) {
      const at = find(path)
      if (at === undefined || !isCurrentRow(at, stat)) return undefined
      mark(at)
      return roleOf(at)
    },
    set(path, stat, role, isSettled) {
      const flags = roles.indexOf(role) | (isSettled && stat !== null ? settledFlag : 0)
      put(path, stat === null ? { ...nowhere, flags } : { ...stat, flags })
    },
    delete(path) {
      const at = find(path)
      if (at === undefined) return false
      if (seenIn[at] === listing) seen -= 1
      return index().delete(path)
    },
    begin() {
      listing += 1
      seen = 0
      next = 0
    },
    see(path) {
      const at = find(path)
      if (at !== undefined) mark(at)
      return at !== undefined
    },
    unseen: () => (seen === table.size ? [] : [...index()].filter(([, at]) => seenIn[at] !== listing).map(([path]) => path)),
    paths: () => (indexOf === null ? start.paths : [...indexOf.keys()]),
    columns() {
      const kept = [...index().values()]
      const packed = emptyColumns(kept.length, [...index().keys()])
      kept.forEach((from, to) => {
        packed.device[to] = rows.device[from]!
        packed.inode[to] = rows.inode[from]!
        packed.mtimeNs[to] = rows.mtimeNs[from]!
        packed.ctimeNs[to] = rows.ctimeNs[from]!
        packed.size[to] = rows.size[from]!
        packed.flags[to] = rows.flags[from]!
      })
      return packed
    },
  }
  return table

  function index(): Map<string, number> {
    if (indexOf !== null) return indexOf
    indexOf = new Map()
    for (let at = 0; at < start.paths.length; at += 1) indexOf.set(start.paths[at]!, at)
    return indexOf
  }

  function find(path: string): number | undefined {
    if (indexOf !== null) return indexOf.get(path)
    if (start.paths[next] === path) return next
    const before = next - 1
    return start.paths[before] === path ? before : index().get(path)
  }

  function mark(at: number): void {
    if (seenIn[at] !== listing) seen += 1
    seenIn[at] = listing
    next = at + 1
  }

  function roleOf(at: number): DocumentRole | undefined {
    return roles[rows.flags[at]! & 3]
  }

  function isCurrentRow(at: number, stat: FileIdentity): boolean {
    if (stat.kind !== 'file' || (rows.flags[at]! & settledFlag) === 0 || rows.size[at] !== stat.size) return false
    signed[0] = stat.mtimeNs
    signed[1] = stat.ctimeNs
    unsigned[2] = stat.inode
    unsigned[3] = stat.device
    const low = 2 * at
    return (
      words[0] === halves.mtimeNs[low] &&
      words[1] === halves.mtimeNs[low + 1] &&
      words[2] === halves.ctimeNs[low] &&
      words[3] === halves.ctimeNs[low + 1] &&
      words[4] === halves.inode[low] &&
      words[5] === halves.inode[low + 1] &&
      words[6] === halves.device[low] &&
      words[7] === halves.device[low + 1]
    )
  }

  function put(path: string, row: Row): void {
    let at = find(path)
    if (at === undefined) {
      at = used
      used += 1
      if (used > rows.flags.length) {
        rows = grown(rows, Math.max(64, 2 * used))
        halves = halvesOf(rows)
        const more = new Uint32Array(rows.flags.length)
        more.set(seenIn)
        seenIn = more
      }
      index().set(path, at)
    }
    rows.device[at] = BigInt.asUintN(64, row.device)
    rows.inode[at] = BigInt.asUintN(64, row.inode)
    rows.mtimeNs[at] = row.mtimeNs
    rows.ctimeNs[at] = row.ctimeNs
    rows.size[at] = row.size
    rows.flags[at] = row.flags
    mark(at)
  }
}

/** The large integers of one stat; compared by halves, so that no look makes objects of those that are stored. */
const signed = new BigInt64Array(4)
const unsigned = new BigUint64Array(signed.buffer)
const words = new Int32Array(signed.buffer)

type Halves = Readonly<Record<'device' | 'inode' | 'mtimeNs' | 'ctimeNs', Int32Array>>

/** The same memory as 32-bit numbers, two a row. */
function halvesOf({ device, inode, mtimeNs, ctimeNs }: DocumentColumns): Halves {
  const halves = (column: BigUint64Array | BigInt64Array) => new Int32Array(column.buffer, column.byteOffset, 2 * column.length)
  return { device: halves(device), inode: halves(inode), mtimeNs: halves(mtimeNs), ctimeNs: halves(ctimeNs) }
}

const nowhere: Omit<Row, 'flags'> = { device: 0n, inode: 0n, mtimeNs: 0n, ctimeNs: 0n, size: 0 }

function grown(rows: DocumentColumns, capacity: number): DocumentColumns {
  const larger = emptyColumns(capacity, rows.paths)
  larger.device.set(rows.device)
  larger.inode.set(rows.inode)
  larger.mtimeNs.set(rows.mtimeNs)
  larger.ctimeNs.set(rows.ctimeNs)
  larger.size.set(rows.size)
  larger.flags.set(rows.flags)
  return larger
}
