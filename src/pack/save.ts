/** A save: fold the journal, hear evidence, hand edits and a model, write the state and what was lost on the way. */
import { OutriggerError } from '../errors.ts'
import type { GitStatus } from '../ports/git.ts'
import type { AgentRef } from '../session/events.ts'
import { adoptOlder } from './adopt.ts'
import { append, cannotWrite, type Held, locked } from './append.ts'
import { type Assembled, type AssembleInput, assemble, type LiveLine } from './assemble.ts'
import { citesOf } from './cites.ts'
import type { Pack } from './context.ts'
import { bodyOfValues } from './entry-lines.ts'
import { type Evidence, evidenceFor } from './evidence.ts'
import { fidelityOf } from './fidelity.ts'
import { absolute, foldersOf, pathsOf, readText, revisionPath, writeText } from './files.ts'
import { type Folded, liveLines } from './fold.ts'
import { agentLines, changedFiles, frontierOf, type SavedFacts, savedFacts } from './frontier.ts'
import { handEdits } from './hand.ts'
import { handoffOf } from './handoff.ts'
import { entryId } from './ids.ts'
import { headerWord, sha, storedBody } from './journal.ts'
import { checkName, inbox } from './names.ts'
import { judge, putTrust, type Trust } from './own.ts'
import { newValues, parseReply, type Reply } from './reply.ts'
import { historyOf } from './revisions.ts'
import { parseState, type StateFile } from './state-file.ts'
import { blockedText, statusText } from './status-file.ts'
import { freshKey, redactedOf } from './take.ts'
import { degradedNotes, type EntryKind, type Redacted, type SaveDocument, type SaveInput, type SaveNote } from './types.ts'

const gitMs = 2_000

export async function save(pack: Pack, input: SaveInput): Promise<SaveDocument> {
  const { deps } = pack
  const { stream } = input
  if (stream !== inbox) checkName(stream, foldersOf(deps))
  const facts = input.facts === undefined ? await storedFacts(pack, input.session) : input.facts && savedFacts(input.facts)
  const status = await deps.git.status(deps.root, gitMs)
  const reply = input.designation?.kind === 'reply' ? parseReply(input.designation.text) : undefined
  try {
    return await locked(deps, stream, held => writeSave(pack, { ...input, held, facts, status, reply }))
  } catch (error) {
    if (error instanceof OutriggerError && error.code.startsWith('FILES_')) throw cannotWrite(stream, error)
    throw error
  }
}

interface Work extends Omit<SaveInput, 'facts'> {
  readonly held: Held
  readonly facts: SavedFacts | null
  readonly status: GitStatus
  readonly reply: Reply | undefined
}

async function writeSave(pack: Pack, work: Work): Promise<SaveDocument> {
  const { deps } = pack
  const { stream, held } = work
  const paths = pathsOf(stream)
  const notes = new Set<SaveNote>()
  if (held.store === undefined) notes.add('lockless')
  const oldText = readText(deps, paths.state)
  const revision = revisionOf(pack, stream, oldText)
  if (work.expectRevision !== undefined && work.expectRevision !== revision)
    throw revisionMoved(stream, work.expectRevision, revision)
  const { files: migrated, state: older } = await adoptOlder(pack, held, work.session)
  const old = oldText === null ? older : parseState(oldText)
  if (migrated !== null) notes.add('migrated')
  await append(deps, held, [])

  const before = pack.read(stream)!
  const trust = held.store === undefined ? null : await judge(held.store, stream, before.journal, oldText)
  if (
    oldText !== null &&
    trust !== null &&
    trust.level === 'own' &&
    trust.record?.text !== null &&
    trust.record?.text !== oldText
  ) {
    const edits = handEdits(trust.record!.text!, oldText)
    if (edits.length > 0) {
      await file(pack, work, 'hand', edits)
      notes.add('hand-edited')
    }
  }

  const evidence = await hearCommands(pack, work)
  const designation = await hearModel(pack, work, notes)
  if (held.torn === true) notes.add('torn-tail')

  const { folded } = pack.read(stream)!
  const lines = liveLines(folded) as readonly LiveLine[]
  if (work.status.kind === 'failed') notes.add('git-unknown')
  const assembleInput = inputOf(pack, work, folded, lines, evidence, old, revision + 1)
  const assembled = await assembleOrBlock(pack, stream, assembleInput)
  if (assembled.dropped.length > 0 || assembled.frontierCut) notes.add('cut')
  checkLost(lines, assembled, stream)

  const unchanged = oldText !== null && sameBut(oldText, assembled.text)
  const shownRevision = unchanged ? revision : revision + 1
  const artifacts = [...changedFiles(work.status), ...(work.facts?.written ?? [])].filter(isInside)
  const after = old?.cursor ?? 0
  const isNew = ({ number }: { readonly number: number }): boolean => number > after
  const handoff =
    work.goal === undefined
      ? undefined
      : await handoffOf(pack, assembleInput, work.goal, work.relevant ?? designation.relevant, shownRevision)
  const document: SaveDocument = {
    stream,
    revision: shownRevision,
    unchanged,
    outcome: degradedNotes.some(note => notes.has(note)) ? 'degraded' : 'ok',
    notes: [...notes],
    designation: designation.outcome,
    reason: designation.reason,
    cursor: folded.cursor === 0 ? 'c00' : entryId(folded.cursor),
    state: { path: paths.state, chars: assembled.text.length, tokens: assembled.tokens },
    lines: countsOf(lines, assembled),
    dropped: assembled.dropped,
    shortened: assembled.shortened,
    retired: folded.retired.filter(isNew).map(({ id, key, by, reason }) => ({ id, key, by, reason })),
    rejected: folded.rejected.filter(isNew).map(({ entry, key, token, why }) => ({ entry, key, token, why })),
    unrouted: folded.unrouted.filter(isNew).map(({ id }) => id),
    fidelity: fidelityOf({ lines, assembled, artifacts, due: assembleInput.frontier }),
    migrated,
    ...(handoff !== undefined && { handoff }),
    ...(designation.ignoredKeys.length > 0 && { ignoredKeys: designation.ignoredKeys }),
  }
  if (!unchanged) {
    await writeState(pack, held, trust, oldText, revision, assembled.text)
    const cites = await citesOf(pack, lines)
    await writeText(deps, paths.status, statusText(document, deps.clock.now(), maskedIn(folded, after), cites))
  }
  return document
}

