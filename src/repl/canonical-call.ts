/**
 * A direct call of a tool, where only programs call tools, as the program that makes this call. Everything that is not plainly such a call is none: the
 * host refuses it in its own words. Pure.
 */

export interface CanonicalCall {
  /** `return await tools.name({…})` */
  readonly code: string
  readonly description: string
}

const maxDepth = 128
const maxUnits = 1_048_576
const invoke = 'host.invoke'

/**
 * @param name - as the model wrote it: `x`, `tools.x`, or `host.invoke` with `{ name: "x", arguments: {…} }`.
 * @param text - the arguments' JSON text.
 * @param isTool - whether programs can call a tool of that name.
 */
export function canonicalCall(name: string, text: string, isTool: (name: string) => boolean): CanonicalCall | undefined {
  const parsed = parseArguments(text)
  if (parsed === undefined) return undefined
  const called = calledTool(name, parsed, isTool)
  if (called === undefined) return undefined
  const member = /^[A-Za-z_$][\w$]*$/.test(called.tool) ? `tools.${called.tool}` : `tools[${JSON.stringify(called.tool)}]`
  const code = `return await ${member}(${expressionOf(called.arguments)})`
  if (code.length > maxUnits) return undefined
  const given = Object.hasOwn(called.arguments, 'description') ? called.arguments['description'] : undefined
  const description = typeof given === 'string' && given.trim() !== '' ? given.slice(0, 200) : `Call ${member}`
  return { code, description }
}

type Arguments = Readonly<Record<string, unknown>>

function calledTool(
  name: string,
  given: Arguments,
  isTool: (name: string) => boolean,
): { readonly tool: string; readonly arguments: Arguments } | undefined {
  // A tool may itself be named with a dot.
  if (isTool(name)) return { tool: name, arguments: given }
  const member = name.startsWith('tools.') ? name.slice('tools.'.length) : undefined
  if (member !== undefined && isTool(member)) return { tool: member, arguments: given }
  if (name !== invoke) return undefined
  const { name: tool, arguments: args = {}, ...others } = given
  if (typeof tool !== 'string' || !isTool(tool) || !isRecord(args) || Object.keys(others).length > 0) return undefined
  return { tool, arguments: args }
}

/** One superfluous `}` at the end is a slip of models; nothing else is mended. */
function parseArguments(text: string): Arguments | undefined {
  const whole = parseRecord(text)
  if (whole !== undefined) return whole
  const end = text.trimEnd()
  return end.endsWith('}') ? parseRecord(end.slice(0, -1)) : undefined
}

function parseRecord(text: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** An expression whose value is the parsed one, to the last bit. */
function expressionOf(value: Arguments): string {
  if (depthOf(value) <= maxDepth) return literal(value)
  // Deep literals are hard on parsers. Numbers that JSON cannot write were no JSON before either.
  return `JSON.parse(${JSON.stringify(deepJson(value))})`
}

function literal(value: unknown): string {
  if (typeof value === 'number') return numberText(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, each]) => {
    // In a literal this key alone would set the prototype.
    const name = key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)
    return `${name}: ${literal(each)}`
  })
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** The parser's reading of `1e999` is infinite, of `-0` negative; both stay. */
function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  if (!Number.isFinite(value)) return value > 0 ? '1e999' : '-1e999'
  return JSON.stringify(value)
}

/** Objects and lists inside of each other, the value itself included; not counted much beyond the limit. */
function depthOf(value: unknown): number {
  let depth = 0
  for (let level = [value].filter(isContainer); level.length > 0 && depth <= maxDepth; depth++)
    level = level.flatMap(each => Object.values(each)).filter(isContainer)
  return depth
}

/** JSON of any depth, without recursion. */
function deepJson(root: unknown): string {
  const parts: string[] = []
  const todo: (string | { readonly value: unknown })[] = [{ value: root }]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === 'string') {
      parts.push(next)
      continue
    }
    const { value } = next
    if (typeof value === 'number') parts.push(numberText(value))
    else if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value))
    else {
      const isList = Array.isArray(value)
      parts.push(isList ? '[' : '{')
      todo.push(isList ? ']' : '}')
      const entries = Object.entries(value)
      for (let i = entries.length - 1; i >= 0; i--) {
        const [key, each] = entries[i]!
        todo.push({ value: each })
        if (!isList) todo.push(`${JSON.stringify(key)}:`)
        if (i > 0) todo.push(',')
      }
    }
  }
  return parts.join('')
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
const isRecord = (value: unknown): value is Arguments => typeof value === 'object' && value !== null && !Array.isArray(value)
