/** What a cell leaves in the journal. */
import type { Json } from '../ports/json.ts'
import type { Handles } from './handles.ts'
import { type Journal, type NewRecord, sha256 } from './journal.ts'
import type { CellReport } from './kernel.ts'
import { isOwnCall } from './result.ts'
import type { Secrets } from './secrets.ts'
import type { DeclaredName, MaybeBlob, RunOptions, RunResult } from './types.ts'
import type { NameReport } from './worker/protocol.ts'
import type { FixedEntry } from './worker/tape.ts'

/** What a cell's text means; a cell is run again only by a program that knows it. */
export const languageVersion = 1

export interface RecordParts {
  readonly journal: Journal
  readonly secrets: Secrets
  readonly handles: Handles
}

export async function beginRecord(
  { journal, secrets }: RecordParts,
  cell: number,
  code: string,
  options: RunOptions,
): Promise<Extract<NewRecord, { readonly k: 'begin' }>> {
  const { text, uses } = secrets.hide(code)
  return {
    k: 'begin',
    cell,
    parent: journal.state.head,
    source: await journal.part(text, { isMasked: true }),
    ...(uses.length > 0 && { secrets: uses }),
    ...(options.description !== undefined && { description: secrets.mask(options.description) }),
    echo: options.echo ?? 'return',
    language: languageVersion,
    origin: options.origin ?? 'run',
    ...(options.edit !== undefined && {
      edit: { ...options.edit, request: JSON.parse(secrets.mask(JSON.stringify(options.edit.request))) },
    }),
  }
}

/** @param namespaces - that the request offered. */
export async function endRecord(
  { journal, secrets, handles }: RecordParts,
  report: CellReport,
  result: RunResult,
  namespaces: Readonly<Record<string, readonly string[]>>,
): Promise<Extract<NewRecord, { readonly k: 'end' }>> {
  const { done, value } = report
  const isKept = report.loss === undefined && done !== undefined
  const masked = <T>(part: T): T => {
    if (Array.isArray(part) && part.length === 0) return part
    const text = JSON.stringify(part)
    const safe = secrets.mask(text)
    return safe === text ? part : (JSON.parse(safe) as T)
  }
  /** A part that may be empty, masked. */
  const list = async <T extends object>(part: readonly T[]): Promise<MaybeBlob<readonly T[]>> =>
    part.length === 0 ? [] : ((await journal.part(masked(part) as unknown as Json)) as never)
  const hidden = async <T>(part: T | undefined) => {
    if (part === undefined) return undefined
    const { text, uses } = secrets.hide(JSON.stringify(part))
    return { part: (await journal.part(JSON.parse(text) as Json)) as MaybeBlob<T>, uses }
  }
  if (value !== undefined && result.handle !== undefined) handles.keep(result.handle, value)
  const isStored = value !== undefined && result.handle !== undefined && (await secrets.bytes.hide(value))?.places.length === 0
  const tape = isKept ? await hidden(done.tape) : undefined
  const transcript = isKept && report.transcript.length > 0 ? await hidden(report.transcript) : undefined
  const hasUses = (tape?.uses.length ?? 0) > 0 || (transcript?.uses.length ?? 0) > 0
  const names = (list: readonly NameReport[]) => Promise.all(list.map(each => declared(each, journal, secrets)))
  return {
    k: 'end',
    cell: result.cell,
    outcome: result.outcome,
    ...(result.error !== undefined && { error: masked(result.error) }),
    completion: {
      kind: result.valueKind,
      ...(value !== undefined && { hash: sha256(value) }),
      ...(result.preview !== undefined && { preview: masked(result.preview.slice(0, 1_000)) }),
    },
    ...(isStored && (await handles.store(value))),
    names: isKept
      ? { added: await names(done.names.added), changed: await names(done.names.changed), removed: done.names.removed }
      : { added: [], changed: [], removed: [] },
    touch: isKept ? done.touch : [],
    dynamic: isKept ? done.dynamic : false,
    ...(isKept && done.world && { world: true }),
    ...(isKept && done.unfixed.length > 0 && { unfixed: done.unfixed }),
    class: result.durability.class,
    effects: masked(result.durability.effects),
    ...(isKept && done.stamps.length > 0 && { stamps: await list(done.stamps) }),
    ...(tape !== undefined && { tape: tape.part }),
    ...(Object.keys(namespaces).some(name => namespaces[name]!.length > 0) && { namespaces }),
    ...(done?.cwd !== undefined && done.cwd !== '' && { cwd: done.cwd }),
    ...(!isKept && { rolledBack: true }),
    ...(hasUses && {
      secrets: {
        ...(tape !== undefined && tape.uses.length > 0 && { tape: tape.uses }),
        ...(transcript !== undefined && transcript.uses.length > 0 && { transcript: transcript.uses }),
      },
    }),
    calls: await list(report.calls.filter(call => !isOwnCall(call.name))),
    ...(transcript !== undefined && { transcript: transcript.part }),
    warnings: masked(result.warnings),
    rewrites: masked(result.rewrites ?? []),
    logs: await list(result.logs),
    ...(result.logsOmittedBytes !== undefined && { logsOmittedBytes: result.logsOmittedBytes }),
    timing: result.timing,
    ...(result.tip !== undefined && { tip: result.tip.trigger }),
  }
}

async function declared(
  { name, kind, start, end, entry }: NameReport,
  journal: Journal,
  secrets: Secrets,
): Promise<DeclaredName> {
  return {
    name,
    kind,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(entry !== undefined && !holdsSecret(entry, secrets) && { entry: await entryPart(entry, journal) }),
  }
}

async function entryPart(entry: FixedEntry, journal: Journal): Promise<MaybeBlob<FixedEntry>> {
  return (await journal.part(entry as unknown as Json)) as unknown as MaybeBlob<FixedEntry>
}

function holdsSecret(entry: FixedEntry, secrets: Secrets): boolean {
  if (entry.of !== 'primitive') return false
  return secrets.bytes.holds(Buffer.from(entry.value, 'base64'))
}
