/**
 * The resolved configuration of a project: two files and what is nearer than both, one value a key.
 *
 * A fault in a section stops that engine only; a fault of the file itself stops all. A running process
 * reads a file again when its stamp moves, and keeps the last good version of a section that turned bad.
 */
import type { CompanionConfig } from '../companion/types.ts'
import { type Fault, OutriggerError } from '../errors.ts'
import type { KeelConfig } from '../keel/types.ts'
import type { FileIdentity, Files } from '../ports/files.ts'
import type { Json } from '../ports/json.ts'
import type { EngineName } from '../session/actions.ts'
import { companionConfig, companionKeys } from './config-companion.ts'
import { keelConfig, keelKeys } from './config-keel.ts'
import type { ConfigKey } from './config-keys.ts'
import { type ModelsConfig, modelsConfig, modelsKeys } from './config-models.ts'
import { nextKeys } from './config-next.ts'
import { packConfig, packKeys } from './config-pack.ts'
import {
  type ConfigFile,
  type ConfigOwner,
  type ConfigSchema,
  readConfigFile,
  type Setting,
  sectionNames,
} from './config-read.ts'
import { replKeys } from './config-repl.ts'
import type { Configuration, ConfigValue, Places, SectionName, ValueFrom } from './project.ts'

/** Keys of the engines that are built. */
export const configSchema: ConfigSchema = {
  keel: keelKeys,
  companion: companionKeys,
  repl: replKeys,
  pack: packKeys,
  next: nextKeys,
  models: modelsKeys,
}

const maxBytes = 1024 * 1024

/** Values that are nearer than both files: settings of the host, options of the command line. */
export interface Override {
  readonly from: 'host' | 'option'
  readonly section: SectionName
  /** By dotted path below the section. May be a getter: `refresh` asks again. */
  readonly values: Readonly<Record<string, Json>>
}

interface Source {
  readonly owner: ConfigOwner
  readonly path: string
  /** How messages name it. */
  readonly name: string
}

interface Loaded {
  readonly stamp: FileIdentity | 'unreadable' | undefined
  readonly file: ConfigFile
}

interface Resolved {
  readonly values: ReadonlyMap<string, ConfigValue>
  readonly notes: readonly string[]
}

interface Section {
  /** The last good version; `undefined` before the first. */
  readonly good: Resolved | undefined
  /** What is wrong with the version of now. */
  readonly fault: OutriggerError | undefined
}

export function createConfiguration(files: Files, places: Places, overrides: readonly Override[] = []): Configuration {
  const sources: readonly Source[] = [
    { owner: 'project', path: places.projectConfig, name: '.outrigger/config.yml' },
    ...(places.personConfig === null
      ? []
      : [
          {
            owner: 'person' as const,
            path: places.personConfig,
            name: places.personConfig.replace(/^[A-Za-z]:\\.*/, path => path.replaceAll('\\', '/')),
          },
        ]),
  ]
  let loaded: readonly Loaded[] = []
  let near = ''
  let fileFault: OutriggerError | undefined
  let sections: ReadonlyMap<SectionName, Section> | undefined
  let companion: { readonly of: Resolved; readonly config: CompanionConfig } | undefined

  function load(): ReadonlyMap<SectionName, Section> {
    loaded = sources.map(source => loadFile(files, source))
    near = JSON.stringify(overrides)
    const before = sections
    const read = new Map(sectionNames.map(name => [name, resolveSection(name, loaded, overrides)] as const))
    // `models` belongs to no engine: what is wrong in it is wrong in the file.
    const ofFile = [...loaded.flatMap(({ file }) => file.faults), ...read.get('models')!.faults]
    fileFault = ofFile.length === 0 ? undefined : badConfig('CONFIG_BAD', ofFile, sources)
    sections = new Map(
      sectionNames.map((name): [SectionName, Section] => {
        const good = before?.get(name)?.good
        const { resolved, faults } = read.get(name)!
        if (name !== 'models' && faults.length > 0) return [name, { good, fault: badConfig(codeOf(name), faults, sources) }]
        return [name, { good: fileFault === undefined ? resolved : good, fault: undefined }]
      }),
    )
    return sections
  }
  const now = () => sections ?? load()

  /** What counts: the version of now, else the last good one. Throws when there is none. */
  function resolvedOf(name: SectionName): Resolved {
    const { good, fault } = now().get(name)!
    if (good !== undefined) return good
    throw everyFault((fileFault ?? fault)!)
  }

  /** A person corrects all at once: the error that stops the work, with what stops others after it. */
  function everyFault(first: OutriggerError): OutriggerError {
    const others = faults().filter(fault => fault !== first && !keepsOld(fault))
    if (others.length === 0) return first
    return badConfig(
      first.code,
      [first, ...others].flatMap(fault => fault.faults ?? []),
      sources,
    )
  }

  function faults(): readonly OutriggerError[] {
    const own = [...now().values()].flatMap(({ fault }) => fault ?? [])
    return fileFault === undefined ? own : [fileFault, ...own]
  }

  function notes(): readonly string[] {
    const ignored = [...now().values()].flatMap(({ good }) => good?.notes ?? [])
    const kept = faults()
      .filter(fault => keepsOld(fault))
      .map(fault => `${fault.message}; the version before it counts`)
    return [...ignored, ...kept]
  }

  /** Every section that the fault concerns still has a good version. */
  function keepsOld(fault: OutriggerError): boolean {
    const concerned = [...now().values()].filter(section => fault === fileFault || section.fault === fault)
    return concerned.every(({ good }) => good !== undefined)
  }

  return {
    keel: (): KeelConfig => {
      const { values } = resolvedOf('keel')
      return keelConfig(path => values.get(path)!.value)
    },
    companion() {
      const resolved = resolvedOf('companion')
      // Asked for at every event of a session.
      if (companion?.of !== resolved) companion = { of: resolved, config: companionConfig(nested(resolved.values)) }
      return companion.config
    },
    pack: () => packConfig(nested(resolvedOf('pack').values)),
    models: (): ModelsConfig => modelsConfig(nested(resolvedOf('models').values)),
    section: name => nested(resolvedOf(name).values),
    check(engine?: EngineName) {
      const all = faults()
      const stops = all.find(
        fault => !keepsOld(fault) && (fault === fileFault || (engine !== undefined && fault.code === codeOf(engine))),
      )
      if (stops !== undefined) throw everyFault(stops)
      return [...all.filter(fault => !keepsOld(fault)).map(fault => fault.message), ...notes()]
    },
    faults,
    notes,
    values: () =>
      sectionNames.flatMap(name => {
        const good = now().get(name)?.good
        if (good === undefined) return []
        return [...good.values.values()].map(value => ({ ...shownValue(value, configSchema[name]), key: `${name}.${value.key}` }))
      }),
    refresh() {
      const before = sections
      if (before === undefined) return false
      const isFileMoved = loaded.some(({ stamp }, at) => !sameStamp(stamp, stampOf(files, sources[at]!.path)))
      const moved = isFileMoved || near !== JSON.stringify(overrides)
      if (!moved) return false
      const after = load()
      return sectionNames.some(name => JSON.stringify(valuesOf(before.get(name))) !== JSON.stringify(valuesOf(after.get(name))))
    },
  }
}

