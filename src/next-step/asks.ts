/** Does the agent wait for the person? Read from the end of its newest answer; in doubt it does. */
import { asksAtStart, asksInside, closers, permission, pleas } from './phrases.ts'
import { riskOf } from './risky.ts'

const maxItems = 12

/** @param goOn - bare permission to go on does not count, if nothing risky stands beside it. */
export function asksPerson(answer: string, goOn = false): boolean {
  if (answer.length > maxKept) return reads(answer, goOn)
  // The loop looks at the same answer after each event.
  if (newest?.answer !== answer || newest.goOn !== goOn) newest = { answer, goOn, asks: reads(answer, goOn) }
  return newest.asks
}

const maxKept = 12_000

/** The end of an answer, for the rules that read one; a fence that is open where it begins is opened again. */
export function endOf(answer: string): string {
  if (answer.length <= maxKept) return answer
  const from = answer.indexOf('\n', answer.length - maxKept + 100) + 1
  if (from === 0) return structuredClone(answer.slice(-maxKept))
  let fence = ''
  for (const [, run = '', rest = ''] of answer.slice(0, from).matchAll(/^[ \t]*(`{3,}|~{3,})([^\n]*)/gm)) {
    if (fence === '') fence = run
    else if (run.startsWith(fence) && rest.trim() === '') fence = ''
  }
  // A string of its own: a slice would keep the whole.
  return structuredClone(`${fence.slice(0, 80)}${fence === '' ? '' : '\n'}${answer.slice(from)}`)
}

let newest: { readonly answer: string; readonly goOn: boolean; readonly asks: boolean } | undefined

function reads(answer: string, goOn: boolean): boolean {
  const { paragraphs, items } = read(answer)
  const all = paragraphs.map(sentencesOf)
  const asking = askingSentences(all)
  const askingItems = items.filter(item => /[?？]$/.test(item))
  if (asking.length + askingItems.length === 0) return false
  if (!goOn || askingItems.length > 0) return true
  const isBare = asking.every(sentence => permission.test(sentence))
  return !isBare || riskOf(paragraphs.join('\n'), []) !== null
}

interface Ending {
  /** The last two, oldest first. */
  readonly paragraphs: readonly string[]
  readonly items: readonly string[]
}

const isRule = (line: string) => /^(?:[-*_=]\s*){3,}$/.test(line)
const itemMark = /^(?:[-*+•]|\d{1,4}[.)]|[a-zA-Z][.)])\s+/

function read(answer: string): Ending {
  const lines = proseLines(endOf(answer))
  const items: string[] = []
  while (lines.length > 0) {
    const line = lines.at(-1)!
    const isItem = itemMark.test(line) && items.length < maxItems
    if (line !== '' && !isRule(line) && !isItem) break
    if (isItem) items.push(withoutMarks(line.replace(itemMark, '')))
    lines.pop()
  }
  const paragraphs: string[] = []
  let current: string[] = []
  for (let at = lines.length - 1; at >= -1 && paragraphs.length < 2; at--) {
    const line = lines[at] ?? ''
    if (line !== '' && !isRule(line)) {
      current.unshift(line)
      continue
    }
    if (current.length > 0) paragraphs.unshift(current.join(' '))
    current = []
  }
  return { paragraphs, items }
}

/** Trimmed lines without code, comments and quotes; inline code and addresses are one letter. */
export function proseLines(text: string): string[] {
  return withoutFences(text.replace(/<!--[\s\S]*?(?:-->|$)/g, ''))
    .filter(line => !line.startsWith('>'))
    .map(line => line.replace(/`[^`]*`/g, 'x').replace(/\bhttps?:\/\/\S+?(?=[.,;:!?)]*(?:\s|$))/g, 'x'))
}

/** Trimmed lines outside of fenced code. */
export function withoutFences(text: string): string[] {
  const kept: string[] = []
  let fence = ''
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim()
    const run = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    if (fence !== '') {
      if (run.startsWith(fence) && line === run) fence = ''
      continue
    }
    if (run === '') kept.push(line)
    else fence = run
  }
  return kept
}

const withoutMarks = (text: string) =>
  text.replace(/^[\s*_~"'“”()[\]\p{Extended_Pictographic}]+|[\s*_~"'“”)\]\p{Extended_Pictographic}]+$/gu, '')

function sentencesOf(paragraph: string): readonly string[] {
  return paragraph
    .replace(/([.!?:][*_~"'”’)\]]{0,4})\s+|([。！？])/gu, '$1$2\n')
    .split('\n')
    .map(sentence => withoutMarks(sentence))
    .filter(sentence => sentence !== '')
}

function askingSentences(paragraphs: readonly (readonly string[])[]): readonly string[] {
  const last = paragraphs.at(-1) ?? []
  const before = paragraphs.length > 1 ? paragraphs[0]! : []
  const asks = new Set<string>()
  const consider = (
    sentence: string,
    rules: { readonly isLast: boolean; readonly isNear: boolean; readonly isThird: boolean },
  ) => {
    if (closers.some(closer => closer.test(sentence))) return
    const isQuestion = /[?？][*_)"'”’\]]*$/.test(sentence)
    const speaks = asksAtStart.test(sentence) || asksInside.test(sentence)
    if (isQuestion && (rules.isLast || (rules.isNear && speaks))) asks.add(sentence)
    else if (rules.isThird && pleas.some(plea => plea.test(sentence))) asks.add(sentence)
  }
  const three = last.slice(-3)
  three.forEach((sentence, at) => {
    consider(sentence, { isLast: at === three.length - 1, isNear: true, isThird: true })
  })
  const earlier = before.slice(-Math.max(3 - last.length, 1))
  earlier.forEach((sentence, at) => {
    consider(sentence, { isLast: false, isNear: at === earlier.length - 1, isThird: last.length + earlier.length - at <= 3 })
  })
  return [...asks]
}
