/** What a program can find out about what it may call: a tree, a search, declarations. Every answer is bounded. */
import type { Json } from '../ports/json.ts'
import type { ToolDeclaration } from './types.ts'

export type Namespaces = Readonly<Record<string, readonly ToolDeclaration[]>>

const maxChars = 16_000
const maxFound = 20

const own: Namespaces = {
  capabilities: [
    { name: 'tree', description: 'Namespaces and their members.' },
    { name: 'find', description: 'Members by words of their names and descriptions.' },
    { name: 'inspect', description: 'Declarations of arguments and results: { symbols: ["tools.name"], budget? }.' },
  ],
  code: [{ name: 'run', description: 'Run a program in a fresh worker with the same tools: { code, description? }.' }],
  repl: [
    {
      name: 'state',
      description:
        'States: { action: "list" | "save" | "restore" | "delete" | "reset", name?, cell? }; done when the cell has ended.',
    },
    { name: 'history', description: 'Cells of this session: { limit? }.' },
    { name: 'page', description: 'A part of a long value: (handle, { path?, offset?, limit? }).' },
  ],
}

const oneLine = (text: string | undefined): string => {
  const line = (text ?? '').split('\n', 1)[0]!.trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}

export function tree(offered: Namespaces): Json {
  const whole: Record<string, Record<string, string>> = {}
  let left = maxChars
  let omitted = 0
  for (const [namespace, members] of Object.entries({ ...own, ...offered })) {
    const shown: Record<string, string> = (whole[namespace] = {})
    for (const { name, description } of members) {
      const line = oneLine(description)
      left -= name.length + line.length + 8
      if (left < 0) omitted++
      else shown[name] = line
    }
  }
  return omitted === 0 ? whole : { ...whole, omitted }
}

/** Ranked by how many words of the query stand in the name, then in the description. */
export function find(offered: Namespaces, query: string): Json {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const rows = Object.entries({ ...own, ...offered }).flatMap(([namespace, members]) =>
    members.map(({ name, description }) => {
      const symbol = `${namespace}.${name}`
      const inName = words.filter(word => symbol.toLowerCase().includes(word)).length
      const inText = words.filter(word => (description ?? '').toLowerCase().includes(word)).length
      return { symbol, description: oneLine(description), score: inName * 3 + inText }
    }),
  )
  return rows
    .filter(row => row.score > 0)
    .sort((a, b) => b.score - a.score || (a.symbol < b.symbol ? -1 : 1))
    .slice(0, maxFound)
    .map(({ symbol, description }) => ({ symbol, description }))
}

/** TypeScript of arguments and results. Symbols beyond the budget, and those that are not there, are listed. */
export function inspect(offered: Namespaces, symbols: readonly string[], budget: number): Json {
  const all = { ...own, ...offered }
  const parts: string[] = []
  const omitted: string[] = []
  const unknown: string[] = []
  let left = maxChars
  const wanted = symbols.flatMap(symbol => {
    const members = Object.hasOwn(all, symbol) ? all[symbol] : undefined
    return members === undefined ? [symbol] : members.map(member => `${symbol}.${member.name}`)
  })
  for (const symbol of wanted) {
    const dot = symbol.indexOf('.')
    const namespace = symbol.slice(0, dot)
    const members = Object.hasOwn(all, namespace) ? all[namespace] : undefined
    const found = members?.find(member => member.name === symbol.slice(dot + 1))
    if (found === undefined) {
      unknown.push(symbol)
      continue
    }
    const text = declarationOf(namespace, found)
    if (parts.length >= budget || text.length > left) omitted.push(symbol)
    else {
      parts.push(text)
      left -= text.length
    }
  }
  return {
    declarations: parts.join('\n'),
    ...(omitted.length > 0 && { omitted: omitted.slice(0, 200) }),
    ...(unknown.length > 0 && { unknown: unknown.slice(0, 50) }),
  }
}

function declarationOf(namespace: string, { name, description, parameters, result }: ToolDeclaration): string {
  const about = (description ?? '').trim()
  const comment = about === '' ? '' : `/** ${about.replaceAll('*/', '* /').slice(0, 1_000)} */\n`
  const member = /^[A-Za-z_$][\w$]*$/.test(name) ? `${namespace}.${name}` : `${namespace}[${JSON.stringify(name)}]`
  return `${comment}${member}(args: ${typeOf(parameters, '', 0)}): Promise<${result === undefined ? 'unknown' : typeOf(result, '', 0)}>`
}

function typeOf(schema: Json | undefined, indent: string, depth: number): string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > 8) return 'unknown'
  const of = schema as { readonly [key: string]: Json }
  if (Array.isArray(of['enum'])) return of['enum'].map(each => JSON.stringify(each)).join(' | ') || 'never'
  if (of['const'] !== undefined) return JSON.stringify(of['const'])
  const choices = of['anyOf'] ?? of['oneOf']
  if (Array.isArray(choices)) return choices.map(each => typeOf(each, indent, depth + 1)).join(' | ')
  const type = of['type']
  if (Array.isArray(type)) return type.map(each => typeOf({ ...of, type: each }, indent, depth + 1)).join(' | ')
  switch (type) {
    case 'integer':
      return 'number'
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type
    case 'array':
      return `Array<${typeOf(of['items'], indent, depth + 1)}>`
    default:
      return objectType(of, indent, depth)
  }
}

function objectType(of: { readonly [key: string]: Json }, indent: string, depth: number): string {
  const properties = of['properties']
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return of['type'] === 'object' ? 'Record<string, unknown>' : 'unknown'
  const required = Array.isArray(of['required']) ? of['required'] : []
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, schema]) => {
    const about =
      typeof schema === 'object' && schema !== null && !Array.isArray(schema)
        ? (schema as { description?: Json }).description
        : undefined
    const comment = typeof about === 'string' && about !== '' ? ` // ${oneLine(about)}` : ''
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${inner}${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner, depth + 1)}${comment}`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`
}
