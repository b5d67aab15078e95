/** One pack file, checked whole: any fault refuses all of it, what is unknown is a warning. */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { Files } from '../../ports/files.ts'
import { decodeUtf8 } from '../../text/utf8.ts'
import { callSignals, type Domain, type Finder, finders, type Intent, type Signal, signals } from '../types.ts'
import { pathMatcher, textMatcher } from './patterns.ts'
import type { Claim, Convention, Measure, Pack, PackCode, PackFault } from './types.ts'

const maxBytes = 64 * 1024
const limits = { intents: 32, signals: 16, paths: 32, conventions: 64, to: 8, claims: 64, files: 8, nesting: 8 } as const
const domains: readonly Domain[] = ['test', 'doc', 'count', 'release', 'partner']

export type PackReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'ignored'; readonly faults: readonly PackFault[]; readonly warnings: readonly string[] }
  | { readonly kind: 'pack'; readonly pack: Pack; readonly warnings: readonly string[] }

/** @param within - absolute real folder that a link must stay in; left out: no links at all matter. */
export function readPack(files: Files, path: string, within?: string): PackReading {
  const refuse = (code: PackCode, message: string): PackReading => ({
    kind: 'ignored',
    faults: [{ code, message }],
    warnings: [],
  })
  let bytes: Uint8Array
  try {
    const link = files.lstat(path)
    if (link === undefined) return { kind: 'absent' }
    const stat = files.stat(path)
    if (stat === undefined || stat.kind !== 'file') return refuse('PACK_FILE', 'is no regular file')
    if (within !== undefined) {
      const real = files.realpath(path)?.replaceAll('\\', '/')
      if (real === undefined || !real.startsWith(`${within.replaceAll('\\', '/')}/`))
        return refuse('PACK_FILE', 'lies outside of the project')
    }
    if (stat.size > maxBytes) return refuse('PACK_TOO_BIG', 'has more than 64 KiB')
    bytes = files.read(path, maxBytes)
  } catch {
    return refuse('PACK_FILE', 'cannot be read')
  }
  const text = decodeUtf8(bytes)
  if (text === null || text.includes('\0')) return refuse('PACK_NOT_TEXT', 'is no UTF-8 text')
  return parsePack(text)
}

class Refused extends Error {}

export function parsePack(text: string): PackReading {
  const lines = new LineCounter()
  const plain = text.replace(/^\uFEFF/, '')
  if (nesting(plain) > 64) return yamlFault('is nested too deeply', 1)
  const document = parseDocument(plain, { lineCounter: lines, uniqueKeys: true, prettyErrors: false })
  const lineOf = (offset: number) => lines.linePos(offset).line
  const [error] = [...document.errors, ...document.warnings]
  if (error !== undefined) return yamlFault(error.message.split('\n')[0]!.slice(0, 120), lineOf(error.pos[0]))
  const extra = firstExtra(document)
  if (extra !== null) return yamlFault(extra.why, lineOf(extra.at))
  const reader = new Reader(lineOf)
  try {
    const pack = reader.pack(document.contents)
    return { kind: 'pack', pack, warnings: reader.warnings }
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown
    return { kind: 'ignored', faults: reader.faults, warnings: reader.warnings }
  }
}

const yamlFault = (message: string, line: number): PackReading => ({
  kind: 'ignored',
  faults: [{ code: 'PACK_YAML', message: `line ${line}: ${message}` }],
  warnings: [],
})

/** Flow brackets that are open at once, before a recursive parser sees them. */
function nesting(text: string): number {
  let open = 0
  let most = 0
  for (const char of text) {
    if (char === '[' || char === '{') most = Math.max(most, ++open)
    else if (char === ']' || char === '}') open--
  }
  return most
}

/** Anchors, aliases and tags make one text mean many things. */
function firstExtra(document: Document): { readonly at: number; readonly why: string } | null {
  let found: { at: number; why: string } | null = null
  visit(document, {
    Node(_key, node) {
      const why = isAlias(node)
        ? 'has an alias'
        : 'anchor' in node && node.anchor
          ? 'has an anchor'
          : node.tag !== undefined && isTagged(node)
            ? 'has a tag'
            : null
      if (why === null) return undefined
      found = { at: node.range?.[0] ?? 0, why }
      return visit.BREAK
    },
  })
  return found
}

