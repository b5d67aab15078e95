/** `parse` and `anchors`: what one file declares, and what can be named inside it. */
import type { Caller, Operation } from '../../session/operation.ts'
import { isDocumentPath, listAnchors } from '../anchors.ts'
import { shownStamp } from '../assess.ts'
import { parseChild } from '../child.ts'
import type { KeelDeps } from '../deps.ts'
import { anchorsText, parseText } from '../report/text.ts'
import type { Edge, Entry, EntryStyle, KeelProject, Problem, Span } from '../types.ts'
import { type Answer, absolutePath, decoder, inTurn, isOn, type KeelVerbs, projectPath, unknownFile } from './shared.ts'

export interface FileInput {
  readonly file: string
}

export interface ParseOutput extends Answer {
  readonly file: string
  readonly frontmatter: Span | null
  readonly entries: readonly {
    readonly ref: string
    readonly anchor: string | null
    readonly kind: Entry['kind']
    readonly stamp: Edge['stamp']
    readonly scope: Edge['scope']
    readonly line: number
    readonly column: number
    readonly span: Span
    readonly stampSpan: Span | null
    readonly style: EntryStyle
  }[]
  readonly problems: readonly Problem[]
}

/** A document may be 8 MiB, a file with anchors 16 MiB; more is not opened here. */
const maxBytes = 16 * 1024 * 1024

const input = {
  type: 'object',
  properties: { file: { type: 'string', description: 'the file to look into', minLength: 1, maxLength: 4096 } },
  required: ['file'],
  additionalProperties: false,
} as const

export function parseOperation(verbs: KeelVerbs): Operation<FileInput, ParseOutput> {
  return {
    name: 'keel.parse',
    summary: 'Shows what one document declares, with the places of its entries and stamps.',
    input,
    positional: ['file'],
    readOnly: true,
    decode: decoder<FileInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => parse(keel, deps, given, caller)),
    render: parseText,
    examples: ['outrigger keel parse docs/quick.md', 'outrigger keel parse docs/quick.md --json'],
  }
}

async function parse(keel: KeelProject, deps: KeelDeps, given: FileInput, caller: Caller): Promise<ParseOutput> {
  const { path, bytes } = open(keel, deps, given, caller)
  const { frontmatter, entries, problems } = parseChild(bytes)
  return { on: isOn(keel), file: path, frontmatter, entries: entries.map(entryOf), problems }
}

function entryOf({
  ref,
  anchor,
  kind,
  stamp,
  scope,
  line,
  column,
  span,
  stampSpan,
  style,
}: Entry): ParseOutput['entries'][number] {
  return { ref, anchor, kind, stamp: shownStamp(stamp), scope: scopeOf(scope), line, column, span, stampSpan, style }
}

function scopeOf(scope: Entry['scope']): Edge['scope'] {
  if (scope.type === 'file') return { type: 'file' }
  return { type: 'section', heading: scope.heading, level: scope.level, line: scope.line }
}

export interface AnchorsOutput extends Answer, Awaited<ReturnType<typeof listAnchors>> {
  readonly file: string
}

export function anchorsOperation(verbs: KeelVerbs): Operation<FileInput, AnchorsOutput> {
  return {
    name: 'keel.anchors',
    summary: 'Lists the headings of a document or the symbols of a code file that an entry can name.',
    input,
    positional: ['file'],
    readOnly: true,
    decode: decoder<FileInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => anchors(keel, deps, given, caller)),
    render: anchorsText,
    examples: ['outrigger keel anchors guide.md', 'outrigger keel anchors src/job.ts --json'],
  }
}

async function anchors(keel: KeelProject, deps: KeelDeps, given: FileInput, caller: Caller): Promise<AnchorsOutput> {
  const { path, bytes } = open(keel, deps, given, caller)
  return { on: isOn(keel), file: path, ...(await listAnchors(bytes, path, isDocumentPath(path) ? parseChild(bytes) : null)) }
}

function open(
  keel: KeelProject,
  deps: KeelDeps,
  given: FileInput,
  caller: Caller,
): { readonly path: string; readonly bytes: Uint8Array } {
  const path = projectPath(given.file, keel, deps, caller)
  const absolute = absolutePath(keel, path)
  if (deps.files.stat(absolute)?.kind !== 'file') throw unknownFile(given.file)
  return { path, bytes: deps.files.read(absolute, maxBytes) }
}
