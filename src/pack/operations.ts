/** Operations of a checkpoint or a reply: which lines they may change, and how their values are read. Pure. */
import { type IdToken, parseId } from './ids.ts'
import type { RetireKey, Section } from './types.ts'

/** Sections whose lines a key may take away. */
export const mayRetire: Readonly<Record<RetireKey, readonly Section[]>> = {
  retire_answered: ['next', 'unknowns'],
  retire_done: ['next', 'in_progress'],
  retire_learned: ['learnings'],
  retire_reversed: ['decisions'],
  retire_superseded: ['decisions'],
  retire_dropped: ['read_first', 'read_if_needed', 'in_progress', 'next', 'unknowns', 'learnings', 'discarded', 'stale'],
}

/** A decision that a key moves to `discarded`, and the word that it gets there. */
export const movedAs: Partial<Readonly<Record<RetireKey, string>>> = {
  retire_reversed: 'reversed',
  retire_superseded: 'superseded',
}

export interface IdList {
  readonly tokens: readonly { readonly text: string; readonly id: IdToken | null }[]
  readonly reason: string | null
}

const dash = /(?:^|\s)(?:—|–|--|-)(?=\s)/

/** `ids [— reason]`: ids split by commas, semicolons and blanks. */
export function parseIds(value: string): IdList {
  const match = dash.exec(value)
  const list = match === null ? value : value.slice(0, match.index)
  const reason = match === null ? '' : value.slice(match.index + match[0].length).trim()
  const tokens = list.split(/[\s,;]+/).filter(token => token !== '')
  return { tokens: tokens.map(text => ({ text, id: parseId(text) })), reason: reason === '' ? null : reason }
}

/** `<id> <new text>` */
export function parseEdit(value: string): { readonly token: string; readonly id: IdToken | null; readonly text: string } {
  const match = /^(\S+)\s*([\s\S]*)$/.exec(value.trim())
  const token = match?.[1] ?? ''
  return { token, id: parseId(token), text: match?.[2]?.trim() ?? '' }
}