/** What `state.md` says; of one that cannot be read, the next that its history leaves free. */
function revisionOf(pack: Pack, stream: string, text: string | null): number {
  const highest = historyOf(pack.deps, stream).at(-1) ?? 0
  if (text === null) return highest
  return Math.max(parseState(text)?.revision ?? highest + 1, highest)
}

function revisionMoved(stream: string, expected: number, found: number): OutriggerError {
  return new OutriggerError('PACK_REVISION_MOVED', `the notes of "${stream}" are at revision ${found}, not ${expected}`, {
    subject: stream,
    hint: 'read them again, then save',
    exit: 4,
  })
}

/** Write an entry of our own under the lease that is held. */
async function file(pack: Pack, work: Work, kind: EntryKind, values: readonly (readonly [string, string])[]): Promise<void> {
  const { clock } = pack.deps
  const masked = values.map(([key, value]) => [key, pack.mask(value)] as const)
  await append(pack.deps, work.held, [
    {
      time: new Date(clock.now()).toISOString(),
      session: headerWord(work.session),
      kind,
      flags: [],
      key: freshKey(clock, String(pack.read(work.stream)?.journal.bytes ?? 0)),
      body: storedBody(bodyOfValues(kind, masked)),
    },
  ])
}

/** Commands that ran since close open items, or say how they ended. */
async function hearCommands(pack: Pack, work: Work): Promise<ReadonlyMap<string, Evidence>> {
  const heard = new Map<string, Evidence>()
  const commands = work.facts?.commands ?? []
  if (commands.length === 0) return heard
  const done: (readonly [string, string])[] = []
  for (const line of liveLines(pack.read(work.stream)!.folded)) {
    const found = line.section === 'next' ? evidenceFor(line, commands) : undefined
    if (found === undefined) continue
    if (found.exit === 0) done.push(['retire_done', `${line.id} — ran ${found.command}, exit 0`])
    else heard.set(line.id, found)
  }
  if (done.length > 0) await file(pack, work, 'code', done)
  return heard
}

interface Heard {
  readonly outcome: SaveDocument['designation']
  readonly reason: string | null
  readonly relevant: readonly string[]
  readonly ignoredKeys: readonly string[]
}

async function hearModel(pack: Pack, work: Work, notes: Set<SaveNote>): Promise<Heard> {
  const nothing = { relevant: [], ignoredKeys: [] }
  if (work.designation?.kind === 'failed') {
    notes.add('no-model')
    return { outcome: 'failed', reason: work.designation.reason, ...nothing }
  }
  const { reply } = work
  if (reply === undefined) return { outcome: 'off', reason: null, ...nothing }
  switch (reply.kind) {
    case 'blocked':
      notes.add('model-blocked')
      return { outcome: 'blocked', reason: pack.mask(reply.reason), ...nothing }
    case 'unparseable':
      notes.add('model-unparseable')
      return { outcome: 'failed', reason: 'unparseable', ...nothing }
    case 'ok': {
      if (reply.gateMissing) notes.add('gate-missing')
      const values = newValues(reply.values, pack.read(work.stream)!.folded, pack.mask)
      if (values.length > 0) await file(pack, work, 'designation', values)
      return { outcome: 'applied', reason: null, relevant: reply.relevant, ignoredKeys: reply.ignoredKeys }
    }
    default:
      return reply satisfies never
  }
}

