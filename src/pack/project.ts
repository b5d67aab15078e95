/** pack's text side put together: everything that needs no session. */

import { adoptOlder } from './adopt.ts'
import { append, locked } from './append.ts'
import { createContext, type Pack } from './context.ts'
import type { PackDeps } from './deps.ts'
import { diff } from './diff.ts'
import { linesOfEntry } from './entry-lines.ts'
import { absolute, foldersOf, pathsOf, readText } from './files.ts'
import { liveLines } from './fold.ts'
import { savedFacts } from './frontier.ts'
import { isPrivate, placementOf, setPrivate } from './git-exclude.ts'
import { clauseId } from './ids.ts'
import { plainBody, storedBody } from './journal.ts'
import { confirm, load } from './load.ts'
import { checkName, inbox, nameOfTitle } from './names.ts'
import { hasOlder, olderStreams } from './older.ts'
import { judge } from './own.ts'
import { prompt } from './prompt.ts'
import { keepFacts, save } from './save.ts'
import { show } from './show.ts'
import { parseState } from './state-file.ts'
import { take } from './take.ts'
import type { Captured, CapturedClause, ListedStream, PackProject, TakenTrailer } from './types.ts'
import { verify } from './verify.ts'

export function createPack(deps: PackDeps): PackProject {
  const pack = createContext(deps)
  const checked = (name: string): string => (name === inbox ? name : checkName(name, foldersOf(deps)))
  const appendTrailers: PackProject['append'] = async (stream, trailers, known) => {
    checked(stream)
    return locked(deps, stream, async held => {
      // A look at the file, never into it: appending costs the same at any length.
      if (deps.files.stat(absolute(deps, pathsOf(stream).journal)) === undefined) await adoptOlder(pack, held)
      const entries = trailers.map(({ key, body, session, at, flags }) => ({
        time: new Date(at).toISOString(),
        session,
        kind: 'ckpt' as const,
        flags,
        key,
        body,
      }))
      const written = await append(deps, held, entries, known)
      return {
        stream,
        captured: written.map((one, at) => capturedOf(one, trailers[at]!)),
        journal: pathsOf(stream).journal,
        notes: held.store === undefined ? ['lockless'] : [],
      }
    })
  }
  return {
    root: deps.root,
    config: deps.config,
    take: input => take(input, deps.config, deps.clock),
    append: appendTrailers,
    async capture(stream, input) {
      checked(stream)
      const size = deps.files.stat(absolute(deps, pathsOf(stream).journal))?.size ?? 0
      const { trailers, ignored, seam, redacted } = take(input, deps.config, deps.clock, String(size))
      const { captured, journal, notes } = await appendTrailers(stream, trailers)
      return { stream, captured, ignored, seam, redacted, journal, notes }
    },
    save: input => save(pack, input),
    prompt: (stream, goal) => prompt(pack, stream, goal),
    load: input => load(pack, input),
    trust: stream => confirm(pack, stream),
    show: (stream, ids) => show(pack, stream, ids),
    list: () => listOf(pack),
    diff: (stream, from, to) => diff(pack, stream, from, to),
    verify: stream => verify(pack, stream),
    streamOfTitle: title => nameOfTitle(title, slug => hasOlder(deps, slug)),
    checkStream: (name, own) => (own === 'own' && name === inbox ? name : checkName(name, foldersOf(deps))),
    streams: () => [...new Set([...foldersOf(deps), ...olderStreams(deps)])].sort(),
    exists: stream => foldersOf(deps).includes(stream) || hasOlder(deps, stream),
    async outline(stream) {
      const folded = pack.read(stream)?.folded
      if (folded === undefined) return []
      const open = ['next', 'in_progress', 'unknowns']
      return liveLines(folded)
        .filter(line => open.includes(line.section))
        .map(({ shownId, section, text }) => ({ id: shownId, section, text }))
    },
    async filed(stream) {
      const entries = pack.read(stream)?.journal.entries.filter(entry => entry.state !== 'torn') ?? []
      return entries.map(({ key, id, session, body }) => ({ key, id, words: `${session}\0${storedBody(body)}` }))
    },
    placement: () => placementOf(deps),
    setPrivate: on => setPrivate(deps, on),
    isPrivate: () => isPrivate(deps),
    keepFacts: (session, facts) => keepFacts(pack, session, savedFacts(facts)),
  }
}

function capturedOf(
  written: { readonly id: string; readonly key: string; readonly duplicate: boolean },
  trailer: TakenTrailer,
): Captured {
  const clauses = linesOfEntry({ kind: 'ckpt', body: plainBody(trailer.body), state: 'intact' }).map((line): CapturedClause => {
    if (line.kind === 'text') {
      return { id: clauseId(written.id, line.place), keyword: line.keyword ?? '', section: line.section, text: line.text }
    }
    return { id: null, keyword: line.key, section: null, text: line.text }
  })
  return { ...written, clauses }
}

async function listOf(pack: Pack): Promise<{ readonly streams: readonly ListedStream[] }> {
  const { deps } = pack
  const folders = foldersOf(deps)
  const store = await deps.store()
  const streams: ListedStream[] = []
  for (const stream of folders) {
    const text = readText(deps, pathsOf(stream).state)
    const state = text === null ? null : parseState(text)
    const read = pack.read(stream)
    const entries = read?.journal.entries.filter(entry => entry.state !== 'torn') ?? []
    const trust = await judge(store, stream, read?.journal ?? null, text)
    streams.push({
      stream,
      revision: state?.revision ?? 0,
      saved: state?.saved ?? null,
      entries: entries.length,
      unsaved: entries.filter(entry => entry.number > (state?.cursor ?? 0)).length,
      trust: trust.level,
      legacy: false,
    })
  }
  for (const stream of olderStreams(deps)) {
    if (folders.includes(stream)) continue
    streams.push({ stream, revision: 0, saved: null, entries: 0, unsaved: 0, trust: 'foreign', legacy: true })
  }
  return { streams: streams.sort((one, other) => (one.stream < other.stream ? -1 : 1)) }
}
