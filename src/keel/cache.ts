/**
 * The memory of a project as bytes and back. What is many (documents) lies in columns, what is few
 * (children, targets) in one JSON text of lists: names are never keys of an object. Losing it loses
 * nothing; damage reads as nothing.
 *
 * Body: three numbers of 4 bytes (length of the JSON text, length of the paths, count of documents) and
 * 4 of padding; the columns of 8 bytes, the flags; the JSON text; the paths, NUL between. That the
 * bytes are those that were saved is the cache file's business.
 */
import { createHash } from 'node:crypto'
import type { FileIdentity, FileKind } from '../ports/files.ts'
import { createDocumentTable, type DocumentColumns } from './documents.ts'
import { type ChildRecord, type EdgeMemory, emptyMemory, type Memory, type Search, type TargetRecord } from './memory.ts'
import type { AnchorView, Hex12, KeelConfig, ParsedChild, SuspectKey } from './types.ts'
import type { LocalZones } from './zones.ts'

/** Raised whenever the body reads otherwise. */
const format = 1

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
  const json = Buffer.from(JSON.stringify(plainOf(memory)))
  const paths = Buffer.from(documents.paths.join('\0'))
  const body = Buffer.alloc(headBytes + count * (8 * columnsOf8 + 1) + json.length + paths.length)
  body.writeUInt32LE(json.length, 0)
  body.writeUInt32LE(paths.length, 4)
  body.writeUInt32LE(count, 8)
  let at = headBytes
  for (const column of [
    documents.device,
    documents.inode,
    documents.mtimeNs,
    documents.ctimeNs,
    documents.size,
    documents.flags,
  ]) {
    body.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at)
    at += column.byteLength
  }
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
  const [jsonLength, pathsLength, count] = [body.readUInt32LE(0), body.readUInt32LE(4), body.readUInt32LE(8)]
  const columnBytes = count * 8
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
  if (paths.length !== count) return undefined
  return memoryOf(plain, { ...columns, paths })
}

type PlainIdentity = readonly [string, string, FileKind, number, string, string]

interface Plain {
  readonly locals: readonly LocalZones[]
  readonly children: readonly (readonly [string, PlainIdentity, boolean, Hex12, ParsedChild, ChildRecord['edges']])[]
  readonly targets: readonly (readonly [
    string,
    PlainIdentity | null,
    PlainIdentity,
    boolean,
    Hex12 | null,
    string | null,
    readonly (readonly [string | null, AnchorView])[],
    readonly (readonly [string, string | null])[],
    string | null,
  ])[]
  readonly edges: readonly (readonly [string, EdgeMemory])[]
  readonly since: readonly (readonly [SuspectKey, number])[]
  readonly unfinished: readonly string[]
  readonly searches: readonly (readonly [string, Search])[]
  readonly sweptAt: number | null
  readonly baselineBytes: number | null
}

function plainOf(memory: Memory): Plain {
  return {
    locals: memory.locals,
    children: [...memory.children.values()].map(child => [
      child.path,
      plainIdentity(child.identity),
      child.isSettled,
      child.id,
      child.parsed,
      child.edges,
    ]),
    targets: [...memory.targets.values()].map(target => [
      target.path,
      target.link && plainIdentity(target.link),
      plainIdentity(target.file),
      target.isSettled,
      target.raw,
      target.why,
      [...target.views],
      [...target.windows],
      target.indexId,
    ]),
    edges: [...memory.edges],
    since: [...memory.since],
    unfinished: [...memory.unfinished],
    searches: [...memory.searches],
    sweptAt: memory.sweptAt,
    baselineBytes: memory.baselineBytes,
  }
}

function memoryOf(plain: Plain, columns: DocumentColumns): Memory {
  const children = plain.children.map(([path, identity, isSettled, id, parsed, edges]): [string, ChildRecord] => [
    path,
    { path, identity: identityFrom(identity), isSettled, id, parsed, edges },
  ])
  const targets = plain.targets.map(
    ([path, link, file, isSettled, raw, why, views, windows, indexId]): [string, TargetRecord] => [
      path,
      {
        path,
        link: link && identityFrom(link),
        file: identityFrom(file),
        isSettled,
        raw,
        why,
        views: new Map(views),
        windows: new Map(windows),
        indexId,
      },
    ],
  )
  return {
    ...emptyMemory(),
    documents: createDocumentTable(columns),
    locals: plain.locals,
    children: new Map(children),
    targets: new Map(targets),
    edges: new Map(plain.edges),
    since: new Map(plain.since),
    unfinished: new Set(plain.unfinished),
    searches: new Map(plain.searches),
    sweptAt: plain.sweptAt,
    baselineBytes: plain.baselineBytes,
  }
}

function plainIdentity({ device, inode, kind, size, mtimeNs, ctimeNs }: FileIdentity): PlainIdentity {
  return [String(device), String(inode), kind, size, String(mtimeNs), String(ctimeNs)]
}

function identityFrom([device, inode, kind, size, mtimeNs, ctimeNs]: PlainIdentity): FileIdentity {
  return { device: BigInt(device), inode: BigInt(inode), kind, size, mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) }
}
