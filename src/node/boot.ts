/**
 * Who a process is, beyond its number: the boot it lives in and when it started. A process id alone is
 * given again, sometimes within minutes, and says nothing after a restart of the machine.
 *
 * Linux tells both in `/proc`; a container has process numbers of its own, so the number space belongs
 * to the boot id. macOS and the BSDs tell through `sysctl` and `ps`. Elsewhere the start is unknown (`0`), and
 * a number that was given again looks alive until the lease's time is over.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

const hasProc = process.platform === 'linux'
const hasPs = process.platform === 'darwin' || process.platform === 'freebsd' || process.platform === 'openbsd'

let ownBoot: string | undefined
let ownStart: string | undefined

/** Same for all processes whose numbers can be compared; no `:` in it. */
export function bootId(): string {
  ownBoot ??= findBootId()
  return ownBoot
}

/** `<pid>:<boot id>:<process start>` of this process. */
export function ownerId(): string {
  ownStart ??= startOf(process.pid) ?? '0'
  return `${process.pid}:${bootId()}:${ownStart}`
}

/** Is the process of that owner alive on this boot? Owners of another boot are not. */
export function isOwnerAlive(owner: string): boolean {
  const match = /^(\d+):([^:]+):([^:]+)$/.exec(owner)
  if (match === null || match[2] !== bootId()) return false
  const start = startOf(Number(match[1]))
  return start !== undefined && (start === match[3] || match[3] === '0' || start === '0')
}

/** The owner's boot is this one, so that `isOwnerAlive` can tell. */
export function isOfThisBoot(owner: string): boolean {
  return owner.split(':')[1] === bootId()
}

function findBootId(): string {
  if (hasProc) {
    const boot = readOr('/proc/sys/kernel/random/boot_id', '').trim()
    const numbers = /\d+/.exec(linkOr('/proc/self/ns/pid', ''))?.[0] ?? '0'
    if (boot !== '') return `${boot}.${numbers}`
  }
  if (hasPs) {
    const boot = /sec = (\d+)/.exec(output('sysctl', ['-n', 'kern.boottime']))?.[1] ?? ''
    if (boot !== '') return boot
  }
  return hostname().replaceAll(':', '-') || 'unknown'
}

/** When the process started, in the system's own words; `undefined` when there is no such process. */
function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (hasProc) {
    const stat = readOr(`/proc/${pid}/stat`, '')
    if (stat === '') return undefined
    // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  }
  if (hasPs) {
    const started = output('ps', ['-o', 'lstart=', '-p', String(pid)]).trim()
    return started === '' ? undefined : String(Date.parse(started) || started.replaceAll(/[\s:]+/g, '-'))
  }
  try {
    process.kill(pid, 0)
    return '0'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? '0' : undefined
  }
}

function output(program: string, args: readonly string[]): string {
  const { stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 2_000,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
  })
  return stdout ?? ''
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

function linkOr(path: string, otherwise: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return otherwise
  }
}
