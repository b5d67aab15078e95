/**
 * From raw text to an offer: what a model wrote, or a rule of the local tier, becomes one step, silence or a
 * failure. The only place that classifies; whoever shows or runs an offer reads what came out of here.
 */
import { find } from '../text/redact.ts'
import { firstLine, plain, unwrap } from './clean.ts'
import { quietRows } from './phrases.ts'
import { similarity } from './similar.ts'
import type { Intent } from './types.ts'

export type Judged =
  | { readonly kind: 'offer'; readonly text: string; readonly intent: Intent }
  | { readonly kind: 'quiet'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

export interface OfferContext {
  readonly maxChars: number
  /** The person's newest message. */
  readonly said: string | null
  /** Texts of the last dismissed offers. */
  readonly declined: readonly string[]
}

const goalChars = 5
const echo = 0.95
const declinedAt = 0.9

export function judgeText(raw: string, context: OfferContext): Judged {
  const line = unwrap(firstLine(plain(raw)))
  const { intent, text } = intentOf(line)
  if (intent === 'goal-edit' && text === '') return { kind: 'quiet', reason: 'empty-goal' }
  if (/^(?:[/!$]|#(?!\d))/u.test(text)) return { kind: 'failed', reason: 'refused:command' }
  if (find(text).length > 0) return { kind: 'failed', reason: 'refused:secret' }
  const quiet = quietReason(text, intent, context)
  if (quiet !== null) return { kind: 'quiet', reason: quiet }
  const max = context.maxChars - (intent === 'goal-edit' ? goalChars : 0)
  const sentences = sentencesOf(text)
  for (const count of [2, 1]) {
    const kept = sentences.slice(0, count).join('').trim()
    if (kept.length <= max) return { kind: 'offer', text: kept, intent }
  }
  return { kind: 'failed', reason: 'too-long' }
}

/** Does a prefix that says `goal`, however it is dressed, stand in front? */
function intentOf(line: string): { readonly intent: Intent; readonly text: string } {
  let intent: Intent = 'worker-step'
  let text = line
  for (let round = 0; round < 8; round++) {
    const at = text.search(/[:：]/u)
    if (at === -1 || at > 24) break
    const word = text.slice(0, at).normalize('NFKC').replace(/\P{L}/gu, '').toLowerCase()
    if (word !== 'goal') break
    intent = 'goal-edit'
    text = unwrap(text.slice(at + 1).replace(/^[*_~`"'”’»)\]]+/u, ''))
  }
  return { intent, text }
}

function quietReason(text: string, intent: Intent, { said, declined }: OfferContext): string | null {
  const words = text
    .toLowerCase()
    .replace(/[\p{P}\p{S}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (words === '') return 'empty'
  for (const { reason, test } of quietRows) if (test(words, text)) return reason
  if (intent === 'worker-step' && isShort(text)) return 'filtered:short'
  if (said !== null && similarity(text, said) >= echo) return 'filtered:echo'
  if (declined.some(one => similarity(text, one) >= declinedAt)) return 'filtered:declined'
  return null
}

const cjk = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu

function isShort(text: string): boolean {
  const words = text.split(' ').filter(word => /[\p{L}\p{N}]/u.test(word)).length
  return words < 2 && (text.match(cjk)?.length ?? 0) < 4
}

const abbreviation = /(?:^|\s|\()(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|resp)\.$/i

/** Each with its end sign and the space behind it. */
function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = []
  let start = 0
  for (const match of text.matchAll(/[.!?]["'”’)\]]{0,3}\s+|[。！？]\s*/gu)) {
    const end = match.index + match[0].length
    if (abbreviation.test(text.slice(Math.max(start, match.index - 10), match.index + 1))) continue
    sentences.push(text.slice(start, end))
    start = end
  }
  if (start < text.length) sentences.push(text.slice(start))
  return sentences
}
