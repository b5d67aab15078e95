/** What keel knows of a project between two looks: the value that sweeps change and the cache keeps. */
import type { FileIdentity } from '../ports/files.ts'
import { createDocumentTable, type DocumentTable } from './documents.ts'
import { readAsFile } from './entry.ts'
import type { Resolution } from './resolve.ts'
import type { AnchorView, Entry, Hex12, ParsedChild, Suggestion, SuspectKey } from './types.ts'
import type { LocalZones } from './zones.ts'

export interface ChildRecord {
  readonly path: string
  readonly identity: FileIdentity
  /** The identity proves the bytes. */
  readonly isSettled: boolean
  /** Of its bytes. */
  readonly id: Hex12
  readonly parsed: ParsedChild
  /** One an entry, in their order. */
  readonly edges: readonly EdgeSlot[]
}

export interface EdgeSlot {
  id: string
  /** The entry is the name of an existing file that ends in what looks like a bad stamp. */
  asFile?: boolean
  /** Normal id of the section, or of the text after frontmatter. */
  readonly scopeId: Hex12
  /** Before a stamp settled what could be meant; `null`: not resolved yet. */
  resolution: Resolution | null
}

export interface TargetRecord {
  readonly path: string
  /** Of the link itself when the path is one; of what it leads to. */
  readonly link: FileIdentity | null
  readonly file: FileIdentity
  readonly isSettled: boolean
  /** Of all bytes; `null` when they cannot be read. */
  readonly raw: Hex12 | null
  /** Why it cannot be read. */
  readonly why: string | null
  /** Per anchor in use. */
  readonly views: Map<string | null, AnchorView>
  /** Where the lines of `<anchor> <stamp>` are now. */
  readonly windows: Map<string, string | null>
  /** The index id by which git vouched for this content. */
  indexId: string | null
}

export interface EdgeMemory {
  /** The last stamp the edge was seen with; stays when the stamp is taken out. */
  readonly stamp: Hex12
  /** The stamp it had at the last boundary. */
  readonly settled: Hex12
}

/** The answer of a search for a gone source or anchor, good while the searched files are the same. */
export interface Search {
  readonly signature: string
  readonly suggest: Suggestion | null
}

export interface Memory {
  documents: DocumentTable
  locals: readonly LocalZones[]
  readonly children: Map<string, ChildRecord>
  readonly targets: Map<string, TargetRecord>
  readonly edges: Map<string, EdgeMemory>
  /** When each live suspect key was first seen, ms. */
  readonly since: Map<SuspectKey, number>
  /** Documents and targets that the last sweep had no time for; the next one starts with them. */
  unfinished: ReadonlySet<string>
  readonly searches: Map<string, Search>
  /** `null`: never. */
  sweptAt: number | null
  baselineBytes: number | null
  /** The last record of a review could not be written into the journal. */
  hasLostRecords: boolean
  /** When each target was last noticed to have moved: a number that only rises, near the time in ms. Sessions compare it with their own last look. */
  readonly moved: Map<string, number>
  /** Worked out from the children, not kept; `null` when one of them changed. */
  uses: Uses | null
}

/** Every file that an edge may mean, with the anchors asked of it. */
export interface Uses {
  readonly targets: ReadonlyMap<string, ReadonlySet<string | null>>
  /** References that lead to no file, or not to one alone: looked up again at each look. */
  readonly hasOpen: boolean
}

/** The entry of an edge as it counts. */
export function entryOf(child: ChildRecord, index: number): Entry | undefined {
  const entry = child.parsed.entries[index]
  return entry !== undefined && child.edges[index]?.asFile === true ? readAsFile(entry) : entry
}

export function emptyMemory(): Memory {
  return {
    documents: createDocumentTable(),
    locals: [],
    children: new Map(),
    targets: new Map(),
    edges: new Map(),
    since: new Map(),
    unfinished: new Set(),
    searches: new Map(),
    sweptAt: null,
    baselineBytes: null,
    hasLostRecords: false,
    moved: new Map(),
    uses: null,
  }
}
