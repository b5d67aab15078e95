/** All stamps moved between the documents and the stamps file: the one time that happens. */
import { busy, leaseKey, leaseTimes } from './boundary.ts'
import { parseChild } from './child.ts'
import type { Core, Located } from './core.ts'
import { byBytes } from './impact.ts'
import { sourceName } from './naming.ts'
import { stampsPath } from './places.ts'
import { type Rewritten, rewriteStamps } from './rewrite.ts'
import { parseStampFile, stampsById } from './stamp-file.ts'
import { readStampsFile, writeStampFile } from './stamps-beside.ts'
import type { BoundaryResult, Entry, Hex12, Stamped } from './types.ts'
import { writeChild } from './write-child.ts'

export interface MoveOptions {
  readonly onBusy: 'refuse' | 'leave'
  readonly dryRun?: boolean
}

/** In `stamped`, `kind` is `stamp` and both stamps are the same: a move reviews nothing. */
export async function moveStamps(core: Core, to: 'inline' | 'file', options: MoveOptions): Promise<BoundaryResult> {
  const work = to === 'file' ? () => toFile(core, options.dryRun === true) : () => toDocuments(core, options.dryRun === true)
  await core.refresh({ kind: 'known' })
  if (options.dryRun) return work()
  const done = await core.deps.withLease(leaseKey, leaseTimes, async () => {
    await core.refresh({ kind: 'known' })
    const result = await work()
    core.touch()
    await core.refresh({ kind: 'files', paths: result.written })
    await core.save()
    return result
  })
  if (done.held) return done.value
  if (options.onBusy === 'refuse') throw busy(done.holder)
  return { stamped: [], written: [], skipped: [], busy: true }
}

/** First the file, then the documents: a stamp that stands in both counts once, one that stands in neither is lost. */
async function toFile(core: Core, isDry: boolean): Promise<BoundaryResult> {
  const inline = allLocated(core).filter(({ entry, child }) => entry.stamp.kind === 'hex' && !child.parsed.conflicted)
  const stamped = inline.map(one => stampedOf(one, hexOf(one.entry)!))
  if (isDry || inline.length === 0) return { stamped, written: [], skipped: [], busy: false }
  const why = await writeStampFile(
    core,
    inline.map(({ edge, entry }) => ({ edge, entry, stamp: hexOf(entry)! })),
  )
  if (why !== null) return { stamped: [], written: [], skipped: [{ child: stampsPath, why }], busy: false }
  return writeAll(core, inline, stamped, (bytes, entries) => removeStamps(bytes, entries))
}

async function toDocuments(core: Core, isDry: boolean): Promise<BoundaryResult> {
  const bytes = readStampsFile(core.deps.files, core.deps.root)
  if (typeof bytes === 'string') {
    return { stamped: [], written: [], skipped: [{ child: stampsPath, why: `it cannot be read (${bytes})` }], busy: false }
  }
  const beside = bytes === null ? new Map<string, readonly Hex12[]>() : stampsById(parseStampFile(bytes))
  const moving = allLocated(core).filter(({ edge, entry, child }) => {
    return entry.stamp.kind === 'none' && beside.get(edge.id)?.length === 1 && !child.parsed.conflicted
  })
  const stampOf = (one: Located): Hex12 => beside.get(one.edge.id)![0]!
  const stamped = moving.map(one => stampedOf(one, stampOf(one)))
  if (isDry || moving.length === 0) return { stamped, written: [], skipped: [], busy: false }
  const byEntry = new Map(moving.map(one => [one.entry, stampOf(one)]))
  const result = await writeAll(core, moving, stamped, (now, entries) =>
    rewriteStamps(now, new Map(entries.map(entry => [entry, byEntry.get(entry)!]))),
  )
  const done = new Set(result.stamped.map(one => one.id))
  const why = await writeStampFile(core, [], done)
  return why === null ? result : { ...result, skipped: [...result.skipped, { child: stampsPath, why }] }
}

async function writeAll(
  core: Core,
  moving: readonly Located[],
  stamped: readonly Stamped[],
  rewrite: (bytes: Uint8Array, entries: readonly Entry[]) => Rewritten,
): Promise<BoundaryResult> {
  const written: string[] = []
  const skipped: { readonly child: string; readonly why: string }[] = []
  for (const [child, group] of Map.groupBy(moving, one => one.child.path)) {
    const result = await writeChild(core, child, group[0]!.child.id, bytes =>
      rewrite(
        bytes,
        group.map(one => one.entry),
      ),
    )
    if (result.kind === 'written') written.push(child)
    if (result.kind === 'skipped') skipped.push({ child, why: result.why })
  }
  const failed = new Set(skipped.map(one => one.child))
  return { stamped: stamped.filter(one => !failed.has(one.child)), written, skipped, busy: false }
}

/** Each stamp with the blanks before it; the rest must read as it did. */
function removeStamps(bytes: Uint8Array, entries: readonly Entry[]): Rewritten {
  const spans = entries
    .flatMap(entry => [entry.stampSpan, ...entry.repeats.map(repeat => repeat.stampSpan ?? null)])
    .filter(span => span !== null)
    .sort((a, b) => a.start - b.start)
  const parts: Uint8Array[] = []
  let at = 0
  for (const span of spans) {
    let start = span.start
    while (start > at && (bytes[start - 1] === 0x20 || bytes[start - 1] === 0x09)) start -= 1
    parts.push(bytes.subarray(at, start))
    at = span.end
  }
  const written = Buffer.concat([...parts, bytes.subarray(at)])
  const [before, after] = [parseChild(bytes), parseChild(written)]
  const moved = new Set(entries.map(entry => entry.span.start))
  const isAsPlanned =
    before.entries.length === after.entries.length &&
    before.problems.length === after.problems.length &&
    before.entries.every((was, index) => {
      const is = after.entries[index]!
      const stamp = moved.has(was.span.start) ? 'none' : was.stamp.kind
      return was.text === is.text && is.stamp.kind === stamp
    })
  return isAsPlanned ? { kind: 'ok', bytes: written, skipped: [] } : { kind: 'refused', why: 'it would read differently' }
}

function allLocated(core: Core): readonly Located[] {
  return core
    .assessment()
    .edges.flatMap(edge => core.locate(edge.id) ?? [])
    .sort((a, b) => byBytes(a.child.path, b.child.path))
}

function hexOf(entry: Entry): Hex12 | null {
  return entry.stamp.kind === 'hex' ? entry.stamp.value : null
}

function stampedOf({ edge }: Located, stamp: Hex12): Stamped {
  return { id: edge.id, child: edge.child, source: sourceName(edge), kind: 'stamp', old: stamp, new: stamp }
}
