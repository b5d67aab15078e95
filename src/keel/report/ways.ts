/** What a reader can do next, as a command line or as a call of a tool. Names are written as words of each. */
import type { Voice } from '../../session/voice.ts'
import { oneLine } from '../../text/data.ts'

export interface Ways {
  /** See what changed under a document. */
  change(child: string): string
  /** Say that a document still holds. `source` left out: the only one that needs it. */
  acknowledge(child: string, source?: string): string
  /** See which references can be corrected; `child` left out: everywhere. */
  proposals(child?: string): string
  /** Correct what can be. */
  fix(child?: string): string
  /** See what is behind. */
  check(): string
  /** See the parts that a file has. */
  anchors(file: string | null): string
  /** Have new sources stamped. */
  stamp(): string
  /** Every suspect and not the first ones only. */
  all(): string
  /** Hear keel again. */
  on(): string
}

const terminal: Ways = {
  change: child => `outrigger keel diff ${word(child)}`,
  acknowledge: (child, source) => commandOfOk(child, source),
  proposals: child => `outrigger keel fix${child === undefined ? '' : ` ${word(child)}`}`,
  fix: child => `outrigger keel fix --apply${child === undefined ? '' : ` ${word(child)}`}`,
  check: () => 'outrigger keel check',
  anchors: file => `outrigger keel anchors ${file === null ? 'FILE' : word(file)}`,
  stamp: () => 'outrigger keel stamp',
  all: () => '--all shows them, --json has them as data',
  on: () => 'outrigger keel on',
}

const tool: Ways = {
  change: child => `keel_why ${json({ path: child })}`,
  acknowledge: (child, source) => `keel_ok ${json({ child, ...(source !== undefined && { source }), reason: '…' })}`,
  proposals: child => `keel_fix${child === undefined ? '' : ` ${json({ paths: [child] })}`}`,
  fix: child => `keel_fix ${json({ ...(child !== undefined && { paths: [child] }), apply: true })}`,
  check: () => 'keel_check',
  anchors: file => `the headings or symbols of ${file === null ? 'that file' : oneLine(file, maxWordChars)}`,
  stamp: () => 'their first stamp is not yours to write',
  all: () => 'a higher limit, or paths, shows them',
  on: () => 'a person',
}

export function waysOf(voice: Voice): Ways {
  return voice === 'tool' ? tool : terminal
}

/** The command line of an acknowledgement; only a person types it where a rule asks for one. */
export function commandOfOk(child: string, source?: string): string {
  return `outrigger keel ok ${[child, ...(source === undefined ? [] : [source])].map(word).join(' ')} --reason "…"`
}

const maxWordChars = 4096

/** A name as a word of a command line, on one line. */
function word(name: string): string {
  const text = oneLine(name, maxWordChars)
  return /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,#-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function json(fields: Readonly<Record<string, unknown>>): string {
  const words = (value: unknown): unknown =>
    typeof value === 'string' ? oneLine(value, maxWordChars) : Array.isArray(value) ? value.map(words) : value
  return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, words(value)])))
}
