/** Is a stream as it should be? Findings, errors among them where notes would be lost or cannot be read. */

import { estimateTokens } from '../text/fit.ts'
import type { LiveLine } from './assemble.ts'
import type { Pack } from './context.ts'
import { absolute, foldersOf, pathsOf, readText } from './files.ts'
import { liveLines } from './fold.ts'
import { unknownStream } from './load.ts'
import { inbox } from './names.ts'
import { judge } from './own.ts'
import { parseState } from './state-file.ts'
import type { Finding, FindingCode, VerifyDocument } from './types.ts'

const errors: ReadonlySet<FindingCode> = new Set(['bad-utf8', 'over-cap', 'state-unreadable', 'lost-line'])

export async function verify(pack: Pack, stream?: string): Promise<VerifyDocument> {
  const known = foldersOf(pack.deps)
  if (stream !== undefined && !known.includes(stream)) throw unknownStream(stream, known)
  const findings: Finding[] = []
  let entries = 0
  for (const each of stream === undefined ? known : [stream]) {
    const read = pack.read(each)
    entries += read?.journal.entries.length ?? 0
    findings.push(...(await findingsOf(pack, each)))
  }
  return { ok: findings.every(finding => finding.severity !== 'error'), entries, findings }
}

async function findingsOf(pack: Pack, stream: string): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const add = (code: FindingCode, message: string, more: { readonly id?: string; readonly line?: number } = {}): void => {
    findings.push({ stream, code, severity: errors.has(code) ? 'error' : 'warning', ...more, message })
  }
  const { deps } = pack
  const paths = pathsOf(stream)
  const read = pack.read(stream)
  const stateText = readText(deps, paths.state)
  if (read !== null) {
    const { journal, folded } = read
    if (journal.badUtf8 !== null) add('bad-utf8', 'the journal has bytes that are no UTF-8', { line: journal.badUtf8 })
    for (const { id, state, line } of journal.entries) {
      if (state === 'torn') add('torn', `${id} was cut off while it was written; it says nothing`, { id, line })
      if (state === 'edited') add('edited', `${id} was changed by hand; it counts as it stands`, { id, line })
      if (id.includes('~'))
        add('merged-id', `two entries have the number ${id.split('~')[0]}; the later one is ${id}`, { id, line })
    }
    for (const { id } of folded.unrouted) add('unrouted', `${id} has no clause that begins with a keyword`, { id })
    for (const { entry, key, token, why } of folded.rejected)
      add('rejected', `${entry}: ${key} ${token} did nothing (${why})`, { id: entry })
  }
  if (stateText === null) {
    if ((read?.folded.cursor ?? 0) > 0) add('state-behind', 'nothing was saved yet')
  } else checkState(pack, stream, stateText, add)
  if (stream !== inbox || read !== null) {
    const level = await levelOf(pack, stream, stateText)
    if (level === 'changed') add('changed', 'files were changed outside outrigger')
    if (level === 'foreign') add('foreign', 'the files were not written on this machine')
  }
  return findings
}

type Add = (code: FindingCode, message: string, more?: { readonly id?: string; readonly line?: number }) => void

function checkState(pack: Pack, stream: string, text: string, add: Add): void {
  const { config } = pack.deps
  const bytes = pack.deps.files.read(absolute(pack.deps, pathsOf(stream).state))
  if (text.includes('\ufffd') && !isUtf8(bytes)) add('bad-utf8', 'state.md has bytes that are no UTF-8')
  const state = parseState(text)
  if (state === null || state.revision === null) {
    add('state-unreadable', 'state.md is no state; `outrigger pack save` writes it again')
    return
  }
  if (text.length > config.maxChars || estimateTokens(text) > config.maxTokens) {
    add('over-cap', `state.md has ${text.length} characters and about ${estimateTokens(text)} tokens`)
  }
  const read = pack.read(stream)
  if (read === null) return
  const { folded } = read
  if (folded.cursor > state.cursor) {
    add('state-behind', `${folded.cursor - state.cursor} entries came after the last save`)
    return
  }
  const shown = new Set(state.rows.flatMap(row => row.id ?? []))
  const named = namedIn(text)
  for (const line of liveLines(folded) as readonly LiveLine[]) {
    if (!shown.has(line.shownId) && !named(line))
      add('lost-line', `${line.shownId} is live and not in state.md`, { id: line.shownId })
  }
}

/** Lines that the state says it left out. */
function namedIn(text: string): (line: LiveLine) => boolean {
  const rows = text.split('\n').filter(row => row.startsWith('- overflow: ') || row.startsWith('- left out for this goal: '))
  const names = rows.flatMap(row => (row.match(/c\d+(?:~[0-9a-f]+)?(?:\.\d+)?(?:-c\d+)?/g) ?? []).map(rangeOf))
  const exact = new Set(names.flatMap(name => (typeof name === 'string' ? [name] : [])))
  const ranges = names.filter(name => typeof name !== 'string')
  return line =>
    exact.has(line.shownId) || exact.has(line.entry) || ranges.some(([from, to]) => line.number >= from && line.number <= to)
}

function rangeOf(name: string): string | readonly [number, number] {
  const match = /^c(\d+)-c(\d+)$/.exec(name)
  return match === null ? name : [Number(match[1]), Number(match[2])]
}

async function levelOf(pack: Pack, stream: string, stateText: string | null): Promise<string> {
  const store = await pack.deps.store()
  return (await judge(store, stream, pack.read(stream)?.journal ?? null, stateText)).level
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
