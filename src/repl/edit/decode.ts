/** Fields of a call to a request. Whatever has another shape is `OUT-E001`, with the field named. */
import { type EditRequest, editLimits, type Refused, refuse } from './request.ts'

const kinds = ['edits', 'regex_edits', 'inserts', 'prepend', 'append'] as const
const usage = 'Give exactly one of: edits, regex_edits, inserts, or prepend and/or append.'

/** Fields that are no kind of edit (`target`, `dry_run` …) are the caller's. */
export function decodeEditRequest(input: Readonly<Record<string, unknown>>): EditRequest | Refused {
  const given = kinds.filter(kind => input[kind] !== undefined && input[kind] !== null)
  const groups = new Set(given.map(kind => (kind === 'append' ? 'prepend' : kind)))
  if (groups.size !== 1)
    return refuse('OUT-E001', groups.size === 0 ? 'no edit was given' : `more than one kind of edit: ${given.join(', ')}`, [
      usage,
    ])
  if (groups.has('edits')) {
    const edits = decodeList(input, 'edits', { old_string: text, new_string: text })
    if ('kind' in edits) return edits
    const empty = edits.list.findIndex(edit => edit.old_string === '')
    if (empty >= 0)
      return refuse(
        'OUT-E001',
        'old_string is empty',
        ['To add text, use inserts, prepend or append.'],
        `edits[${empty}].old_string`,
      )
    return { kind: 'edits', edits: edits.list }
  }
  if (groups.has('regex_edits')) {
    const edits = decodeList(input, 'regex_edits', { pattern: text, flags: text, replacement: text, expected_matches: positive })
    return 'kind' in edits ? edits : { kind: 'regex', edits: edits.list }
  }
  if (groups.has('inserts')) {
    const inserts = decodeList(input, 'inserts', { anchor: text, position: side, text })
    if ('kind' in inserts) return inserts
    const empty = inserts.list.findIndex(insert => insert.anchor === '')
    if (empty >= 0) return refuse('OUT-E001', 'anchor is empty', ['Use prepend or append.'], `inserts[${empty}].anchor`)
    return { kind: 'inserts', inserts: inserts.list }
  }
  for (const name of ['prepend', 'append'] as const) {
    if (given.includes(name) && typeof input[name] !== 'string') return refuse('OUT-E001', `${name} is no text`, [usage], name)
  }
  return {
    kind: 'around',
    prepend: (input['prepend'] as string | undefined | null) ?? '',
    append: (input['append'] as string | undefined | null) ?? '',
  }
}

interface Field<T> {
  readonly what: string
  is(value: unknown): value is T
}

const text: Field<string> = { what: 'a text', is: value => typeof value === 'string' }
const side: Field<'before' | 'after'> = { what: '"before" or "after"', is: value => value === 'before' || value === 'after' }
const positive: Field<number> = {
  what: 'a whole number from 1',
  is: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 1,
}

function decodeList<T extends Readonly<Record<string, unknown>>>(
  input: Readonly<Record<string, unknown>>,
  name: string,
  fields: { readonly [K in keyof T]: Field<T[K]> },
): { readonly list: readonly T[] } | Refused {
  const given = input[name]
  if (!Array.isArray(given) || given.length === 0 || given.length > editLimits.edits) {
    return refuse('OUT-E001', `${name} is no list of 1 to ${editLimits.edits} edits`, [usage], name)
  }
  const names = Object.keys(fields)
  for (let i = 0; i < given.length; i++) {
    const each: unknown = given[i]
    if (typeof each !== 'object' || each === null || Array.isArray(each))
      return refuse('OUT-E001', `${name}[${i}] is no object`, [], `${name}[${i}]`)
    for (const key of names) {
      const value = (each as Record<string, unknown>)[key]
      if (!fields[key]!.is(value))
        return refuse('OUT-E001', `${name}[${i}].${key} is not ${fields[key]!.what}`, [], `${name}[${i}].${key}`)
    }
    const extra = Object.keys(each).find(key => !names.includes(key))
    if (extra !== undefined)
      return refuse(
        'OUT-E001',
        `${name}[${i}] has an unknown field ${JSON.stringify(extra)}`,
        [`It has: ${names.join(', ')}.`],
        `${name}[${i}]`,
      )
  }
  return { list: given as readonly T[] }
}