const isTagged = (node: Node): boolean =>
  'srcToken' in node ? typeof node.tag === 'string' : typeof node.tag === 'string' && node.tag !== ''

type Fields = ReadonlyMap<string, Node | null>

class Reader {
  readonly faults: PackFault[] = []
  readonly warnings: string[] = []
  readonly #lineOf: (offset: number) => number

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf
  }

  pack(root: Node | null): Pack {
    const fields = this.#fields(root, 'the file', ['version', 'signature', 'only', 'intents', 'conventions', 'claims'], 0)
    const version = scalarOf(fields.get('version') ?? null)
    if (version !== 1) this.#refuse('PACK_VERSION', 'version must be 1', fields.get('version') ?? root)
    let signature: Pack['signature'] = null
    let only = false
    let intents: Intent[] = []
    let conventions: Convention[] = []
    let claims: Claim[] = []
    // In the order of the document, so that the first fault is the first in it.
    for (const [key, node] of fields) {
      if (key === 'signature') signature = this.#paths(node, key, limits.paths)
      if (key === 'only') only = this.#boolean(node, key)
      if (key === 'intents')
        intents = this.#list(node, key, limits.intents).map((each, at) => this.#intent(each, `intents[${at}]`))
      if (key === 'conventions')
        conventions = this.#list(node, key, limits.conventions).map((each, at) => this.#convention(each, `conventions[${at}]`))
      if (key === 'claims') claims = this.#list(node, key, limits.claims).map((each, at) => this.#claim(each, `claims[${at}]`))
    }
    this.#distinct(intents, 'intents')
    this.#distinct(claims, 'claims')
    return { signature, only, intents, conventions, claims }
  }

  #intent(node: Node | null, where: string): Intent {
    const fields = this.#fields(node, where, ['id', 'domain', 'priority', 'threshold', 'signals', 'targets', 'find'], 1)
    let id = ''
    let domain: Domain = 'test'
    let priority = 50
    let threshold: number | null = null
    let weighted: Intent['signals'] = []
    let targets: readonly string[] = []
    let find: Finder[] = []
    for (const [key, value] of fields) {
      const at = `${where}.${key}`
      if (key === 'id') id = this.#id(value, at)
      if (key === 'domain') domain = this.#word(value, at, domains)
      if (key === 'priority') priority = this.#number(value, at, 1, 99, 'PACK_SHAPE', true)
      if (key === 'threshold') threshold = this.#number(value, at, 0, 1, 'PACK_THRESHOLD', false)
      if (key === 'signals') weighted = this.#signals(value, at)
      if (key === 'targets') targets = this.#paths(value, at, limits.paths)
      if (key === 'find')
        find = this.#list(value, at, finders.length).map((each, index) => this.#word(each, `${at}[${index}]`, finders))
    }
    if (id === '') this.#refuse('PACK_SHAPE', `${where}.id is missing`, node)
    if (id === 'Reconciliation') this.#refuse('PACK_SHAPE', `${where}.id may not be Reconciliation`, node)
    const isCall = (signal: Signal) => (callSignals as readonly string[]).includes(signal)
    const ofCall = weighted.filter(({ id: signal }) => isCall(signal)).length
    if (ofCall > 0 && ofCall < weighted.length) this.#refuse('PACK_SHAPE', `${where} mixes signals of calls and of pairs`, node)
    if (targets.length > 0 === find.length > 0) this.#refuse('PACK_SHAPE', `${where} needs either targets or find`, node)
    if (weighted.length > 0 && ofCall > 0 !== targets.length > 0) {
      this.#refuse('PACK_SHAPE', `${where} needs ${ofCall > 0 ? 'targets' : 'find'} for its signals`, node)
    }
    return { id, domain, priority, threshold, signals: weighted, targets, find }
  }

  #signals(node: Node | null, where: string): Intent['signals'] {
    return this.#list(node, where, limits.signals).flatMap((each, index) => {
      const at = `${where}[${index}]`
      const fields = this.#fields(each, at, ['id', 'weight'], 2)
      const id = this.#text(fields.get('id') ?? null, `${at}.id`)
      const weight = this.#number(fields.get('weight') ?? null, `${at}.weight`, 0, 5, 'PACK_WEIGHT', false)
      const known = signals.find(signal => signal === id)
      if (known === undefined) this.#warn(`${at}: no signal "${clean(id)}"`)
      return known === undefined ? [] : [{ id: known, weight }]
    })
  }

  #convention(node: Node | null, where: string): Convention {
    const fields = this.#fields(node, where, ['from', 'to'], 1)
    const from = this.#path(fields.get('from') ?? null, `${where}.from`)
    const to = this.#paths(fields.get('to') ?? null, `${where}.to`, limits.to)
    for (const path of [from, ...to]) {
      const holes = path.match(/\{[^}]*\}?/g) ?? []
      const isWrong =
        holes.some(hole => !['{dir}', '{stem}', '{ext}'].includes(hole)) ||
        path.split('/').some(part => part.includes('{dir}') && part !== '{dir}')
      const repeated = path.split('{dir}').length > 2 || path.split('{stem}').length > 2 || path.split('{ext}').length > 2
      if (isWrong || (repeated && path === from)) this.#refuse('PACK_PATTERN', `${where} has a hole that is none`, node)
    }
    return { from, to, match: pathMatcher(from) }
  }

  #claim(node: Node | null, where: string): Claim {
    const fields = this.#fields(node, where, ['id', 'files', 'text', 'measure', 'required'], 1)
    const id = this.#id(fields.get('id') ?? null, `${where}.id`)
    const files = this.#paths(fields.get('files') ?? null, `${where}.files`, limits.files)
    if (files.length === 0) this.#refuse('PACK_SHAPE', `${where}.files is empty`, node)
    const text = this.#text(fields.get('text') ?? null, `${where}.text`)
    if (text.length > 200 || textMatcher(text, 'exactly-one') === null)
      this.#refuse('PACK_PATTERN', `${where}.text needs exactly one {n}`, node)
    const measure = this.#measure(fields.get('measure') ?? null, `${where}.measure`)
    const required = fields.has('required') ? this.#boolean(fields.get('required') ?? null, `${where}.required`) : false
    return { id, files, text, measure, required }
  }

  #measure(node: Node | null, where: string): Measure {
    const fields = this.#fields(node, where, ['files', 'lines', 'json', 'tests'], 2)
    if (fields.size !== 1) this.#refuse('PACK_SHAPE', `${where} needs exactly one of files, lines, json, tests`, node)
    const [key, value] = [...fields][0]!
    const at = `${where}.${key}`
    switch (key) {
      case 'files':
        return { kind: 'files', files: this.#path(value, at) }
      case 'lines': {
        const inner = this.#fields(value, at, ['files', 'text'], 3)
        const text = this.#text(inner.get('text') ?? null, `${at}.text`)
        if (text.length > 200 || textMatcher(text, 'none') === null) this.#refuse('PACK_PATTERN', `${at}.text is no text`, value)
        return { kind: 'lines', files: this.#path(inner.get('files') ?? null, `${at}.files`), text }
      }
      case 'json': {
        const inner = this.#fields(value, at, ['file', 'pointer'], 3)
        const pointer = this.#text(inner.get('pointer') ?? null, `${at}.pointer`, true)
        if (pointer !== '' && !pointer.startsWith('/')) this.#refuse('PACK_SHAPE', `${at}.pointer is no JSON pointer`, value)
        return { kind: 'json', file: this.#path(inner.get('file') ?? null, `${at}.file`), pointer }
      }
      default:
        return { kind: 'tests', of: this.#word(value, at, ['passed', 'total'] as const) }
    }
  }

  #distinct(items: readonly { readonly id: string }[], where: string): void {
    if (new Set(items.map(({ id }) => id)).size !== items.length) this.#refuse('PACK_SHAPE', `${where} has an id twice`, null)
  }

  #fields(node: Node | null, where: string, known: readonly string[], depth: number): Fields {
    if (depth > limits.nesting || depthOf(node) > limits.nesting)
      this.#refuse('PACK_LIMIT', `${where} is nested too deeply`, node)
    if (!isMap(node)) this.#refuse('PACK_SHAPE', `${where} must be a mapping`, node)
    const fields = new Map<string, Node | null>()
    for (const { key, value } of node.items) {
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : null
      if (name === null) this.#refuse('PACK_SHAPE', `${where} has a key that is no text`, node)
      if (known.includes(name)) fields.set(name, value as Node | null)
      else this.#warn(`${where}: no key "${clean(name)}"`)
    }
    return fields
  }

  #list(node: Node | null, where: string, most: number): readonly (Node | null)[] {
    if (!isSeq(node)) this.#refuse('PACK_SHAPE', `${where} must be a list`, node)
    if (node.items.length > most) this.#refuse('PACK_LIMIT', `${where} has more than ${most} items`, node)
    return node.items as (Node | null)[]
  }

  #paths(node: Node | null, where: string, most: number): readonly string[] {
    return this.#list(node, where, most).map((each, index) => this.#path(each, `${where}[${index}]`))
  }

  #path(node: Node | null, where: string): string {
    const path = this.#text(node, where)
    if (!isSafePath(path)) this.#refuse('PACK_TARGET', `${where} is no path inside the project`, node)
    return path
  }

  #id(node: Node | null, where: string): string {
    const id = this.#text(node, where)
    if (!/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(id)) this.#refuse('PACK_SHAPE', `${where} is no id`, node)
    return id
  }

  #text(node: Node | null, where: string, mayBeEmpty = false): string {
    const value = scalarOf(node)
    if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) this.#refuse('PACK_SHAPE', `${where} must be a text`, node)
    return value
  }

  #word<T extends string>(node: Node | null, where: string, words: readonly T[]): T {
    const value = scalarOf(node)
    const found = words.find(word => word === value)
    if (found === undefined) this.#refuse('PACK_SHAPE', `${where} must be one of ${words.join(', ')}`, node)
    return found
  }

  #number(node: Node | null, where: string, least: number, most: number, code: PackCode, whole: boolean): number {
    const value = scalarOf(node)
    if (
      typeof value !== 'number' ||
      !Number.isFinite(value) ||
      value < least ||
      value > most ||
      (whole && !Number.isInteger(value))
    ) {
      this.#refuse(code, `${where} must be a number from ${least} to ${most}`, node)
    }
    return value
  }

  #boolean(node: Node | null, where: string): boolean {
    const value = scalarOf(node)
    if (typeof value !== 'boolean') this.#refuse('PACK_SHAPE', `${where} must be true or false`, node)
    return value
  }

  #warn(text: string): void {
    if (!this.warnings.includes(text) && this.warnings.length < 50) this.warnings.push(text)
  }

  #refuse(code: PackCode, message: string, node: Node | null): never {
    const line = node?.range == null ? '' : `line ${this.#lineOf(node.range[0])}: `
    this.faults.push({ code, message: `${line}${message}` })
    throw new Refused(message)
  }
}

function scalarOf(node: Node | null): unknown {
  return isScalar(node) ? node.value : undefined
}

function depthOf(node: Node | null, depth = 0): number {
  if (depth > 20) return depth
  if (isMap(node)) return Math.max(depth, ...node.items.map(({ value }) => depthOf(value as Node | null, depth + 1)))
  if (isSeq(node)) return Math.max(depth, ...node.items.map(item => depthOf(item as Node | null, depth + 1)))
  return depth
}

/** Relative, with `/`, inside the project, nothing that cannot be seen. */
export function isSafePath(path: string): boolean {
  if (path === '' || path.length > 200 || !path.isWellFormed()) return false
  if (path.startsWith('/') || path.startsWith('~') || path.includes('\\') || /^[A-Za-z]:/.test(path)) return false
  if (path.split('/').some(segment => segment === '..' || segment === '')) return false
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u.test(path)
}

/** A name out of a file that nobody vouches for, in a text for people. */
const clean = (name: string): string => name.replace(/[^\w.@/ -]/g, '?').slice(0, 40)
