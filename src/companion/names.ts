/** Which paths may be named, and which are left out. */
import { segments } from '../text/paths.ts'

const maxLength = 200
/** Controls, zero-width and direction signs, the BOM, and what stands for bytes that are not UTF-8. */
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffd\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u

/** May this path stand in a text that a model reads? */
export function isPrintable(path: string): boolean {
  return path !== '' && path.length <= maxLength && path.isWellFormed() && !unprintable.test(path)
}

/** Whole segments; a value with a separator matches consecutive ones. */
export function isExcluded(path: string, exclude: readonly string[], literal: boolean): boolean {
  if (literal) return exclude.some(value => value !== '' && path.includes(value))
  const own = segments(path.replaceAll('\\', '/'))
  return exclude.some(value => {
    const wanted = segments(value.replaceAll('\\', '/'))
    if (wanted.length === 0) return false
    for (let at = 0; at + wanted.length <= own.length; at++) {
      if (wanted.every((segment, offset) => own[at + offset] === segment)) return true
    }
    return false
  })
}

export const byCodePoint = (a: string, b: string): number => {
  if (a === b) return 0
  // UTF-16 order differs from code point order only where surrogates meet the units above them.
  const [left, right] = [a, b].map(text => [...text])
  for (let at = 0; at < left!.length && at < right!.length; at++) {
    const difference = left![at]!.codePointAt(0)! - right![at]!.codePointAt(0)!
    if (difference !== 0) return difference
  }
  return left!.length - right!.length
}
