/**
 * Is this a good place for a fresh start? From the clauses of an answer: a task that was closed, a change of
 * direction, a decision. Pure.
 */
import type { Clause } from './clauses.ts'
import type { Seam } from './types.ts'

const task = /(?<![\w#-])(?:#\d{1,9}|[A-Z]{1,10}-\d{1,9}|T\d{1,9})(?![\w-])/g
const done = /(?<![\w-])(?:done|closed|closes|close|closing|finished|completed)(?![\w-])|✅/gi

/** A done word behind one of these, in the same sentence and at most six words away, does not count. */
const takesBack: ReadonlySet<string> = new Set(
  (
    'not never no cannot without before until unless almost nearly half partly yet still will when once if should must can ' +
    'could to'
  ).split(' '),
)
const comesLater = /(?<![\w-])(?:when|once|if|unless|until)(?![\w-])/i

export function seamOf(clauses: readonly Clause[]): Seam {
  let closed: string | null = null
  let pivots = false
  let decides = false
  for (const clause of clauses) {
    if (clause.kind !== 'text') continue
    if (clause.keyword === 'pivot') pivots = true
    if (clause.keyword === 'decision') decides = true
    closed = closedTask(clause.text) ?? closed
  }
  if (closed !== null) return { level: 'strong', task: closed }
  if (pivots) return { level: 'strong', task: null }
  return { level: decides ? 'simple' : 'none', task: null }
}

/** The task that stands nearest to a done word that counts, in one sentence or the whole clause. */
function closedTask(text: string): string | null {
  const tasks = [...text.matchAll(task)].map(match => ({
    name: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }))
  if (tasks.length === 0) return null
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const { sentence, from } of sentencesOf(text)) {
    for (const match of sentence.matchAll(done)) {
      if (!counts(sentence, match.index, match.index + match[0].length)) continue
      const start = from + match.index
      const end = start + match[0].length
      for (const { name, start: taskStart, end: taskEnd } of tasks) {
        const distance = taskStart >= end ? taskStart - end : start - taskEnd
        if (best === null || distance < best.distance) best = { name, distance }
      }
    }
  }
  return best?.name ?? null
}

/** With its final sign. */
function sentencesOf(text: string): readonly { readonly sentence: string; readonly from: number }[] {
  const sentences: { readonly sentence: string; readonly from: number }[] = []
  let from = 0
  for (const { index, 0: end } of text.matchAll(/[.!?;]+(?=\s|$)/g)) {
    sentences.push({ sentence: text.slice(from, index + end.length), from })
    from = index + end.length
  }
  if (from < text.length) sentences.push({ sentence: text.slice(from), from })
  return sentences
}

function counts(sentence: string, start: number, end: number): boolean {
  const before =
    sentence
      .slice(Math.max(0, start - 400), start)
      .toLowerCase()
      .match(/[\p{L}\p{N}'’]+/gu) ?? []
  if (before.slice(-6).some(word => takesBack.has(word) || /n['’]t$/.test(word))) return false
  const after = sentence.slice(end)
  return !after.includes('?') && !comesLater.test(after)
}
