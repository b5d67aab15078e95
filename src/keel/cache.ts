/**
 * The memory of a project as bytes and back. What is many (documents) lies in columns, what is few
 * (children, targets) in one JSON text of lists: names are never keys of an object. Losing it loses
 * nothing; damage reads as nothing.
 *
 * Body: four numbers of 4 bytes (length of the JSON text, length of the paths, count of documents, count
 * of further rows); the columns of 8 bytes, with the identities of all children and targets behind those
 * of the documents; the flags of the documents; the JSON text; the paths, NUL between. That the bytes are
 * those that were saved is the cache file's business.
 */
import { createHash } from 'node:crypto'
import type { FileIdentity } from '../ports/files.ts'
import { createDocumentTable, type DocumentColumns } from './documents.ts'
import { type EdgeMemory, emptyMemory, type Memory, type Search } from './memory.ts'
import { type PackedChild, type PackedTarget, packChild, packTarget, unpackChild, unpackTarget } from './pack.ts'
import type { Hex12, KeelConfig, SuspectKey } from './types.ts'
import type { LocalZones } from './zones.ts'

/** Raised whenever the body reads otherwise. */
const format = 4

/** What a body depends on beside the files: another header is another cache. */
export function cacheHeader(root: string, version: string, config: KeelConfig): string {
  const zones = createHash('sha1')
    .update(JSON.stringify([config.ignore, config.frozen, config.vendored]))
    .digest('hex')
    .slice(0, 12)
  return JSON.stringify(['outrigger-keel-cache', format, version, root, zones, config.compare, config.maxSourceMiB])
}

const headBytes = 16
const columnsOf8 = 5

export function encodeMemory(memory: Memory): Uint8Array {
  const documents = memory.documents.columns()
  const count = documents.paths.length
  const identities = [
    ...[...memory.children.values()].map(child => child.identity),
    ...[...memory.targets.values()].map(target => target.file),
  ]
  const json = Buffer.from(JSON.stringify(plainOf(memory)))
  const paths = Buffer.from(documents.paths.join('\0'))
  const rows = count + identities.length
  const body = Buffer.alloc(headBytes + rows * 8 * columnsOf8 + count + json.length + paths.length)
  body.writeUInt32LE(json.length, 0)
  body.writeUInt32LE(paths.length, 4)
  body.writeUInt32LE(count, 8)
  body.writeUInt32LE(identities.length, 12)
  let at = headBytes
  const put = (column: BigUint64Array | BigInt64Array | Float64Array | Uint8Array) => {
    body.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at)
    at += column.byteLength
  }
  for (const [column, more] of [
    [documents.device, BigUint64Array.from(identities, one => BigInt.asUintN(64, one.device))],
    [documents.inode, BigUint64Array.from(identities, one => BigInt.asUintN(64, one.inode))],
    [documents.mtimeNs, BigInt64Array.from(identities, one => one.mtimeNs)],
    [documents.ctimeNs, BigInt64Array.from(identities, one => one.ctimeNs)],
    [documents.size, Float64Array.from(identities, one => one.size)],
  ] as const) {
    put(column)
    put(more)
  }
  put(documents.flags)
  body.set(json, at)
  body.set(paths, at + json.length)
  return body
}

