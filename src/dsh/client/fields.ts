/** The keys of keel that a person changes on the settings page: what they do, what they may be, and how they are stored. */
import type { Json } from '../../ports/json.ts'
import { keelKeys } from '../../runtime/config-keel.ts'

export interface Field {
  /** Dotted, one or two words. */
  readonly path: string
  readonly label: string
  /** What the key does and what counts when nobody sets it. */
  readonly about: string
  /** What it may be. */
  readonly choices: readonly { readonly text: string; readonly value: Json }[]
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

export const fields: readonly Field[] = Object.entries(labels).flatMap(([path, label]) => {
  const key = keelKeys.find(each => each.path === path)
  if (key === undefined) return []
  const isToggle = typeof key.default === 'boolean'
  const choices = isToggle
    ? [
        { text: 'true', value: true },
        { text: 'false', value: false },
      ]
    : key.allowed.split(' or ').map(word => ({ text: word, value: word }))
  const standard = choices.find(choice => choice.value === key.default)?.text
  return [{ path, label, about: `${key.about} Default: ${standard}.`, choices }]
})

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
