/** Replacements of regex edits: `$$`, `$&`, `` $` ``, `$'`, `$1` to `$99` and `$<name>`, with the meaning that JavaScript gives them. */

/** One match of a pattern. */
export interface FoundMatch {
  readonly index: number
  /** The whole match first, then its groups. */
  readonly groups: readonly (string | undefined)[]
  /** Named groups, when the pattern has any. */
  readonly named: Readonly<Record<string, string | undefined>> | undefined
}

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'match' | 'before' | 'after' }
  | { readonly kind: 'group'; readonly number: number }
  | { readonly kind: 'name'; readonly name: string }

/** @param groups - how many the pattern has. @param named - whether it names any; without them `$<` is a text. */
export function parseTemplate(template: string, groups: number, named: boolean): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let plain = ''
  const add = (part: TemplatePart) => {
    if (plain !== '') parts.push({ kind: 'text', text: plain })
    plain = ''
    parts.push(part)
  }
  let at = 0
  while (at < template.length) {
    const dollar = template.indexOf('$', at)
    if (dollar < 0 || dollar === template.length - 1) break
    plain += template.slice(at, dollar)
    const next = template[dollar + 1]!
    at = dollar + 2
    if (next === '$') plain += '$'
    else if (next === '&') add({ kind: 'match' })
    else if (next === '`') add({ kind: 'before' })
    else if (next === "'") add({ kind: 'after' })
    else if (next >= '0' && next <= '9') {
      const digits = /^[0-9]{2}/.exec(template.slice(dollar + 1, dollar + 3))?.[0]
      const two = digits === undefined ? 0 : Number(digits)
      const one = Number(next)
      if (two >= 1 && two <= groups) {
        add({ kind: 'group', number: two })
        at = dollar + 3
      } else if (one >= 1 && one <= groups) add({ kind: 'group', number: one })
      else plain += `$${next}`
    } else if (next === '<' && named && template.indexOf('>', at) >= 0) {
      const end = template.indexOf('>', at)
      add({ kind: 'name', name: template.slice(at, end) })
      at = end + 1
    } else {
      plain += '$'
      at = dollar + 1
    }
  }
  plain += template.slice(at)
  if (plain !== '') parts.push({ kind: 'text', text: plain })
  return parts
}

/** @returns the text, or `undefined` when it would be longer than `maxUnits`. */
export function expandTemplate(
  parts: readonly TemplatePart[],
  source: string,
  match: FoundMatch,
  maxUnits: number,
): string | undefined {
  const whole = match.groups[0] ?? ''
  let text = ''
  for (const part of parts) {
    const piece = pieceOf(part, source, match, whole)
    if (text.length + piece.length > maxUnits) return undefined
    text += piece
  }
  return text
}

function pieceOf(part: TemplatePart, source: string, match: FoundMatch, whole: string): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'match':
      return whole
    case 'before':
      return source.slice(0, match.index)
    case 'after':
      return source.slice(match.index + whole.length)
    case 'group':
      return match.groups[part.number] ?? ''
    case 'name':
      return match.named !== undefined && Object.hasOwn(match.named, part.name) ? (match.named[part.name] ?? '') : ''
    default:
      return part satisfies never
  }
}
