/** From matches to candidates with a confidence, for one intent and the files of one change. */
import { confidenceOf, sumOf, weigh } from '../confidence.ts'
import { byCodePoint, isPrintable } from '../names.ts'
import { type Candidate, type Intent, signals } from '../types.ts'
import { type Found, findCandidates, type Sources } from './find.ts'

const maxReasons = 3

/** Best first. @param changed - the changed files. */
export function rankCandidates(
  sources: Sources,
  intent: Intent,
  changed: readonly string[],
  allowed: readonly string[],
  textOf: (path: string) => string | null,
): readonly Candidate[] {
  const best = new Map<string, Candidate>()
  for (const path of changed) {
    for (const finder of intent.find) {
      for (const found of findCandidates(sources, path, finder, textOf(path))) {
        const candidate = candidateOf(found, path, intent, allowed)
        if (candidate === null) continue
        const known = best.get(found.path)
        if (known === undefined || isBetter(candidate, known)) best.set(found.path, candidate)
      }
    }
  }
  return [...best.values()].sort((a, b) => b.k - a.k || byCodePoint(a.path, b.path))
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.k > other.k || (one.k === other.k && byCodePoint(one.for, other.for) < 0)
}

function candidateOf(
  { path, missing, matches }: Found,
  changed: string,
  intent: Intent,
  allowed: readonly string[],
): Candidate | null {
  const evidence = weigh(matches, intent.signals, allowed)
  if (evidence.length === 0) return null
  const sum = sumOf(evidence.map(each => each.contribution))
  const because = [...evidence]
    .sort((a, b) => b.contribution - a.contribution || signals.indexOf(a.signal) - signals.indexOf(b.signal))
    .slice(0, maxReasons)
    .map(({ signal }) => matches.find(match => match.signal === signal)!.reason)
  return { path, for: changed, sum, k: confidenceOf(sum), missing, because, evidence }
}

/** May it be named, with what its reasons name? */
export function isNameable({ path, for: changed, evidence }: Candidate): boolean {
  const named = evidence.flatMap(({ detail }) => [detail['via'], detail['name'], detail['symbol']])
  return [path, changed, ...named].every(each => typeof each !== 'string' || isPrintable(each))
}
