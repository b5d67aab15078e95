/**
 * Which parts of a project keel looks at. A path is in a zone when one of its segments equals one of
 * the zone's names; each segment is judged by the names in force in the folder that holds it.
 *
 * A folder with a `.stoa-keel.yml` sets the names for itself and below, for keys that the project's
 * configuration leaves open, and is the base folder that references are relative to.
 */
import { parseDocument } from 'yaml'
import type { KeelConfig } from './types.ts'

/** `ignore`: not listed, never a child, never checked as a source. `frozen`: a source, never a child. `vendored`: listed, not checked. */
export type Zone = 'ignore' | 'frozen' | 'vendored'

/** What one `.stoa-keel.yml` says. `null`: it leaves the key alone. */
export interface LocalZones {
  /** Project-relative folder it lies in; `''` for the root. */
  readonly folder: string
  readonly ignore: readonly string[] | null
  readonly frozen: readonly string[] | null
  /** `docs/.stoa-keel.yml:3`: where the file stops being YAML; what it names may be incomplete. */
  readonly fault?: string
}

export interface Zones {
  /** The first zone, from the root down, that a project-relative path is in; in one segment `ignore` wins, then `frozen`. */
  of(path: string): Zone | null
  /** The zone of each name in one folder, for many of them. */
  within(folder: string): (name: string) => Zone | null
  /** Whether a walk enters the folder `name` of `folder`. */
  enters(folder: string, name: string): boolean
  /** The nearest folder at or above `folder` that has local zones; `''` is the root. */
  base(folder: string): string
}

export const localZonesName: string = '.stoa-keel.yml'

const alwaysIgnored = ['.git', '.outrigger', 'node_modules']
const defaultIgnored = ['park', 'archive', 'node_modules', '.git', '.tmp', '.dump', 'build', '.outrigger']
const defaultFrozen = ['in', '.in']

interface Names {
  readonly base: string
  readonly ignore: ReadonlySet<string>
  readonly frozen: ReadonlySet<string>
}

export function createZones(config: Pick<KeelConfig, 'ignore' | 'frozen' | 'vendored'>, locals: readonly LocalZones[]): Zones {
  const localOf = new Map(locals.map(local => [local.folder, local]))
  const vendored = new Set(config.vendored ?? [])
  const root: Names = {
    base: '',
    ignore: new Set([...(config.ignore ?? defaultIgnored), ...alwaysIgnored]),
    frozen: new Set(config.frozen ?? defaultFrozen),
  }
  const memo = new Map<string, Names>()

  function namesIn(folder: string): Names {
    const known = memo.get(folder)
    if (known !== undefined) return known
    const slash = folder.lastIndexOf('/')
    const above = folder === '' ? root : namesIn(slash < 0 ? '' : folder.slice(0, slash))
    const local = localOf.get(folder)
    const names: Names =
      local === undefined
        ? above
        : {
            base: folder,
            ignore: config.ignore === null && local.ignore !== null ? new Set([...local.ignore, ...alwaysIgnored]) : above.ignore,
            frozen: config.frozen === null && local.frozen !== null ? new Set(local.frozen) : above.frozen,
          }
    memo.set(folder, names)
    return names
  }

  const zones = new Map<string, Zone | null>()

  /** The zone of a folder; most paths that are asked for share few folders. */
  function zoneOf(folder: string): Zone | null {
    if (folder === '') return null
    const known = zones.get(folder)
    if (known !== undefined) return known
    const slash = folder.lastIndexOf('/')
    const above = slash < 0 ? '' : folder.slice(0, slash)
    const zone = zoneOf(above) ?? zoneOfName(namesIn(above), folder.slice(slash + 1))
    zones.set(folder, zone)
    return zone
  }

  function zoneOfName(names: Names, name: string): Zone | null {
    if (names.ignore.has(name)) return 'ignore'
    if (names.frozen.has(name)) return 'frozen'
    return vendored.has(name) ? 'vendored' : null
  }

  return {
    of(path) {
      const slash = path.lastIndexOf('/')
      const folder = slash < 0 ? '' : path.slice(0, slash)
      return zoneOf(folder) ?? zoneOfName(namesIn(folder), path.slice(slash + 1))
    },
    within(folder) {
      const whole = zoneOf(folder)
      const names = namesIn(folder)
      return name => whole ?? zoneOfName(names, name)
    },
    enters: (folder, name) => !namesIn(folder).ignore.has(name),
    base: folder => namesIn(folder).base,
  }
}

/** Any YAML list of names counts; whatever else the file holds is left alone; damage is named. */
export function readLocalZones(folder: string, bytes: Uint8Array): LocalZones {
  const read = parseDocument(new TextDecoder().decode(bytes), { logLevel: 'silent' })
  // What can be made out of a damaged file counts, and the damage is named; no YAML at all still makes a base folder.
  const [error] = read.errors
  const fault = error === undefined ? undefined : `${localZonesPath(folder)}:${error.linePos?.[0].line ?? 1}`
  let document: unknown
  try {
    document = read.toJS({ maxAliasCount: 100 })
  } catch {
    document = null // aliases without end, or to nothing
  }
  const names = { ignore: namesOf(document, 'ignore'), frozen: namesOf(document, 'frozen') }
  return { folder, ...names, ...(fault !== undefined && { fault }) }
}

function localZonesPath(folder: string): string {
  return folder === '' ? localZonesName : `${folder}/${localZonesName}`
}

function namesOf(document: unknown, key: string): readonly string[] | null {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, key)) return null
  const value: unknown = (document as Readonly<Record<string, unknown>>)[key]
  return Array.isArray(value) ? value.filter(name => typeof name === 'string' || typeof name === 'number').map(String) : null
}
