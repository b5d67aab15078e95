/**
 * Edits of a cell's source: all of one request are found in the target as it is, and are applied together or not at all. Pure; a regular expression is run
 * by whoever can stop it.
 */
import { type FindMatches, findExact, findInserts, findRegex, isRefused } from './find.ts'
import { lineOf } from './lines.ts'
import { type Change, type EditRequest, editLimits, type Refused, refuse } from './request.ts'

export type Edited = { readonly kind: 'edited'; readonly source: string; readonly changes: readonly Change[] } | Refused

export function editSource(target: string, request: EditRequest, findMatches: FindMatches): Edited {
  if (target.length > editLimits.units) return tooLong('the cell is')
  const found = changesOf(target, request, findMatches)
  if (isRefused(found)) return found
  // Stable: insertions at one place stay in the order of the request.
  const changes = [...found].sort((a, b) => a.start - b.start || a.end - b.end)
  let units = target.length
  for (let i = 0; i < changes.length; i++) {
    const { start, end, text, from } = changes[i]!
    units += text.length - (end - start)
    const before = changes[i - 1]
    if (before !== undefined && start < before.end) {
      return refuse(
        'OUT-E005',
        `${before.from} and ${from} overlap on line ${lineOf(target, start)}`,
        ['Make one edit of the two.'],
        from,
      )
    }
  }
  if (units > editLimits.units) return tooLong('the result would be')
  const source = applyChanges(target, changes)
  if (source === target) return refuse('OUT-E008', 'the edit changes nothing')
  return { kind: 'edited', source, changes }
}

const tooLong = (what: string): Refused => refuse('OUT-E006', `${what} longer than ${editLimits.units} units`)

function changesOf(target: string, request: EditRequest, findMatches: FindMatches): readonly Change[] | Refused {
  switch (request.kind) {
    case 'edits':
      return findExact(target, request.edits)
    case 'regex':
      return findRegex(target, request.edits, findMatches)
    case 'inserts':
      return findInserts(target, request.inserts)
    case 'around':
      return [
        { start: 0, end: 0, text: request.prepend, from: 'prepend' },
        { start: target.length, end: target.length, text: request.append, from: 'append' },
      ]
    default:
      return request satisfies never
  }
}

/** Few pieces are put together by reference, without copying the target. */
const fewPieces = 64

function applyChanges(target: string, changes: readonly Change[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, end, text } of changes) {
    pieces.push(target.slice(at, start), text)
    at = end
  }
  pieces.push(target.slice(at))
  return pieces.length <= fewPieces ? pieces.reduce((whole, piece) => whole + piece) : pieces.join('')
}

/** Which cell is edited. `newest` is the newest on the current path, `undefined` when there is none. */
export function chooseTarget(
  asked: { readonly target?: number | undefined; readonly expectedTarget?: number | undefined },
  newest: number | undefined,
  exists: (cell: number) => boolean,
): { readonly kind: 'target'; readonly cell: number } | Refused {
  const cell = asked.target ?? newest
  if (cell === undefined) return refuse('OUT-E007', 'there is no cell to edit', ['Run a cell first.'], 'target')
  if (!Number.isSafeInteger(cell) || !exists(cell))
    return refuse('OUT-E007', `there is no cell ${cell}`, newest === undefined ? [] : [`The newest is cell ${newest}.`], 'target')
  if (asked.expectedTarget !== undefined && asked.expectedTarget !== cell) {
    const help = [`Look at cell ${cell} first, or give target ${asked.expectedTarget}.`]
    return refuse('OUT-E007', `the edit would change cell ${cell}, not cell ${asked.expectedTarget}`, help, 'expected_target')
  }
  return { kind: 'target', cell }
}
