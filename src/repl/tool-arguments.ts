/** Arguments of a tool against its JSON schema, before it is called: required members and types, as deep as they go. */
import type { Json } from '../ports/json.ts'

type Schema = { readonly [key: string]: Json }

const maxDepth = 64

/** @returns what is wrong, as a program would write the path: `arguments.description is required (string)`; `undefined` when nothing is. */
export function faultOfArguments(schema: Json | undefined, value: Json): string | undefined {
  return isSchema(schema) ? fault(schema, value, 'arguments', schema, 0) : undefined
}

/** Whether the tool may be called with nothing: then it gets `{}`. */
export function acceptsNothing(schema: Json | undefined): boolean {
  return faultOfArguments(schema, {}) === undefined
}

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fault(schema: Schema, value: Json, path: string, root: Schema, depth: number): string | undefined {
  if (depth > maxDepth) return undefined
  const target = schema['$ref']
  if (typeof target === 'string') {
    const found = resolve(root, target)
    return found === undefined ? undefined : fault(found, value, path, root, depth + 1)
  }
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) {
    const faults = choices.filter(isSchema).map(choice => fault(choice, value, path, root, depth + 1))
    if (faults.length > 0 && faults.every(each => each !== undefined))
      return faults.length === 1 ? faults[0] : `${path} must be ${typesOf(schema)}, not ${typeOf(value)}`
  }
  for (const part of Array.isArray(schema['allOf']) ? schema['allOf'] : []) {
    const found = isSchema(part) ? fault(part, value, path, root, depth + 1) : undefined
    if (found !== undefined) return found
  }
  if (!fits(schema['type'], value)) return `${path} must be ${typesOf(schema)}, not ${typeOf(value)}`
  const allowed = schema['enum']
  if (Array.isArray(allowed) && !allowed.some(each => JSON.stringify(each) === JSON.stringify(value))) {
    return `${path} must be one of ${allowed
      .slice(0, 10)
      .map(each => JSON.stringify(each))
      .join(', ')}`
  }
  if (Array.isArray(value)) return list(schema, value, path, root, depth)
  if (typeof value === 'object' && value !== null) return record(schema, value as Schema, path, root, depth)
  return undefined
}

function list(schema: Schema, value: readonly Json[], path: string, root: Schema, depth: number): string | undefined {
  const items = schema['items']
  if (!isSchema(items)) return undefined
  for (const [index, item] of value.entries()) {
    const found = fault(items, item, `${path}[${index}]`, root, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function record(schema: Schema, value: Schema, path: string, root: Schema, depth: number): string | undefined {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  for (const name of Array.isArray(schema['required']) ? schema['required'] : []) {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
    const declared = properties[name]
    return `${member(path, name)} is required${isSchema(declared) ? ` (${typesOf(declared)})` : ''}`
  }
  for (const [name, given] of Object.entries(value)) {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (isSchema(declared)) {
      const found = fault(declared, given, member(path, name), root, depth + 1)
      if (found !== undefined) return found
    } else if (declared === undefined && schema['additionalProperties'] === false) {
      const known = Object.keys(properties)
      return `${member(path, name)} is no argument${known.length > 0 ? `; there are ${known.slice(0, 10).join(', ')}` : ''}`
    }
  }
  return undefined
}

function resolve(root: Schema, target: string): Schema | undefined {
  if (target === '#') return root
  if (!target.startsWith('#/')) return undefined
  let at: Json | undefined = root
  for (const step of target.slice(2).split('/')) {
    if (!isSchema(at)) return undefined
    at = at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return isSchema(at) ? at : undefined
}

function fits(type: Json | undefined, value: Json): boolean {
  if (typeof type === 'string') return isOf(type, value)
  if (Array.isArray(type)) return type.some(each => typeof each !== 'string' || isOf(each, value))
  return true
}

function isOf(type: string, value: Json): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'boolean':
    case 'string':
    case 'number':
      return typeof value === type
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return true
  }
}

function typesOf(schema: Schema): string {
  const type = schema['type']
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.join(' or ')
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return [...new Set(choices.filter(isSchema).map(typesOf))].join(' or ')
  if (Array.isArray(schema['enum'])) return 'one of a list'
  return 'a value'
}

const typeOf = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const member = (path: string, name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
