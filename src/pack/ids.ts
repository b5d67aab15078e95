/** Ids of entries and clauses: `c07`, `c07.2`, and `c08~1f2e` where two branches took one number. Pure. */

/** `c07`; two digits at least. */
export function entryId(number: number, mark = ''): string {
  return `c${String(number).padStart(2, '0')}${mark === '' ? '' : `~${mark}`}`
}

/** The place of a clause behind its entry's id. */
export function clauseId(entry: string, place: number): string {
  return `${entry}.${place}`
}

export interface IdToken {
  /** With two digits at least, whatever was written. */
  readonly entry: string
  /** `null`: the entry as a whole, `*`: all of its lines. */
  readonly clause: number | '*' | null
}

const token = /^c(\d{1,15})(~[0-9a-f]{4,12})?(?:\.(\d{1,6}|\*))?$/

/** `null`: not an id. Zeros in front do not matter. */
export function parseId(text: string): IdToken | null {
  const match = token.exec(text)
  if (match === null) return null
  const clause = match[3]
  return {
    entry: entryId(Number(match[1]), (match[2] ?? '').slice(1)),
    clause: clause === undefined ? null : clause === '*' ? '*' : Number(clause),
  }
}

/** `cA-cB`, both numbers; `null` when it is no range. */
export function parseRange(text: string): { readonly from: number; readonly to: number } | null {
  const match = /^c(\d{1,15})-c(\d{1,15})$/.exec(text)
  return match === null ? null : { from: Number(match[1]), to: Number(match[2]) }
}
