/** Why something that looks like a checkpoint was left alone, in words for people. */
import type { IgnoredReason } from './types.ts'

export const reasonWords: Readonly<Record<IgnoredReason, string>> = {
  'in-code': 'it stands in code',
  'in-quote': 'it stands in a quote',
  'in-list': 'it stands in a list',
  'in-html': 'it stands in other HTML or in another comment',
  inline: 'it does not begin its line',
  unclosed: 'it has no -->',
  'too-long': 'it is over 16 KiB',
  'too-many': 'it is the 21st or a later one of the answer',
}
