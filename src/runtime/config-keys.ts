/**
 * What a key of the configuration may hold, and whose value counts. Each engine brings its rows; the
 * reader, the precedence, the template of `init` and doctor read the same rows.
 */
import type { Json } from '../ports/json.ts'
import type { SectionName } from './project.ts'

/**
 * Whose value counts when both files have one.
 * `project-first`, `person-first`: the other one's counts when that one has none · `union`: lists are joined, the person's first ·
 * `lower-only`: the project may only lower a number or turn a switch off · `person-only`: ignored in a project's
 * file · `person-file`: a fault in a project's file.
 */
export type Precedence = 'project-first' | 'person-first' | 'union' | 'lower-only' | 'person-only' | 'person-file'

/** Answers what is allowed instead, in a few words, or `undefined` when the value is fine. */
export type Check = (value: Json) => string | undefined

export interface ConfigKey {
  /** Below the section, dotted: `watch.max`. */
  readonly path: string
  readonly precedence: Precedence
  /** What counts when nobody says anything. */
  readonly default: Json
  /** What people are shown as the default, when it is another one than the stored value. */
  readonly shown?: Json
  /** With `lower-only`: 0 stands for no limit, so that a project may not set it. */
  readonly zeroIsNoLimit?: boolean
  /** What is allowed, for people: `50–120000`. */
  readonly allowed: string
  readonly check: Check
  /** What the key does, one line; the template of `init` prints it. */
  readonly about: string
}

type Rest = Pick<ConfigKey, 'precedence' | 'default' | 'about'> & { readonly shown?: Json }

export function choice(path: string, words: readonly string[], rest: Rest): ConfigKey {
  const allowed = words.join(' or ')
  return { path, ...rest, allowed, check: value => (words.some(word => word === value) ? undefined : allowed) }
}

export function toggle(path: string, rest: Rest): ConfigKey {
  const allowed = 'true or false'
  return { path, ...rest, allowed, check: value => (typeof value === 'boolean' ? undefined : allowed) }
}

export function integer(path: string, min: number, max: number, rest: Rest): ConfigKey {
  const allowed = `an integer from ${min} to ${max}`
  const isFine = (value: Json) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
  return { path, ...rest, allowed, check: value => (isFine(value) ? undefined : allowed) }
}

/** @param isItem - each item's own rule, `itemAllowed` in words. */
export function texts(path: string, max: number, itemAllowed: string, isItem: (item: string) => boolean, rest: Rest): ConfigKey {
  const allowed = `a list of at most ${max} ${itemAllowed}`
  const isFine = (value: Json) =>
    Array.isArray(value) && value.length <= max && value.every(item => typeof item === 'string' && isItem(item))
  return { path, ...rest, allowed, check: value => (isFine(value) ? undefined : allowed) }
}

export function risingIntegers(path: string, max: number, least: number, most: number, rest: Rest): ConfigKey {
  const allowed = `a list of at most ${max} rising integers from ${least} to ${most}`
  const isFine = (value: Json) =>
    Array.isArray(value) &&
    value.length <= max &&
    value.every(
      (item, at) => Number.isSafeInteger(item) && item >= least && item <= most && (at === 0 || item > (value[at - 1] as number)),
    )
  return { path, ...rest, allowed, check: value => (isFine(value) ? undefined : allowed) }
}

/**
 * Precedence of the sections whose keys are not declared yet: the first row that matches counts. `*` is any key of the
 * section. An engine that declares its keys brings the precedence with each of them.
 */
export const openPrecedence: readonly (readonly [section: SectionName, keys: readonly string[], precedence: Precedence])[] = [
  ['models', ['*'], 'person-file'],
  ['pack', ['trust'], 'person-file'],
  ['pack', ['testCommands', 'redact'], 'union'],
  ['companion', ['exclude'], 'union'],
  ['next', ['*'], 'lower-only'],
]

/** An open key is its section's top-level key, whatever it holds. */
export function openKey(section: SectionName, name: string): ConfigKey {
  const row = openPrecedence.find(([of, keys]) => of === section && (keys.includes('*') || keys.includes(name)))
  return {
    path: name,
    precedence: row?.[2] ?? 'person-first',
    default: null,
    allowed: 'any value',
    check: () => undefined,
    about: '',
  }
}
