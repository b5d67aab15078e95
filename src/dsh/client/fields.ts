/** Keys that a person changes on the settings page: what they do, what they may be, and how they are stored. */
import type { Json } from '../../ports/json.ts'
import { keelKeys } from '../../runtime/config-keel.ts'
import type { ConfigKey } from '../../runtime/config-keys.ts'

export interface Field {
  /** Dotted, one or two words. */
  readonly path: string
  readonly label: string
  /** What the key does and what counts when nobody sets it. */
  readonly about: string
  /** What is typed where there are no choices. */
  readonly kind: 'number' | 'words'
  /** What it may be; empty for what is typed. */
  readonly choices: readonly { readonly text: string; readonly value: Json }[]
  /** What is allowed, in words. */
  readonly allowed: string
  /** Whether the host would take this value. */
  isFine(value: Json): boolean
}

const labels: Readonly<Record<string, string>> = {
  tell: 'Tell the agent',
  hold: 'Hold the end of a turn',
  stampNew: 'Stamp new sources',
  'ack.reason': 'Reason of an @ok',
  'ack.updated': 'An edit counts as a review',
  'check.strict': 'Strict check',
  statusFile: 'Status file',
}

export const fields: readonly Field[] = fieldsOf(keelKeys, labels)

/**
 * @param labels - by path, in the order of the card; a path that is no key is left out.
 * @param notes - a further sentence of some.
 */
export function fieldsOf(
  keys: readonly ConfigKey[],
  labels: Readonly<Record<string, string>>,
  notes: Readonly<Record<string, string>> = {},
): readonly Field[] {
  return Object.entries(labels).flatMap(([path, label]) => {
    const key = keys.find(each => each.path === path)
    if (key === undefined) return []
    const choices = choicesOf(key)
    const standard = typeof key.default === 'number' ? key.default.toLocaleString('en-US') : String(key.default)
    const note = notes[path] === undefined ? '' : ` ${notes[path]}`
    const isFine = (value: Json): boolean => key.check(value) === undefined
    const kind = typeof key.default === 'number' ? 'number' : 'words'
    const about = `${key.about} Default: ${standard === '' ? 'none' : standard}.${note}`
    return [{ path, label, about, kind, choices, allowed: key.allowed, isFine }]
  })
}

function choicesOf(key: ConfigKey): Field['choices'] {
  if (typeof key.default === 'number' || key.default === '') return []
  if (typeof key.default === 'boolean')
    return [
      { text: 'true', value: true },
      { text: 'false', value: false },
    ]
  return key.allowed.split(' or ').map(word => ({ text: word, value: word }))
}

/** The value at a dotted path; `undefined` when there is none. */
export function valueAt(section: unknown, path: string): unknown {
  let value = section
  for (const word of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<string, unknown>>)[word]
  }
  return value
}

/**
 * Changes as the host takes them, by top-level field: the person's other keys of a group stay.
 *
 * @param user - the person's section as it is stored.
 * @param drafts - by path; `undefined` takes the key back.
 * @returns by field the whole new value, `undefined` for none.
 */
export function writesOf(user: unknown, drafts: ReadonlyMap<string, Json | undefined>): ReadonlyMap<string, unknown> {
  const writes = new Map<string, unknown>()
  for (const [path, value] of drafts) {
    const [field = '', inner] = path.split('.')
    if (inner === undefined) {
      writes.set(field, value)
      continue
    }
    const before = writes.has(field) ? writes.get(field) : valueAt(user, field)
    const group: Record<string, unknown> = { ...(typeof before === 'object' && before !== null ? before : {}) }
    if (value === undefined) delete group[inner]
    else group[inner] = value
    writes.set(field, Object.keys(group).length > 0 ? group : undefined)
  }
  return writes
}
