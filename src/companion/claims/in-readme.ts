/** The numbers that a README states about tests. */
import { blankComments, numberOf, readExpectedCount } from './readme-count.ts'

export interface Stated {
  readonly id: string
  /** From 1. */
  readonly line: number
  readonly column: number
  readonly text: string
  readonly expected: number
  readonly measure: 'passed' | 'total' | 'rows'
  /** Of rows: their sum. */
  readonly rows?: number
}

const silenced = '<!-- outrigger: no claim -->'
const number = '(?<n>\\d{1,3}(?:,\\d{3})+|\\d{1,7})'
const phrase = new RegExp(
  `(?<![\\w.,$€£#/:+–-])${number}(?![\\w+]|[.,]\\d)[ \\t]+(?<words>(?:(?:unit|integration|automated|passing|passed|green|e2e)[ \\t]+){0,2})tests?(?!\\w)(?<after>[ \\t]+(?:passing|passed|pass)(?!\\w))?`,
  'gi',
)
const unsure =
  /(?:(?:^|[^\w])(?:over|about|around|nearly|almost|roughly|more than|at least|up to|fewer than|less than)|[~≈≥≤<>])[ \t]*$/i
/** How far before a number its word of doubt is looked for. */
const unsureReach = 64
const badge = /img\.shields\.io\/badge\/tests-((?:[^-\s)"'?]|--)+)-[^-\s)"'?][^\s)"'?]*/gi
const oldNews = /changelog|history|release notes/i
const tableHead = /^(?:tests|passing|pass|count)$/i
const passing = /pass/i

/** @param isLiteral - the older reading of the expected count. */
export function statedIn(text: string, isLiteral = false): readonly Stated[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  const bare = blankComments(lines.join('\n')).split('\n')
  const claims: Stated[] = []
  const headings: { level: number; isOld: boolean }[] = []
  let fence: string | null = null
  for (let at = 0; at < bare.length; at++) {
    const line = bare[at]!
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line)
    if (fence !== null) {
      if (mark !== null && mark[1]!.startsWith(fence) && mark[2]!.trim() === '') fence = null
      continue
    }
    if (mark !== null && !(mark[1]![0] === '`' && mark[2]!.includes('`'))) {
      fence = mark[1]!
      continue
    }
    const heading = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/s.exec(line)
    if (heading !== null) {
      const level = heading[1]!.length
      while (headings.length > 0 && headings.at(-1)!.level >= level) headings.pop()
      headings.push({ level, isOld: oldNews.test(heading[2] ?? '') })
    }
    const length = tableLength(bare, at)
    if (length > 0) {
      const total = totalOf(bare, at, length)
      if (total !== null && !lines[total.line - 1]!.includes(silenced)) claims.push(total)
      at += length - 1
      continue
    }
    if (lines[at]!.includes(silenced)) continue
    if (!headings.some(each => each.isOld)) claims.push(...phrasesIn(line, at + 1))
    claims.push(...badgesIn(line, at + 1))
  }
  const count = readExpectedCount(text, isLiteral)
  if (count !== null && !lines[count.line - 1]?.includes(silenced)) {
    claims.push({
      id: 'expected-count',
      line: count.line,
      column: count.column,
      text: count.text,
      expected: count.n,
      measure: 'passed',
    })
  }
  return claims.sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Lines of fenced code as empty ones; other claims look there neither. */
export function withoutFences(text: string): readonly string[] {
  let fence: string | null = null
  return blankComments(text.replace(/^\uFEFF/, ''))
    .split(/\r\n|\r|\n/)
    .map(line => {
      const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line)
      if (fence !== null) {
        if (mark !== null && mark[1]!.startsWith(fence) && mark[2]!.trim() === '') fence = null
        return ''
      }
      if (mark !== null && !(mark[1]![0] === '`' && mark[2]!.includes('`'))) {
        fence = mark[1]!
        return ''
      }
      return line
    })
}

