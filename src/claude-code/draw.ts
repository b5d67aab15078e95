/** What stands on the screen: the band above the prompt, the review pane, answers without their checkpoints. */
import { screen } from '../pack/screen.ts'
import type { Review, Shown } from './shown.ts'

/** The host's elements and the function that makes one. */
export interface Elements {
  readonly Box: unknown
  readonly Text: unknown
  readonly Button: unknown
  readonly Markdown?: unknown
}
export type Make = (element: unknown, props: Readonly<Record<string, unknown>> | null, ...children: readonly unknown[]) => unknown

/** Longer answers get one line in place of an element: the host draws them anew with every scroll. */
const plainFrom = 10_000
const offerChars = 200

/** `undefined`: nothing is offered. */
export function band(
  make: Make,
  { Box, Text, Button }: Elements,
  { offer }: Shown,
  press: (command: string) => void,
  edit: (text: string) => void,
): unknown {
  if (offer === null) return undefined
  const line = offer.text.replace(/\s+/g, ' ')
  const text = line.length <= offerChars ? line : `${line.slice(0, offerChars - 1)}…`
  return make(
    Box,
    { flexDirection: 'row' },
    make(Text, { dimColor: true }, `next: ${text}  `),
    make(Button, { key: 'outrigger-run', label: 'Run', onPress: () => press('/next run') }),
    make(Button, { key: 'outrigger-edit', label: 'Edit', onPress: () => edit(offer.text) }),
    make(Button, { key: 'outrigger-stop', label: 'Dismiss', onPress: () => press('/next dismiss') }),
  )
}

export function reviewTree(
  make: Make,
  { Box, Text, Button, Markdown }: Elements,
  review: Review,
  press: (command: string) => void,
): unknown {
  const body =
    Markdown === undefined ? make(Text, null, review.markdown) : make(Markdown, { key: 'outrigger-text', text: review.markdown })
  const buttons = review.buttons.map(({ label, key, command }) =>
    make(Button, { key: `outrigger-${key}`, label, ...hotkeyOf(key), onPress: () => press(command) }),
  )
  return make(Box, { flexDirection: 'column' }, body, make(Box, { flexDirection: 'row' }, ...buttons))
}

/** The host takes one digit or one lowercase letter. */
function hotkeyOf(key: string): { readonly hotkey?: string } {
  return /^[0-9a-z]$/.test(key) ? { hotkey: key } : {}
}

export interface Folded {
  /** The answer without its checkpoints. */
  readonly text: string
  /** `▸ ckpt: decision, open`, or nothing where the text says it itself. */
  readonly label: string | undefined
}

/** `undefined`: there is no checkpoint in it. */
export function foldAnswer(text: string): Folded | undefined {
  const { text: body, kinds, hidden } = screen(text, true)
  if (hidden === 0) return undefined
  const words = kinds.join(', ')
  return text.length > plainFrom
    ? { text: `${body}\n\n_ckpt: ${words}_`, label: undefined }
    : { text: body, label: `ckpt: ${words}` }
}
