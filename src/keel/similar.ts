/** How alike two texts are: Dice's coefficient of their runs of three words. */

export function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length < 3) return new Set(words.length === 0 ? [] : [words.join(' ')])
  return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`))
}

/** 0 to 1; two texts without words are not alike. */
export function diceOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const one of small) if (large.has(one)) common += 1
  return (2 * common) / (a.size + b.size)
}
