/**
 * Whether a file is still the one that was read. The size and the time of change alone do not say: a
 * file can be edited within one tick of the file system's clock, or with its time put back.
 */
import type { FileIdentity, FileStat } from '../ports/files.ts'

const grainNs = 20_000_000n
const coarseGrainNs = 2_000_000_000n
const second = 1_000_000_000n

export function isSameFile(before: FileIdentity, now: FileIdentity): boolean {
  return (
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs &&
    before.size === now.size &&
    before.inode === now.inode &&
    before.device === now.device &&
    before.kind === now.kind
  )
}

/**
 * Whether an equal identity later on proves that the bytes are those that were read: both times must be
 * older than the moment the read began by more than the grain of the file system's clock (2 s where it
 * keeps whole seconds). Otherwise the file is read again.
 *
 * @param readAtMs - the machine's own time right before the file was looked at (`machineNow`).
 */
export function isSettled(stat: FileIdentity, readAtMs: number): boolean {
  const grain = stat.mtimeNs % second === 0n && stat.ctimeNs % second === 0n ? coarseGrainNs : grainNs
  // biome-ignore lint/complexity/useMathMinMax: Math.max knows no bigint
  const latest = stat.mtimeNs > stat.ctimeNs ? stat.mtimeNs : stat.ctimeNs
  return BigInt(Math.floor(readAtMs)) * 1_000_000n - latest >= grain
}

/** The machine's time, which file systems stamp with. Not the clock port: a clock that stands still must not make a record look old. */
export function machineNow(): number {
  return Date.now()
}

export function identityOf(stat: FileStat): FileIdentity {
  const { device, inode, kind, size, mtimeNs, ctimeNs } = stat
  return { device, inode, kind, size, mtimeNs, ctimeNs }
}
