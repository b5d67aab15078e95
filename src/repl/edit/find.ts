/** Where edits apply in a target: exact texts, anchors, matches of patterns. All are found in the text as it was sent. */
import { linesOf, nearestHelp } from './lines.ts'
import { type Change, type ExactEdit, editLimits, type InsertEdit, type Refused, type RegexEdit, refuse } from './request.ts'
import { expandTemplate, type FoundMatch, parseTemplate } from './template.ts'

export type MatchOutcome =
  | { readonly kind: 'matches'; readonly matches: readonly FoundMatch[]; readonly ms: number }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'timeout' }

/**
 * Finds the matches of a pattern from left to right, at most `maxMatches`, and stops after `timeoutMs` whatever the pattern does. An empty match ends the
 * search and is the last of the list. Whoever implements it can interrupt a running regular expression.
 */
export type FindMatches = (pattern: string, flags: string, source: string, maxMatches: number, timeoutMs: number) => MatchOutcome

type Found = readonly Change[] | Refused

export const isRefused = (value: object): value is Refused => 'kind' in value && value.kind === 'refused'

export function findExact(source: string, edits: readonly ExactEdit[]): Found {
  const changes: Change[] = []
  for (let i = 0; i < edits.length; i++) {
    const { old_string, new_string } = edits[i]!
    const from = `edits[${i}]`
    if (old_string === new_string) return refuse('OUT-E008', 'old_string and new_string are the same', [], from)
    const start = findOnce(source, old_string, from, 'old_string')
    if (typeof start !== 'number') return start
    changes.push({ start, end: start + old_string.length, text: new_string, from })
  }
  return changes
}

export function findInserts(source: string, inserts: readonly InsertEdit[]): Found {
  const changes: Change[] = []
  for (let i = 0; i < inserts.length; i++) {
    const { anchor, position, text } = inserts[i]!
    const from = `inserts[${i}]`
    const start = findOnce(source, anchor, from, 'anchor')
    if (typeof start !== 'number') return start
    const at = position === 'before' ? start : start + anchor.length
    changes.push({ start: at, end: at, text, from })
  }
  return changes
}

/** Offset of the only occurrence. One that begins or ends inside a surrogate pair is none. */
function findOnce(source: string, wanted: string, subject: string, name: string): number | Refused {
  const found: number[] = []
  for (let at = source.indexOf(wanted); at >= 0; at = source.indexOf(wanted, at + 1)) {
    if (!splitsPair(source, at) && !splitsPair(source, at + wanted.length)) found.push(at)
    if (found.length > 5) break
  }
  if (found.length === 1) return found[0]!
  if (found.length === 0)
    return refuse('OUT-E002', `${name} is not in the cell: ${quoted(wanted)}`, nearestHelp(source, wanted), subject)
  const times = found.length > 5 ? 'more than 5 times' : `${found.length} times`
  const help = [`It is on ${linesOf(source, found)}. Give more of the text around the one you mean.`]
  return refuse('OUT-E003', `${name} is in the cell ${times}: ${quoted(wanted)}`, help, subject)
}

const quoted = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text)

function splitsPair(source: string, at: number): boolean {
  if (at <= 0 || at >= source.length) return false
  const before = source.charCodeAt(at - 1)
  const after = source.charCodeAt(at)
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff
}

const flagsPattern = /^(?!.*(.).*\1)(?!.*u.*v)(?!.*v.*u)[gimsuvy]*$/

export function findRegex(source: string, edits: readonly RegexEdit[], findMatches: FindMatches): Found {
  const changes: Change[] = []
  let matches = 0
  let captures = 0
  let ms = 0
  let units = 0
  for (let i = 0; i < edits.length; i++) {
    const { pattern, flags, replacement, expected_matches } = edits[i]!
    const from = `regex_edits[${i}]`
    if (flags.length > 7 || !flagsPattern.test(flags))
      return refuse('OUT-E004', `bad flags ${JSON.stringify(flags)}`, ['Each of gimsuvy once, not u and v together.'], from)
    if (replacement.length > editLimits.templateUnits)
      return refuse('OUT-E006', `replacement is longer than ${editLimits.templateUnits} units`, [], from)
    const left = editLimits.matches - matches
    const outcome = findMatches(pattern, flags.includes('g') ? flags : `${flags}g`, source, left + 1, editLimits.regexMs - ms)
    if (outcome.kind === 'timeout')
      return refuse(
        'OUT-E006',
        `the patterns took longer than ${editLimits.regexMs} ms`,
        ['Use a simpler pattern, or edits.'],
        from,
      )
    if (outcome.kind === 'invalid') return refuse('OUT-E004', `bad pattern: ${outcome.message}`, [], from)
    ms += outcome.ms
    const found = outcome.matches
    if (found.some(match => match.groups[0] === ''))
      return refuse('OUT-E004', 'the pattern matches an empty text', ['Make it match at least one character.'], from)
    if (found.length > left) return refuse('OUT-E006', `more than ${editLimits.matches} matches`, [], from)
    if (found.length !== expected_matches) {
      const where =
        found.length === 0
          ? nearestHelp(source, pattern)
          : [
              `Found on ${linesOf(
                source,
                found.map(match => match.index),
              )}.`,
            ]
      return refuse(
        'OUT-E004',
        `${found.length} ${found.length === 1 ? 'match' : 'matches'}, expected ${expected_matches}`,
        where,
        from,
      )
    }
    matches += found.length
    captures += found.length * (found[0]!.groups.length - 1)
    if (captures > editLimits.captures)
      return refuse('OUT-E006', `more than ${editLimits.captures} groups in all matches`, [], from)
    const parts = parseTemplate(replacement, found[0]!.groups.length - 1, found[0]!.named !== undefined)
    for (const match of found) {
      const text = expandTemplate(parts, source, match, editLimits.units - units)
      if (text === undefined) return refuse('OUT-E006', `the result would be longer than ${editLimits.units} units`, [], from)
      units += text.length
      changes.push({ start: match.index, end: match.index + match.groups[0]!.length, text, from })
    }
  }
  return changes
}