function phrasesIn(line: string, at: number): readonly Stated[] {
  if (!/\d/.test(line) || !/test/i.test(line)) return []
  const { text, columns } = plainOf(line)
  return [...text.matchAll(phrase)].flatMap(match => {
    if (unsure.test(text.slice(Math.max(0, match.index - unsureReach), match.index))) return []
    const { n, words, after } = match.groups as { n: string; words: string; after?: string }
    const measure = passing.test(words) || /green/i.test(words) || after !== undefined ? 'passed' : 'total'
    return [
      { id: 'tests-phrase', line: at, column: columns[match.index]!, text: match[0], expected: numberOf(n), measure },
    ] as const
  })
}

/** Without emphasis, backticks and link targets, and the column of each sign that is left. */
function plainOf(line: string): { readonly text: string; readonly columns: readonly number[] } {
  let text = ''
  const columns: number[] = []
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === '*' || char === '`' || char === '[') continue
    if (char === '_' && !(/\w/.test(line[at - 1] ?? '') && /\w/.test(line[at + 1] ?? ''))) continue
    if (char === ']') {
      const target = /^\]\([^()\s]*(?:\s+"[^"]*")?\)|^\]\[[^\]]*\]/.exec(line.slice(at, at + 2_000))
      if (target !== null) at += target[0].length - 1
      continue
    }
    text += char === '\u00a0' ? ' ' : char
    columns.push(at + 1)
  }
  return { text, columns }
}

function badgesIn(line: string, at: number): readonly Stated[] {
  if (!line.includes('img.shields.io')) return []
  return [...line.matchAll(badge)].flatMap(match => {
    const message = match[1]!
      .replace(/%20/g, ' ')
      .replace(/--/g, '-')
      .replace(/__|_/g, each => (each === '_' ? ' ' : '_'))
    const found = /^(\d{1,3}(?:,\d{3})+|\d{1,7})(?: (passing|passed|tests))?$/.exec(message.replace(/%2C/gi, ','))
    if (found === null) return []
    const measure = found[2] === 'passing' || found[2] === 'passed' ? 'passed' : 'total'
    return [{ id: 'badge', line: at, column: match.index + 1, text: message, expected: numberOf(found[1]!), measure }] as const
  })
}

/** Lines of a table that begins here; 0: none does. */
function tableLength(lines: readonly string[], at: number): number {
  const head = lines[at]!
  const rule = lines[at + 1]
  if (!head.includes('|') || rule === undefined || !/^ {0,3}\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*(?:\|\s*)?$/.test(rule)) return 0
  if (!rule.includes('|') && cellsOf(head).length > 1) return 0
  let end = at + 2
  while (end < lines.length && lines[end]!.trim() !== '' && lines[end]!.includes('|')) end++
  return end - at
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell => cell.replace(/[*_`]/g, '').trim())
}

function totalOf(lines: readonly string[], at: number, length: number): Stated | null {
  const columns = cellsOf(lines[at]!).flatMap((cell, index) => (tableHead.test(cell) ? [index] : []))
  if (columns.length !== 1) return null
  const column = columns[0]!
  const rows = lines.slice(at + 2, at + length).map(cellsOf)
  const isTotal = (cells: readonly string[]) => cells.some((cell, index) => index !== column && /^total:?$/i.test(cell))
  const place = rows.findIndex(isTotal)
  const others = rows.filter((_, index) => index !== place)
  if (place === -1 || others.length < 2) return null
  const numbers = others.map(cells => wholeNumber(cells[column]))
  const expected = wholeNumber(rows[place]![column])
  if (expected === null || numbers.some(each => each === null)) return null
  const rowsSum = numbers.reduce<number>((sum, each) => sum + each!, 0)
  const line = at + 2 + place
  const shown = rows[place]![column]!
  return {
    id: 'tests-table',
    line: line + 1,
    column: lines[line]!.lastIndexOf(shown) + 1,
    text: shown,
    expected,
    measure: 'rows',
    rows: rowsSum,
  }
}

function wholeNumber(cell: string | undefined): number | null {
  return cell !== undefined && /^(?:\d{1,3}(?:,\d{3})+|\d{1,7})$/.test(cell) ? numberOf(cell) : null
}