/** `undefined`: damaged. */
export function decodeMemory(bytes: Uint8Array): Memory | undefined {
  try {
    return decodeWhole(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch {
    return undefined // cut short, or not ours
  }
}

function decodeWhole(body: Buffer): Memory | undefined {
  if (body.length < headBytes) return undefined
  const [jsonLength, pathsLength, count, more] = [0, 4, 8, 12].map(at => body.readUInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ]
  const columnBytes = (count + more) * 8
  if (body.length !== headBytes + columnBytes * columnsOf8 + count + jsonLength + pathsLength) return undefined
  // Typed arrays need aligned memory of their own.
  let at = headBytes
  const column = (length: number) => {
    const copy = new Uint8Array(length)
    copy.set(body.subarray(at, at + length))
    at += length
    return copy.buffer
  }
  const columns: Omit<DocumentColumns, 'paths'> = {
    device: new BigUint64Array(column(columnBytes)),
    inode: new BigUint64Array(column(columnBytes)),
    mtimeNs: new BigInt64Array(column(columnBytes)),
    ctimeNs: new BigInt64Array(column(columnBytes)),
    size: new Float64Array(column(columnBytes)),
    flags: new Uint8Array(column(count)),
  }
  const plain = JSON.parse(body.toString('utf8', at, at + jsonLength)) as Plain
  const paths = count === 0 ? [] : body.toString('utf8', at + jsonLength).split('\0')
  if (paths.length !== count || plain.children.length + plain.targets.length !== more) return undefined
  return memoryOf(plain, columns, paths)
}

interface Plain {
  readonly locals: readonly LocalZones[]
  readonly children: readonly PackedChild[]
  readonly targets: readonly PackedTarget[]
  /** Three an edge: its id, the stamp, the settled one or nothing when it is the same. */
  readonly edges: readonly string[]
  readonly since: readonly (readonly [SuspectKey, number])[]
  readonly unfinished: readonly string[]
  readonly searches: readonly (readonly [string, Search])[]
  readonly sweptAt: number | null
  readonly baselineBytes: number | null
  readonly hasLostRecords: boolean
  readonly moved: readonly (readonly [string, number])[]
}

function plainOf(memory: Memory): Plain {
  const places = new Map([...memory.targets.keys()].map((path, at) => [path, at]))
  return {
    locals: memory.locals,
    children: [...memory.children.values()].map(child => packChild(child, path => places.get(path))),
    targets: [...memory.targets.values()].map(packTarget),
    edges: [...memory.edges].flatMap(([id, { stamp, settled }]) => [id, stamp, settled === stamp ? '' : settled]),
    since: [...memory.since],
    unfinished: [...memory.unfinished],
    searches: [...memory.searches],
    sweptAt: memory.sweptAt,
    baselineBytes: memory.baselineBytes,
    hasLostRecords: memory.hasLostRecords,
    moved: [...memory.moved],
  }
}

function memoryOf(plain: Plain, columns: Omit<DocumentColumns, 'paths'>, paths: readonly string[]): Memory {
  const { device, inode, mtimeNs, ctimeNs, size, flags } = columns
  const count = paths.length
  let row = count
  /** Children and targets are regular files, the latter maybe behind a link. */
  const identity = (): FileIdentity => {
    const at = row++
    return { device: device[at]!, inode: inode[at]!, kind: 'file', size: size[at]!, mtimeNs: mtimeNs[at]!, ctimeNs: ctimeNs[at]! }
  }
  const memory = {
    ...emptyMemory(),
    documents: createDocumentTable({
      paths,
      device: device.subarray(0, count),
      inode: inode.subarray(0, count),
      mtimeNs: mtimeNs.subarray(0, count),
      ctimeNs: ctimeNs.subarray(0, count),
      size: size.subarray(0, count),
      flags,
    }),
    locals: plain.locals,
    since: new Map(plain.since),
    unfinished: new Set(plain.unfinished),
    searches: new Map(plain.searches),
    sweptAt: plain.sweptAt,
    baselineBytes: plain.baselineBytes,
    hasLostRecords: plain.hasLostRecords,
    moved: new Map(plain.moved),
  }
  for (const packed of plain.children) {
    memory.children.set(
      packed[0],
      unpackChild(packed, identity(), at => plain.targets[at]![0]),
    )
  }
  for (const packed of plain.targets) memory.targets.set(packed[0], unpackTarget(packed, identity()))
  for (let at = 0; at + 2 < plain.edges.length; at += 3) {
    const stamp = plain.edges[at + 1] as Hex12
    const edge: EdgeMemory = { stamp, settled: (plain.edges[at + 2] as Hex12 | '') || stamp }
    memory.edges.set(plain.edges[at]!, edge)
  }
  return memory
}