function inputOf(
  pack: Pack,
  work: Work,
  folded: Folded,
  lines: readonly LiveLine[],
  evidence: ReadonlyMap<string, Evidence>,
  old: StateFile | null,
  revision: number,
): AssembleInput {
  const { config, clock } = pack.deps
  const session = headerWord(work.session)
  const agents: readonly AgentRef[] | 'timed-out' | null = work.agents ?? work.facts?.agents ?? null
  return {
    stream: work.stream,
    saved: new Date(clock.now()).toISOString(),
    session,
    previousSession:
      (old?.session ?? null) !== null && old!.session !== session ? old!.session! : (old?.previousSession ?? 'none'),
    scalars: folded.scalars,
    cursor: folded.cursor,
    revision,
    frontier: frontierOf(work.status, work.facts, pack.mask),
    agents: agentLines(agents, pack.mask),
    lines,
    markOf: line => {
      if (line.section !== 'next') return ''
      const heard = evidence.get(line.id)
      if (heard !== undefined) return ` [ran: exit ${heard.exit ?? 'unknown'}]`
      return session !== 'none' && line.session !== session ? ' [verify]' : ''
    },
    maxChars: work.maxChars ?? config.maxChars,
    maxTokens: work.maxTokens ?? config.maxTokens,
    lineMax: config.lineMax,
  }
}

async function assembleOrBlock(pack: Pack, stream: string, input: AssembleInput): Promise<Assembled> {
  try {
    return assemble(input)
  } catch (error) {
    // The notes are as they were; the report says why.
    const reason = error instanceof Error ? error.message : String(error)
    await writeText(pack.deps, pathsOf(stream).status, blockedText(stream, pack.deps.clock.now(), reason)).catch(() => {})
    throw error
  }
}

/** A live line is in the text or named as left out; anything else is our fault, and the old state stays. */
function checkLost(lines: readonly LiveLine[], assembled: Assembled, stream: string): void {
  const shown = new Set(parseState(assembled.text)?.rows.map(row => row.id))
  const lost = lines.filter(line => assembled.fates.get(line.id) !== 'dropped' && !shown.has(line.shownId))
  if (lost.length === 0) return
  throw new OutriggerError(
    'PACK_LOST_LINE',
    `the notes of "${stream}" would lose ${lost.length} lines, the first is ${lost[0]!.id}`,
    {
      subject: stream,
      hint: 'nothing was written; report this with the journal',
      exit: 70,
    },
  )
}

/** What was masked in the entries after the last save. */
function maskedIn(folded: Folded, after: number): readonly Redacted[] {
  const counts = new Map<string, number>()
  for (const { entry } of folded.entries) {
    if (entry.number <= after) continue
    for (const [, rule] of entry.body.matchAll(/\[masked:([a-z-]{2,30})\]/g)) counts.set(rule!, (counts.get(rule!) ?? 0) + 1)
  }
  return redactedOf(counts)
}

function sameBut(one: string, other: string): boolean {
  const rest = (text: string): string => text.replace(/^saved: .*$/m, '').replace(/^revision: .*$/m, '')
  return rest(one) === rest(other)
}

function countsOf(lines: readonly LiveLine[], { fates }: Assembled): SaveDocument['lines'] {
  const count = (fate: string): number => lines.filter(line => fates.get(line.id) === fate).length
  const dropped = count('dropped')
  return { live: lines.length, shown: lines.length - dropped, shortened: count('shortened'), dropped }
}

const isInside = (path: string): boolean => !path.startsWith('/') && !/^[A-Za-z]:/.test(path)

/** The old text goes to the history, the new one in its place; both hashes are on record before. */
async function writeState(
  pack: Pack,
  held: Held,
  trust: Trust | null,
  oldText: string | null,
  revision: number,
  text: string,
): Promise<void> {
  const { deps } = pack
  const { stream, store } = held
  if (oldText !== null) {
    await writeText(deps, revisionPath(stream, revision), oldText)
    const kept = historyOf(deps, stream)
    for (const revision of kept.slice(0, Math.max(0, kept.length - deps.config.history))) {
      deps.files.remove(absolute(deps, revisionPath(stream, revision)))
    }
  }
  const record = store !== undefined && trust !== null && trust.level === 'own' ? trust.record : null
  if (store !== undefined && record !== null) await putTrust(store, stream, { ...record, next: sha(text) })
  await writeText(deps, pathsOf(stream).state, text)
  if (store !== undefined && record !== null) await putTrust(store, stream, { ...record, state: sha(text), next: null, text })
}

const factsKey = (session: string): string => `pack/facts/${headerWord(session)}`

async function storedFacts(pack: Pack, session: string | undefined): Promise<SavedFacts | null> {
  if (session === undefined) return null
  try {
    const found = await (await pack.deps.store()).get(factsKey(session))
    return (found?.value as SavedFacts | undefined) ?? null
  } catch {
    return null
  }
}

export async function keepFacts(pack: Pack, session: string, facts: SavedFacts): Promise<void> {
  const store = await pack.deps.store()
  const version = (await store.get(factsKey(session)))?.version ?? 0
  await store.put(factsKey(session), JSON.parse(JSON.stringify(facts)), version, { survives: 'process' })
}
