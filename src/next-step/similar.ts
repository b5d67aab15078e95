/** How alike two steps are, without a model: the same words in another order, but never another file, number or name. */

const stopWords = new Set(['the', 'a', 'an', 'to', 'of', 'and', 'in', 'on', 'for', 'with', 'please', 'now', 'then', 'next'])
const cjkLetter = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const cjkLetters = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]+/u
const isDistinguishing = (piece: string) => /[\p{Nd}_/\\.:@#]/u.test(piece) || /\p{Ll}\p{Lu}/u.test(piece)

interface Tokens {
  readonly all: readonly string[]
  /** Sorted; joined. */
  readonly distinguishing: string
}

/** The same few texts are compared again and again. */
const known = new Map<string, Tokens>()
const maxKnown = 16

function tokensOf(text: string): Tokens {
  let tokens = known.get(text)
  if (tokens === undefined) {
    tokens = readTokens(text)
    if (known.size >= maxKnown) known.delete(known.keys().next().value!)
    known.set(text, tokens)
  }
  return tokens
}

function readTokens(text: string): Tokens {
  const all: string[] = []
  const distinguishing: string[] = []
  for (const raw of text.normalize('NFKC').split(/\s+/u)) {
    const piece = raw.replace(/^[^\p{L}\p{N}_]+/u, '').replace(/[^\p{L}\p{N}_]+$/u, '')
    if (piece === '') continue
    if (cjkLetter.test(piece)) {
      // Written without spaces: a number or a name in it is a piece of its own.
      for (const run of piece.split(cjkLetters)) if (isDistinguishing(run)) distinguishing.push(run.toLowerCase())
      const letters = [...piece]
      if (letters.length === 1) all.push(piece)
      for (let at = 0; at + 1 < letters.length; at++) all.push((letters[at]! + letters[at + 1]!).toLowerCase())
      continue
    }
    const folded = piece.toLowerCase()
    if (isDistinguishing(piece)) distinguishing.push(folded)
    if (!stopWords.has(folded)) all.push(folded)
  }
  return { all, distinguishing: distinguishing.sort().join('\0') }
}

/** 0 to 1. */
export function similarity(one: string, other: string): number {
  const a = tokensOf(one)
  const b = tokensOf(other)
  if (a.distinguishing !== b.distinguishing) return 0
  if (a.all.length === 0 && b.all.length === 0) return 1
  const left = new Map<string, number>()
  for (const token of a.all) left.set(token, (left.get(token) ?? 0) + 1)
  let shared = 0
  for (const token of b.all) {
    const count = left.get(token) ?? 0
    if (count === 0) continue
    left.set(token, count - 1)
    shared++
  }
  return (2 * shared) / (a.all.length + b.all.length)
}

export const isSimilar = (one: string, other: string): boolean => similarity(one, other) >= 0.9
