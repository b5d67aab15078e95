/** Arguments of a call as JSON, looked at without running code of theirs. */
import type { Captured } from './captured.ts'

declare const captured: Captured

export type PlainJson = null | boolean | number | string | PlainJson[] | { [name: string]: PlainJson }

/** `path` is written as a program would: `arguments.list[3].name`. */
export class NotJson extends Error {
  readonly path: string
  constructor(path: string, what: string) {
    super(`${path} ${what}`)
    this.path = path
  }
}

const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
const maxDepth = 1_000
const maxNodes = 1_000_000

/** A copy in this realm. Throws `NotJson` at the first part that JSON does not have. */
export function plainJson(
  root: unknown,
  rootPath: string,
  prototypes: { readonly object: object; readonly array: object },
): PlainJson {
  const open = new Set<object>()
  let nodes = 0
  const copy = (value: unknown, path: string, depth: number): PlainJson => {
    if (++nodes > maxNodes) throw new NotJson(rootPath, 'is too large')
    switch (typeof value) {
      case 'boolean':
      case 'string':
        return value
      case 'number':
        if (!Number.isFinite(value)) throw new NotJson(path, `is ${value}, which JSON does not have`)
        return value
      case 'object':
        if (value === null) return null
        break
      default:
        throw new NotJson(path, `is ${value === undefined ? 'undefined' : `a ${typeof value}`}, which JSON does not have`)
    }
    const object = value as object
    if (captured.modules.util.types.isProxy(object)) throw new NotJson(path, 'is a proxy')
    if (depth > maxDepth) throw new NotJson(path, 'is nested too deeply')
    if (open.has(object)) throw new NotJson(path, 'contains itself')
    open.add(object)
    const copied = Array.isArray(object) ? list(object, path, depth) : record(object, path, depth)
    open.delete(object)
    return copied
  }
  const list = (array: readonly unknown[], path: string, depth: number): PlainJson[] => {
    const length = getOwnPropertyDescriptor(array, 'length')!.value as number
    if (length > maxNodes) throw new NotJson(path, 'is too large')
    const items: PlainJson[] = []
    for (let i = 0; i < length; i++) items.push(copy(data(array, i, `${path}[${i}]`), `${path}[${i}]`, depth + 1))
    return items
  }
  const record = (object: object, path: string, depth: number): { [name: string]: PlainJson } => {
    const prototype = getPrototypeOf(object)
    if (prototype !== null && prototype !== prototypes.object) throw new NotJson(path, 'is no plain object')
    const copied = Object.create(null) as { [name: string]: PlainJson }
    for (const key of ownKeys(object)) {
      const at = pathOf(path, key)
      if (typeof key === 'symbol') throw new NotJson(path, 'has a symbol as a key')
      copied[key] = copy(data(object, key, at), at, depth + 1)
    }
    return copied
  }
  return copy(root, rootPath, 0)
}

function data(object: object, key: string | number, path: string): unknown {
  const own = getOwnPropertyDescriptor(object, key)
  if (own === undefined) throw new NotJson(path, 'is missing (a hole in an array)')
  if (!('value' in own)) throw new NotJson(path, 'is a getter')
  return own.value
}

function pathOf(path: string, key: string | symbol): string {
  if (typeof key === 'symbol') return path
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}
