/**
 * One configuration file as settings and faults, each with its place. All faults are found, not the first
 * only; what is fine stands beside them.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml'
import type { Fault, Position } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { type ConfigKey, openKey } from './config-keys.ts'
import type { SectionName } from './project.ts'

export type ConfigOwner = 'project' | 'person'

/** Keys of the sections that are built; a section without an entry is open: any mapping will do. */
export type ConfigSchema = Readonly<Partial<Record<SectionName, readonly ConfigKey[]>>>

export const sectionNames: readonly SectionName[] = ['keel', 'companion', 'repl', 'pack', 'next', 'models']

export interface Setting {
  readonly key: ConfigKey
  readonly value: Json
  readonly position: Position
}

export interface ConfigFile {
  /** Faults of the file itself: `CONFIG_BAD`. */
  readonly faults: readonly Fault[]
  readonly sections: ReadonlyMap<SectionName, { readonly settings: readonly Setting[]; readonly faults: readonly Fault[] }>
}

/** Of one value, aliases followed: a file of a few lines can name billions. */
const maxNodes = 10_000

interface Reader {
  /** What each alias names. */
  readonly named: ReadonlyMap<Node, Node>
  at(node: Node | null | undefined, end?: boolean): Position
}

/** @param file - the name people know it by; stands in every position. */
export function readConfigFile(text: string, file: string, owner: ConfigOwner, schema: ConfigSchema): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    lineCounter: lines,
    uniqueKeys: false,

    prettyErrors: false,
  })
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  if (document.errors.length > 0) {
    return failed(
      document.errors.map(error => ({
        key: '',
        message: `is no YAML: ${firstLine(error.message)}`,
        position: place(error.pos[0]),
      })),
    )
  }
  const reader: Reader = { named: aliasesOf(document), at: node => place(node?.range?.[0] ?? 0) }
  const root = document.contents
  if (root === null || isNothing(root)) return { faults: [], sections: new Map() }
  if (!isMap(root)) return failed([{ key: '', message: 'must be a mapping of sections', position: reader.at(root) }])

  const faults: Fault[] = []
  const sections = new Map<SectionName, { settings: readonly Setting[]; faults: readonly Fault[] }>()
  for (const { name, pair, isRepeated } of keysOf(root, reader)) {
    const position = reader.at(pair.key as Node)
    const section = sectionNames.find(known => known === name)
    if (section === undefined) {
      faults.push({ key: name, message: `is no section; there are ${sectionNames.join(', ')}`, position })
    } else if (isRepeated) {
      faults.push({ key: name, message: 'stands here a second time', position })
    } else {
      sections.set(section, readSection(section, pair.value as Node | null, position, owner, schema[section], reader))
    }
  }
  return { faults, sections }
}

function failed(faults: readonly Fault[]): ConfigFile {
  return { faults, sections: new Map() }
}

function readSection(
  section: SectionName,
  given: Node | null,
  position: Position,
  owner: ConfigOwner,
  keys: readonly ConfigKey[] | undefined,
  reader: Reader,
): { readonly settings: readonly Setting[]; readonly faults: readonly Fault[] } {
  const settings: Setting[] = []
  const faults: Fault[] = []
  const add = (key: ConfigKey, node: Node | null, at: Position) => {
    const name = `${section}.${key.path}`
    if (owner === 'project' && key.precedence === 'person-file') {
      faults.push({ key: name, message: "may stand in the person's own configuration only", position: at })
      return
    }
    const isEmpty = node === null || isNothing(node)
    const value = isEmpty && keys === undefined ? null : jsonOf(node, reader)
    const allowed = value === undefined ? key.allowed : key.check(value)
    if (allowed === undefined) settings.push({ key, value: value!, position: at })
    else
      faults.push({
        key: name,
        message: `must be ${allowed}, not ${shown(value)}`,
        position: isEmpty ? at : reader.at(node),
      })
  }

  const walk = (node: Node | null, prefix: string) => {
    const map = resolved(node, reader)
    if (map === null || isNothing(map)) return
    if (!isMap(map)) {
      faults.push({
        key: joined(section, prefix),
        message: `must be a mapping, not ${shown(jsonOf(map, reader))}`,
        position: reader.at(map),
      })
      return
    }
    for (const { name, pair, isRepeated } of keysOf(map, reader)) {
      const path = joined(prefix, name)
      const keyAt = reader.at(pair.key as Node)
      const known =
        keys === undefined ? openKey(section, name) : name.includes('.') ? undefined : keys.find(key => key.path === path)
      const isGroup = keys?.some(key => key.path.startsWith(`${path}.`)) ?? false
      if (isRepeated) faults.push({ key: joined(section, path), message: 'stands here a second time', position: keyAt })
      else if (known !== undefined) add(known, pair.value as Node | null, keyAt)
      else if (isGroup) walk(pair.value as Node | null, path)
      else faults.push({ key: joined(section, path), message: unknownKey(path, keys ?? []), position: keyAt })
    }
  }
  walk(given, '')
  // The whole section is the person's: one fault tells it better than one a key.
  const whole = owner === 'project' && faults.length > 0 && openKey(section, '').precedence === 'person-file'
  if (whole)
    return { settings: [], faults: [{ key: section, message: "may stand in the person's own configuration only", position }] }
  return { settings, faults }
}