function valuesOf(section: Section | undefined): readonly (readonly [string, Json])[] {
  return [...(section?.good?.values ?? [])].map(([path, { value }]) => [path, value] as const)
}

function loadFile(files: Files, source: Source): Loaded {
  const stamp = stampOf(files, source.path)
  const failed = (message: string): Loaded => ({
    stamp,
    file: { faults: [{ key: '', message, position: { file: source.name, line: 1, column: 1 } }], sections: new Map() },
  })
  if (stamp === undefined) return { stamp, file: { faults: [], sections: new Map() } }
  try {
    const bytes = files.read(source.path, maxBytes)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { stamp, file: readConfigFile(text, source.name, source.owner, configSchema) }
  } catch (error) {
    if (!(error instanceof OutriggerError)) return failed('is not UTF-8')
    if (error.code === 'FILES_MISSING') return { stamp: undefined, file: { faults: [], sections: new Map() } }
    if (error.code === 'FILES_TOO_LARGE') return failed('has more than 1 MiB')
    return failed(error.code === 'FILES_NOT_FILE' ? 'is not a regular file' : 'cannot be read')
  }
}

function stampOf(files: Files, path: string): Loaded['stamp'] {
  try {
    return files.stat(path)
  } catch {
    return 'unreadable'
  }
}

function sameStamp(before: Loaded['stamp'], now: Loaded['stamp']): boolean {
  if (typeof before !== 'object' || typeof now !== 'object') return before === now
  const parts = (stamp: FileIdentity) => [stamp.device, stamp.inode, stamp.size, stamp.mtimeNs, stamp.ctimeNs].join(' ')
  return parts(before) === parts(now)
}

function resolveSection(
  name: SectionName,
  loaded: readonly Loaded[],
  overrides: readonly Override[],
): { readonly resolved: Resolved; readonly faults: readonly Fault[] } {
  const read = loaded.map(({ file }) => file.sections.get(name))
  const settingsOf = (at: number) => new Map((read[at]?.settings ?? []).map(setting => [setting.key.path, setting]))
  const project = settingsOf(0)
  const person = settingsOf(1)
  const declared = configSchema[name] ?? []
  const open = declared.length > 0 ? [] : [...new Map([...project, ...person]).values()].map(({ key }) => key)
  const near = nearValues(name, overrides, declared)
  const notes: string[] = []
  const values = new Map<string, ConfigValue>()
  for (const key of declared.length > 0 ? declared : open) {
    const note = (setting: Setting, why: string) =>
      notes.push(`${setting.position.file}:${setting.position.line}: ${name}.${key.path} is ignored: ${why}`)
    const found = near.values.get(key.path) ?? resolveKey(key, project.get(key.path), person.get(key.path), note)
    if (found !== undefined) values.set(key.path, found)
  }
  return { resolved: { values, notes }, faults: [...read.flatMap(section => section?.faults ?? []), ...near.faults] }
}

