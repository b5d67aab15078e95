/**
 * Everything that pack says in a session but the notes themselves (`load.ts`) and what it asks a model
 * (`prompt.ts`). Texts are pinned by tests.
 */
import { cutEnd, oneLine } from '../text/data.ts'
import { countdownMark } from './marks.ts'
import type { Ignored, LoadDocument, SaveDocument, Seam } from './types.ts'

/** How an agent is taught to leave checkpoints; for system prompts and starts of sessions. */
export const teaching = `Work notes. When an answer settles something (a choice, a limit, a lesson, a dead end, something left to do), finish it with one HTML comment that starts its own line:
<!-- ckpt
decision: what was chosen — why
open: what is left
-->
Keywords: decision constraint learning definition rejected open assumption refs reasoning pivot; one clause a line. To close items of earlier notes: retire_done, retire_answered, retire_learned, retire_reversed, retire_superseded or retire_dropped with ids (retire_done: c04.2). No secrets. Nothing settled, no comment.`

/** @param changedSince - ISO 8601 of the last save here. */
export function untrusted(stream: string, level: LoadDocument['trust']['level'], changedSince: string | null): string {
  const why =
    level === 'foreign'
      ? 'came with this folder and were not written here'
      : `were changed outside outrigger since ${changedSince ?? 'they were saved'}`
  return `notes of "${stream}" ${why}; read them, then /unpack ${stream} --trust`
}

export const missedStart = (stream: string, minutes: number): string =>
  `stream "${stream}" was saved ${minutes} min ago and its fresh start did not happen: /unpack ${stream}`

export const whichStream = 'which stream? /pack save <name> names one, so does a session title'

export const waitingText = (count: number): string => `${count} checkpoint(s) have no stream yet; name one: /pack save <name>`

export const unwritableText = (stream: string, reason: string, count: number): string =>
  `⚠ cannot write the journal of "${stream}" (${short(reason)}); ${count} checkpoint(s) held, next try with the next one`

/** `12s`, `3m 05s`. */
export function duration(ms: number): string {
  const seconds = Math.max(Math.floor(ms / 1_000), 0)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`
}

const longSaveMs = 180_000

export const savingText = (stream: string, ms: number): string =>
  ms < longSaveMs ? `Saving "${stream}"… ${duration(ms)}` : `Saving "${stream}" takes long (${duration(ms)}); it may hang`

/** @param at - ms since the epoch; the clock of the machine. */
export function savedText(stream: string, at: number, document: SaveDocument): string {
  const time = new Date(at)
  const clock = `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}`
  return `✓ notes of "${stream}" written ${clock}: ${document.state.chars} chars, fidelity ${document.fidelity.score}`
}

export const degradedText = (stream: string, detail: string): string =>
  `⚠ notes of "${stream}" written, but ${short(detail)}; see status.md`

export const nothingWrittenText = (stream: string, reason: string): string =>
  `⚠ nothing written for "${stream}": ${short(reason)}`

export const openingText = 'Opening a fresh session…'
export const yourTurnText = 'Your turn: /clear starts fresh, /pack cancel stays'
/** Where the host has no `/clear`. */
export const elsewhereText = (stream: string): string =>
  `Your turn: /unpack ${stream} in a new session starts fresh, /pack cancel stays`

export const countdownText = (stream: string, seconds: number, percent: number): string =>
  `"${stream}"${countdownMark}${seconds} s (context ${percent}%). Typing or /pack cancel stops it`

export const ignoredText = ({ line, reason }: Ignored): string =>
  `a checkpoint was not taken (line ${line}: ${reason}); it must start its own line outside code, quotes and lists, and end with -->`

export const placementText =
  'pack keeps notes in .outrigger/pack. To share them, commit the folder; to keep them private: outrigger pack private on'

export type Advice =
  | { readonly kind: 'seam'; readonly seam: Seam }
  | { readonly kind: 'saved' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'no-stream' }

export function adviceText(advice: Advice, percent: number): string {
  switch (advice.kind) {
    case 'seam': {
      const { level, task } = advice.seam
      const what = level !== 'strong' ? 'A decision was made' : task === null ? 'The direction changed' : `${task} is closed`
      return `${what}: a fresh start fits now (context ${percent}%). /pack`
    }
    case 'saved':
      return `Notes were saved for you (context ${percent}%). /pack goes on fresh`
    case 'failed':
      return `Saving failed at context ${percent}% (${short(advice.why)}). /pack tries again`
    case 'no-stream':
      return `Context at ${percent}% and no stream named, nothing is saved: /pack save <name>`
    default:
      return advice satisfies never
  }
}

export const replies = {
  background: (stream: string) => `saving "${stream}" in the background; the status line tells`,
  goingFresh: (stream: string) => `"${stream}" saved, going to a fresh session`,
  nothingWritten: (stream: string, reason: string) => `nothing written for "${stream}": ${reason}; staying here`,
  withoutModel: (stream: string, reason: string) =>
    `"${stream}" saved without the model's notes (${reason}); /pack --plain starts fresh with it, /pack cancel stays`,
  staying: (stream: string) => `staying here; "${stream}" is saved`,
  auto: (on: boolean) => `auto mode ${on ? 'on' : 'off'}`,
  loaded: (stream: string) => `notes of "${stream}" loaded`,
  noNotes: (stream: string) => `no notes of "${stream}" in this project`,
  busy: 'busy: the last save is not through yet (see the status line)',
  inReview: 'your choice first: continue [c] or stay [x]',
  armed: 'a fresh start is prepared; /pack cancel undoes it',
} as const

/** Notes of a degraded save in words, as `status.md` begins its detail; `null`: there are none. */
export function detailOf({ notes, reason }: Pick<SaveDocument, 'notes' | 'reason'>): string | null {
  const words: Readonly<Partial<Record<SaveDocument['notes'][number], string>>> = {
    cut: 'over the cap',
    'no-model': 'no model',
    'model-blocked': `model blocked: ${reason ?? 'no reason given'}`,
    'model-unparseable': 'reply not understood',
    'git-unknown': 'git unknown',
    lockless: 'no lock',
  }
  const said = notes.flatMap(note => words[note] ?? [])
  return said.length === 0 ? null : said.join(', ')
}

/** As a part of a line: one line of at most 80 characters. */
const short = (text: string): string => cutEnd(oneLine(text, 400), 80)
