/** What the door shows beside the conversation now, for the host to draw when it asks. */
import type { ActionOf } from '../session/actions.ts'

export type Review = NonNullable<ActionOf<'show-review'>['review']>

export interface Offer {
  readonly text: string
}

export interface Shown {
  offer: Offer | null
  review: Review | null
  /** The line below the prompt; `null`: none. */
  status: string | null
}

export const reviewPane = 'outrigger-review'

export function createShown(): Shown {
  return { offer: null, review: null, status: null }
}

/** An offer as an engine shows it: anything with a text. */
export function offerOf(value: Readonly<Record<string, unknown>> | null): Offer | null {
  const text = value?.['text']
  return typeof text === 'string' && text !== '' ? { text } : null
}

/** The host writes the plugin's name before the line. */
export function statusText(text: string | null): string | undefined {
  if (text === null) return undefined
  return text.startsWith('outrigger: ') ? text.slice('outrigger: '.length) : text
}

/** `/pack cancel` → name and arguments. */
export function commandOf(text: string): { readonly name: string; readonly args: string } {
  const [, name = '', args = ''] = /^\/?(\S+)\s*([\s\S]*)$/.exec(text.trim()) ?? []
  return { name, args: args.trim() }
}
