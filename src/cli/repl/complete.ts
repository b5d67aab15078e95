/** What could stand at the end of a line being typed. Reads previews and the platform's own prototypes; runs nothing of the session. Pure. */

export interface KnownName {
  readonly name: string
  /** `Array(3)`, `Map(1)`, `Point` */
  readonly type: string
  readonly preview: string
}

const words = ['async ', 'await ', 'class ', 'const ', 'function ', 'import ', 'let ', 'return ', 'throw ']
const own: Readonly<Record<string, readonly string[]>> = {
  capabilities: ['tree()', 'find(', 'inspect('],
  outrigger: ['capabilities', 'code', 'repl'],
  code: ['run('],
  repl: ['state()', 'history(', 'page('],
}

/** @returns what fits, sorted, and the text that it replaces. */
export function complete(line: string, names: readonly KnownName[], commands: readonly string[]): [string[], string] {
  if (/^\s*\.[a-z]*$/.test(line)) {
    const word = line.trim()
    return [commands.filter(each => each.startsWith(word)), word]
  }
  const path = /[\p{ID_Continue}$]+(?:\.[\p{ID_Continue}$]*)?$/u.exec(line)?.[0] ?? ''
  const before = line.slice(0, line.length - path.length)
  if (before.endsWith('.') || /["'`]$/.test(before)) return [[], path]
  const dot = path.indexOf('.')
  const candidates =
    dot < 0 ? [...names.map(each => each.name), ...globals(), ...Object.keys(own), ...words] : members(path.slice(0, dot), names)
  const full = dot < 0 ? candidates : candidates.map(each => `${path.slice(0, dot)}.${each}`)
  return [[...new Set(full.filter(each => each.startsWith(path)))].sort(), path]
}

const isPlain = (name: string): boolean => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)

function globals(): readonly string[] {
  return Object.getOwnPropertyNames(globalThis).filter(name => isPlain(name) && !name.startsWith('__'))
}

function members(of: string, names: readonly KnownName[]): readonly string[] {
  const known = names.find(each => each.name === of)
  if (known !== undefined) return [...keysOf(known.preview), ...prototypeNames(known.type)]
  if (Object.hasOwn(own, of)) return own[of]!
  return namesOf(Object.getOwnPropertyDescriptor(globalThis, of)?.value)
}

/** Names of a value of this process; nothing is read from it. */
function namesOf(value: unknown): readonly string[] {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return []
  return Object.getOwnPropertyNames(value).filter(isPlain)
}

const builtin: Readonly<Record<string, object>> = {
  string: String.prototype,
  number: Number.prototype,
  bigint: BigInt.prototype,
  Array: Array.prototype,
  Map: Map.prototype,
  Set: Set.prototype,
  Date: Date.prototype,
  RegExp: RegExp.prototype,
  Promise: Promise.prototype,
  Error: Error.prototype,
  URL: URL.prototype,
  Uint8Array: Object.getPrototypeOf(Uint8Array.prototype),
  Buffer: Buffer.prototype,
  function: Function.prototype,
}

function prototypeNames(type: string): readonly string[] {
  const name = /^[\p{ID_Continue}$]+/u.exec(type)?.[0] ?? ''
  return Object.hasOwn(builtin, name) ? namesOf(builtin[name]).filter(each => each !== 'constructor') : []
}

/** Keys of the outermost braces of a preview: `Point { a: 1, b: { c: 2 } }` has `a` and `b`. */
export function keysOf(preview: string): readonly string[] {
  const keys: string[] = []
  const open: string[] = []
  for (let i = 0; i < preview.length; i++) {
    const char = preview[i]!
    if (char === '"') i = endOfText(preview, i)
    else if (char === '{' || char === '[' || char === '(') open.push(char)
    else if (char === '}' || char === ']' || char === ')') open.pop()
    if ((char !== '{' && char !== ',') || open.length !== 1 || open[0] !== '{') continue
    const key = /^\s*([\p{ID_Start}$_][\p{ID_Continue}$]*):\s/u.exec(preview.slice(i + 1, i + 200))?.[1]
    if (key !== undefined) keys.push(key)
  }
  return keys
}

function endOfText(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return text.length
}
