/** Names of streams: what may be one, and what a session's title is called. Pure. */
import { createHash } from 'node:crypto'
import { OutriggerError } from '../errors.ts'

const form = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,49}$/

/** The stream of what was captured without one; only the engine itself may write to it. */
export const inbox = 'inbox'

const reserved: ReadonlySet<string> = new Set([
  ...['save', 'load', 'cancel', 'auto', 'continue', 'for', 'show', 'diff', 'list', 'status', 'verify', 'help', 'keel', inbox],
  // Devices of Windows, which no file may be named after.
  ...['con', 'prn', 'aux', 'nul'],
  ...Array.from({ length: 10 }, (_, digit) => [`com${digit}`, `lpt${digit}`]).flat(),
])

export type NameFault = 'bad' | 'reserved'

/** Why this is no name of a stream; `null`: it is one. */
export function faultOfName(name: string): NameFault | null {
  if (!form.test(name)) return 'bad'
  return reserved.has(name.toLowerCase()) || /^c\d+$/i.test(name) ? 'reserved' : null
}

/**
 * The name, checked. Throws `PACK_BAD_STREAM`, `PACK_RESERVED_STREAM`, `PACK_STREAM_CASE`.
 *
 * @param known - streams that exist.
 */
export function checkName(name: string, known: readonly string[]): string {
  const fault = faultOfName(name)
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name
  if (fault === 'bad') {
    throw new OutriggerError('PACK_BAD_STREAM', `"${shown}" is no name of a stream`, {
      subject: shown,
      hint: 'use letters, digits, _ and -, at most 50, not beginning with -; `outrigger pack name <title>` makes one of any text',
    })
  }
  if (fault === 'reserved') {
    throw new OutriggerError('PACK_RESERVED_STREAM', `"${shown}" is a word of its own`, {
      subject: shown,
      hint: `give another name, as ${/^c\d+$/i.test(name) ? `stream-${name}` : `${name}-work`}`,
    })
  }
  const other = known.find(stream => stream !== name && stream.toLowerCase() === name.toLowerCase())
  if (other !== undefined && !known.includes(name)) {
    throw new OutriggerError('PACK_STREAM_CASE', `"${name}" differs from the stream "${other}" by its case only`, {
      subject: name,
      hint: `write ${other}`,
    })
  }
  return name
}

/**
 * A title as a stream's name; `null`: it names none.
 *
 * @param hasOlder - is there a file of the older tool under this bare slug?
 */
export function nameOfTitle(title: string, hasOlder: (slug: string) => boolean = () => false): string | null {
  if (title.trim() === '') return null
  if (faultOfName(title) === null) return title
  const slug = slugOf(title)
  const digest = createHash('sha256').update(title.normalize('NFC')).digest('hex')
  if (slug === '') return `s-${digest.slice(0, 8)}`
  if (hasOlder(slug) && faultOfName(slug) === null) return slug
  return `${slug}-${digest.slice(0, 4)}`
}

function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return plain.slice(0, 45).replace(/-+$/, '')
}
