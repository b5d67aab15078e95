/** Globs and texts with holes, from files that nobody vouches for: compiled by us, in time linear in what they are matched with. */

/** `*` within a segment, `**` over segments, `?` one sign; everything else is itself. */
export function globMatcher(glob: string): (path: string) => boolean {
  const wanted = glob.split('/')
  return path => matchSegments(wanted, path.split('/'))
}

/** The usual two-pointer walk: of several `**` only the last is ever gone back to. */
function matchSegments(wanted: readonly string[], given: readonly string[]): boolean {
  let at = 0
  let star = -1
  let from = 0
  let next = 0
  while (next < given.length) {
    if (at < wanted.length && wanted[at] === '**') {
      star = at++
      from = next
    } else if (at < wanted.length && matchSegment(wanted[at]!, given[next]!)) {
      at++
      next++
    } else if (star !== -1) {
      at = star + 1
      next = ++from
    } else return false
  }
  while (wanted[at] === '**') at++
  return at === wanted.length
}

function matchSegment(wanted: string, given: string): boolean {
  let at = 0
  let star = -1
  let from = 0
  let next = 0
  while (next < given.length) {
    const sign = wanted[at]
    if (sign === '*') {
      star = at++
      from = next
    } else if (sign !== undefined && (sign === '?' || sign === given[next])) {
      at++
      next++
    } else if (star !== -1) {
      at = star + 1
      next = ++from
    } else return false
  }
  while (wanted[at] === '*') at++
  return at === wanted.length
}

/** Part of a convention's `from`. */
type Part = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'dir' | 'stem' | 'ext' }

/** A path with `{dir}` for zero or more folders, `{stem}` and `{ext}`. */
export function pathMatcher(template: string): (path: string) => { dir: string; stem: string; ext: string } | null {
  const segments = template.split('/')
  return path => {
    const given = path.split('/')
    const at = segments.indexOf('{dir}')
    const open = given.length - (segments.length - 1)
    if (at === -1 ? given.length !== segments.length : open < 0) return null
    const dir = at === -1 ? '' : given.slice(at, at + open).join('/')
    const rest = at === -1 ? given : [...given.slice(0, at), ...given.slice(at + open)]
    const found = { dir, stem: '', ext: '' }
    for (const [index, wanted] of segments.filter((_, place) => place !== at).entries()) {
      if (!matchName(partsOf(wanted), rest[index]!, found)) return null
    }
    return found
  }
}

function partsOf(text: string): readonly Part[] {
  return text
    .split(/(\{(?:stem|ext)\})/)
    .filter(part => part !== '')
    .map(part => (part === '{stem}' ? { kind: 'stem' } : part === '{ext}' ? { kind: 'ext' } : { kind: 'text', text: part }))
}

function matchName(parts: readonly Part[], name: string, found: { stem: string; ext: string }): boolean {
  let rest = name
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'text') {
      if (!rest.startsWith(part.text)) return false
      rest = rest.slice(part.text.length)
      continue
    }
    const next = parts[index + 1]
    // A hole ends where the text behind it stands last; an extension holds no dot.
    const end = next === undefined ? rest.length : next.kind === 'text' ? rest.lastIndexOf(next.text) : rest.lastIndexOf('.')
    const value = rest.slice(0, Math.max(end, 0))
    if (value === '' || (part.kind === 'ext' && value.includes('.'))) return false
    if (part.kind === 'stem') found.stem = value
    if (part.kind === 'ext') found.ext = value
    rest = rest.slice(value.length)
  }
  return rest === ''
}

export interface TextMatch {
  readonly start: number
  readonly end: number
  /** What stands for `{n}`; `null` in a text without one. */
  readonly n: number | null
}

type TextPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'blanks' }
  | { readonly kind: 'wild' }
  | { readonly kind: 'number' }

/** What no person writes as a line is not searched for claims. */
const maxLine = 4_000
const maxWild = 40
const blank = /[ \t\u00a0]/

/**
 * A literal text with `{n}` for a number, `{*}` for at most 40 characters of a line and `{{` for a brace; a
 * space stands for blanks. A part is tried once at each place of a line, so that the time is bounded.
 *
 * @returns `null`: the text has a fault.
 */
export function textMatcher(text: string, holes: 'exactly-one' | 'none'): ((line: string) => readonly TextMatch[]) | null {
  const parts = textParts(text)
  if (parts === null || parts.length === 0) return null
  const numbers = parts.filter(part => part.kind === 'number').length
  if (numbers !== (holes === 'exactly-one' ? 1 : 0)) return null
  return line => findAll(parts, line.slice(0, maxLine))
}

function textParts(text: string): readonly TextPart[] | null {
  const parts: TextPart[] = []
  let literal = ''
  const push = (part: TextPart | null) => {
    if (literal !== '') parts.push({ kind: 'text', text: literal })
    literal = ''
    if (part !== null && !(part.kind === 'blanks' && parts.at(-1)?.kind === 'blanks')) parts.push(part)
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '{' && text[at + 1] === '{') {
      literal += '{'
      at++
    } else if (text.startsWith('{n}', at)) {
      push({ kind: 'number' })
      at += 2
    } else if (text.startsWith('{*}', at)) {
      push({ kind: 'wild' })
      at += 2
    } else if (char === '{' || char === '\n' || char === '\r') return null
    else if (blank.test(char)) push({ kind: 'blanks' })
    else literal += char
  }
  push(null)
  return parts
}

function findAll(parts: readonly TextPart[], line: string): readonly TextMatch[] {
  const found: TextMatch[] = []
  /** Part and place from which nothing follows, whatever came before. */
  const failed = new Set<number>()
  let n: number | null = null

  function from(part: number, at: number): number {
    if (part === parts.length) return at
    const key = part * (maxLine + 1) + at
    if (failed.has(key)) return -1
    const end = attempt(parts[part]!, part, at)
    if (end === -1) failed.add(key)
    return end
  }

  function attempt(wanted: TextPart, part: number, at: number): number {
    switch (wanted.kind) {
      case 'text':
        return line.startsWith(wanted.text, at) ? from(part + 1, at + wanted.text.length) : -1
      case 'blanks': {
        let end = at
        while (end < line.length && blank.test(line[end]!)) end++
        return end === at ? -1 : from(part + 1, end)
      }
      case 'wild':
        for (let end = at; end <= Math.min(at + maxWild, line.length); end++) {
          const rest = from(part + 1, end)
          if (rest !== -1) return rest
        }
        return -1
      case 'number': {
        if (at > 0 && /[\w.,-]/.test(line[at - 1]!)) return -1
        const digits = /^(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?![\w]|[.,]\d)/.exec(line.slice(at, at + 20))?.[0]
        if (digits === undefined) return -1
        const rest = from(part + 1, at + digits.length)
        if (rest !== -1) n = Number(digits.replaceAll(',', ''))
        return rest
      }
      default:
        return wanted satisfies never
    }
  }

  for (let start = 0; start < line.length; ) {
    n = null
    const end = from(0, start)
    if (end > start) found.push({ start, end, n })
    start = end > start ? end : start + 1
  }
  return found
}