function nearValues(section: SectionName, overrides: readonly Override[], keys: readonly ConfigKey[]) {
  const values = new Map<string, ConfigValue>()
  const faults: Fault[] = []
  // An option of the command line is nearer than a setting of the host.
  const inOrder = overrides
    .filter(override => override.section === section)
    .sort((a, b) => Number(a.from === 'option') - Number(b.from === 'option'))
  for (const { from, values: given } of inOrder) {
    for (const [path, value] of Object.entries(given)) {
      const key = keys.find(known => known.path === path)
      const allowed = key === undefined ? undefined : key.check(value)
      if (key !== undefined && allowed === undefined) values.set(path, { key: path, value, from })
      else
        faults.push({
          key: `${section}.${path}`,
          message: key === undefined ? `is no key (${from})` : `must be ${allowed}, not ${JSON.stringify(value)} (${from})`,
        })
    }
  }
  return { values, faults }
}

function resolveKey(
  key: ConfigKey,
  project: Setting | undefined,
  person: Setting | undefined,
  note: (setting: Setting, why: string) => void,
): ConfigValue | undefined {
  const value = (setting: Setting): ConfigValue => ({ key: key.path, value: setting.value, from: whereOf(setting) })
  const otherwise: ConfigValue = { key: key.path, value: key.default, from: 'default' }
  switch (key.precedence) {
    case 'project-first':
      return project !== undefined ? value(project) : person !== undefined ? value(person) : otherwise
    case 'person-first':
      return person !== undefined ? value(person) : project !== undefined ? value(project) : otherwise
    case 'union': {
      if (person === undefined) return project === undefined ? otherwise : value(project)
      if (project === undefined) return value(person)
      const items = [...listOf(person.value), ...listOf(project.value)]
      const distinct = new Map(items.map(item => [JSON.stringify(item), item]))
      return { key: key.path, value: [...distinct.values()], from: whereOf(person) }
    }
    case 'lower-only': {
      const base = person === undefined ? otherwise : value(person)
      if (project === undefined) return person === undefined && key.default === null ? undefined : base
      if (lowers(project.value, base.value, key.zeroIsNoLimit === true)) return value(project)
      if (project.value !== base.value) note(project, 'a project may only lower it or turn it off')
      return person === undefined && key.default === null ? undefined : base
    }
    case 'person-only':
    case 'person-file':
      if (project !== undefined && JSON.stringify(project.value) !== JSON.stringify(person?.value ?? key.default))
        note(project, "only the person's own configuration may set it")
      return person === undefined ? (key.default === null ? undefined : otherwise) : value(person)
  }
}

/** A default that is worked out where it is used stands for something that people can read. */
function shownValue(value: ConfigValue, keys: readonly ConfigKey[] = []): ConfigValue {
  const shown = value.from === 'default' ? keys.find(({ path }) => path === value.key)?.shown : undefined
  return shown === undefined ? value : { ...value, value: shown }
}

function whereOf(setting: Setting): ValueFrom {
  return { file: setting.position.file, line: setting.position.line }
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value]
}

/** Is it less than what holds without it? What cannot be compared is not. */
function lowers(value: Json, base: Json, zeroIsNoLimit: boolean): boolean {
  if (value === false) return true
  if (zeroIsNoLimit && (value === 0 || base === 0)) return base === 0
  return typeof value === 'number' && typeof base === 'number' && value < base
}

function nested(values: ReadonlyMap<string, ConfigValue>): Readonly<Record<string, Json>> {
  const result: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const [path, { value }] of values) {
    const names = path.split('.')
    let group = result
    for (const name of names.slice(0, -1))
      group = (group[name] ??= Object.create(null) as Record<string, Json>) as Record<string, Json>
    group[names.at(-1)!] = value
  }
  return result
}

function codeOf(section: SectionName): string {
  return `${section.toUpperCase()}_BAD_CONFIG`
}

function badConfig(code: string, faults: readonly Fault[], sources: readonly Source[]): OutriggerError {
  const rows = faults.map(({ key, message, position }) => {
    const where = position === undefined ? '' : `${position.file}:${position.line}: `
    return `${where}${key === '' ? 'the file' : key} ${message}`
  })
  const position = faults.find(fault => fault.position !== undefined)?.position
  return new OutriggerError(
    code,
    `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}: ${rows.join('; ')}`,
    {
      subject: position?.file ?? sources[0]!.name,
      hint: 'correct what the message names; `outrigger doctor` shows every value that counts',
      ...(position !== undefined && { position }),
      faults,
    },
  )
}