/** The pairs of a mapping in their order; keys that are no text keep their source as a name. */
function keysOf(
  map: Node,
  reader: Reader,
): readonly { readonly name: string; readonly pair: Pair; readonly isRepeated: boolean }[] {
  if (!isMap(map)) return []
  const seen = new Set<string>()
  return map.items.map(pair => {
    const key = resolved(pair.key as Node | null, reader)
    const name = isScalar(key) ? String(key.value) : '?'
    const isRepeated = seen.has(name)
    seen.add(name)
    return { name, pair, isRepeated }
  })
}

/** An alias names the last node before it that carries its anchor. Found for all at once: asking the library for each walks the file each time. */
function aliasesOf(document: Document): ReadonlyMap<Node, Node> {
  const anchors = new Map<string, Node>()
  const named = new Map<Node, Node>()
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        const found = anchors.get(node.source)
        if (found !== undefined) named.set(node, found)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return named
}

function resolved(node: Node | null | undefined, reader: Reader): Node | null {
  if (!isAlias(node)) return node ?? null
  return reader.named.get(node) ?? null
}

const isNothing = (node: Node): boolean => isScalar(node) && node.value === null

/** `undefined`: no value that JSON could hold, nothing at all, or one that is too large. */
function jsonOf(given: Node | null, reader: Reader): Json | undefined {
  let nodes = 0
  const convert = (node: Node | null, depth: number): Json | undefined => {
    const found = resolved(node, reader)
    nodes += 1
    if (found === null || depth > 50 || nodes > maxNodes) return undefined
    if (isScalar(found)) {
      const { value } = found
      if (typeof value === 'string' || typeof value === 'boolean') return value
      if (value === null) return depth === 0 ? undefined : null
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    }
    if (isSeq(found)) {
      const items = found.items.map(item => convert(item as Node | null, depth + 1))
      return items.some(item => item === undefined) ? undefined : (items as Json[])
    }
    if (!isMap(found)) return undefined
    const entries = keysOf(found, reader).map(
      ({ name, pair }) => [name, convert(pair.value as Node | null, depth + 1) ?? null] as const,
    )
    return Object.fromEntries(entries)
  }
  return convert(given, 0)
}

function unknownKey(path: string, keys: readonly ConfigKey[]): string {
  if (keys.some(key => key.path === path))
    return `is written as ${path.replaceAll('.', ': {')}: …${'}'.repeat(path.split('.').length - 1)}`
  const group = path.split('.').slice(0, -1).join('.')
  const inGroup = keys.filter(key => group === '' || key.path.startsWith(`${group}.`)).map(key => key.path)
  const depth = path.split('.').length
  const beside = [...new Set(inGroup.map(key => key.split('.').slice(0, depth).join('.')))]
  const near = beside.find(key => key.toLowerCase() === path.toLowerCase())
  return near === undefined ? `is no key; there are ${beside.join(', ')}` : `is no key; is ${near} meant?`
}

function joined(first: string, second: string): string {
  if (first === '') return second
  return second === '' ? first : `${first}.${second}`
}

function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`
}

const firstLine = (text: string): string => text.split('\n')[0]!
