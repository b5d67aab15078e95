/** The first use of a stream that the older tool began: its files become a journal of ours, and stay. */
import { append, type Held, makeFolder } from './append.ts'
import type { Pack } from './context.ts'
import { bodyOfValues } from './entry-lines.ts'
import { absolute, pathsOf, readText } from './files.ts'
import { entryId } from './ids.ts'
import { encodeEntry, hashOfEntry, headerWord, type NewEntry, preambleOf, sha, storedBody } from './journal.ts'
import { migrated, migrationValues, olderFiles, readOlder, readOlderState } from './older.ts'
import { beginTrust, noteEntries } from './own.ts'
import { parseState, type StateFile } from './state-file.ts'
import { freshKey } from './take.ts'

export interface Adopted {
  /** Files that were read, project-relative; `null`: nothing was to be done. */
  readonly files: readonly string[] | null
  /** The state that was read. */
  readonly state: StateFile | null
}

/** Under the stream's lease. */
export async function adoptOlder(pack: Pack, held: Held, session?: string): Promise<Adopted> {
  const { deps } = pack
  const older = olderFiles(deps, held.stream)
  const paths = pathsOf(held.stream)
  const hasJournal = deps.files.stat(absolute(deps, paths.journal)) !== undefined
  if (hasJournal) return { files: await takeLater(pack, held, older.journal), state: null }
  const ownState = readText(deps, paths.state)
  const state = ownState === null ? (older.state === null ? null : readOlderState(deps, older.state)) : parseState(ownState)
  if (older.journal === null && state === null) return { files: null, state: null }

  const entries = older.journal === null ? [] : readOlder(deps, older.journal).entries.filter(entry => entry.state !== 'torn')
  const rows: { readonly number: number; readonly entry: NewEntry }[] = entries.map(entry => ({
    number: entry.number,
    entry: migrated(entry, pack.mask),
  }))
  const values = state === null ? [] : migrationValues(state, entries)
  if (values.length > 0) {
    rows.push({ number: (entries.at(-1)?.number ?? 0) + 1, entry: migrationEntry(pack, values, session) })
  }
  const encoded = rows.map(({ number, entry }) => encodeEntry(entry, number))
  const read = [older.journal, ownState === null ? older.state : absolute(deps, paths.state)].filter(path => path !== null)
  const isOwn = ownState === null && (await isUntracked(pack, read))
  const head = preambleOf(held.stream)
  await makeFolder(deps, held.stream)
  if (held.store !== undefined && isOwn) {
    await beginTrust(held.store, held.stream, sha(head))
    const batch = rows.map(({ number }, at) => [entryId(number), hashOfEntry(encoded[at]!)] as const)
    if (batch.length > 0) await noteEntries(held.store, held.stream, batch)
  }
  await deps.files.replace(absolute(deps, paths.journal), Buffer.from(head + encoded.join('')), { expect: null, mode: 0o600 })
  return { files: read.map(path => relative(pack, path)), state }
}

/** Entries that the older tool added since. They get new numbers. */
async function takeLater(pack: Pack, held: Held, journal: string | null): Promise<readonly string[] | null> {
  if (journal === null) return null
  const known = new Map(pack.read(held.stream)!.journal.entries.map(entry => [entry.key, entry.id]))
  const fresh = readOlder(pack.deps, journal).entries.filter(entry => entry.state !== 'torn' && !known.has(entry.key))
  if (fresh.length === 0) return null
  await append(
    pack.deps,
    held,
    fresh.map(entry => migrated(entry, pack.mask)),
    known,
  )
  return [relative(pack, journal)]
}

function migrationEntry(pack: Pack, values: readonly (readonly [string, string])[], session: string | undefined): NewEntry {
  const { clock } = pack.deps
  const masked = values.map(([key, value]) => [key, pack.mask(value)] as const)
  return {
    time: new Date(clock.now()).toISOString(),
    session: headerWord(session),
    kind: 'migration',
    flags: [],
    key: freshKey(clock, 'migration'),
    body: storedBody(bodyOfValues('migration', masked)),
  }
}

/** In the person's own tree and not in what others push. */
async function isUntracked(pack: Pack, paths: readonly string[]): Promise<boolean> {
  const entries = await pack.deps.git.indexEntries(pack.deps.root)
  const tracked = new Set(entries?.map(entry => entry.path))
  return paths.every(path => !tracked.has(relative(pack, path)))
}

function relative(pack: Pack, path: string): string {
  const { root } = pack.deps
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}
