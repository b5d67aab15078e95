/** Stamps beside the documents: the stamps file written as a whole, only if it is still what was read. */
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import type { Core } from './core.ts'
import { makeKeelFolder, stampsPath } from './places.ts'
import { parseStampFile, printStampFile, type StampLine } from './stamp-file.ts'
import type { Edge, Entry, Hex12 } from './types.ts'

export interface StampBeside {
  readonly edge: Pick<Edge, 'id' | 'child'>
  readonly entry: Pick<Entry, 'text'>
  readonly stamp: Hex12
}

/** The stamps file's bytes; `null` when there is none, else why it cannot be read. */
export function readStampsFile(files: Files, root: string): Uint8Array | string | null {
  const path = `${root}/${stampsPath}`
  try {
    return files.read(path)
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    if (error.code === 'FILES_MISSING') return null
    return error.code === 'FILES_NOT_FILE' ? 'not a regular file' : 'no permission'
  }
}

/**
 * One line for each of these edges; the other lines stay, several of one edge too: which of them holds
 * is told when that edge is written next.
 *
 * @returns why nothing was written; `null` when it was.
 */
export async function writeStampFile(
  core: Core,
  stamps: readonly StampBeside[],
  remove: ReadonlySet<string> = new Set(),
): Promise<string | null> {
  if (stamps.length === 0 && remove.size === 0) return null
  const { files, root } = core.deps
  const path = `${root}/${stampsPath}`
  const before = readStampsFile(files, root)
  // What cannot be read may hold stamps: nothing is put in its place.
  if (typeof before === 'string') return `the stamps file cannot be read (${before})`
  const fresh = new Map(
    stamps.map(({ edge, entry, stamp }): [string, StampLine] => [
      edge.id,
      { id: edge.id, child: edge.child, text: entry.text, stamp },
    ]),
  )
  const kept = before === null ? [] : parseStampFile(before).lines.filter(line => !fresh.has(line.id) && !remove.has(line.id))
  const settled = settledLines(core, kept)
  try {
    await makeKeelFolder(files, root)
    await files.replace(path, new TextEncoder().encode(printStampFile([...settled, ...fresh.values()])), { expect: before })
    return null
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    return error.code === 'FILES_MOVED' ? 'the stamps file changed meanwhile' : 'the stamps file cannot be written'
  }
}

/** Of several stamps of one edge the one that holds now, when exactly one does. */
function settledLines(core: Core, lines: readonly StampLine[]): readonly StampLine[] {
  const several = new Set([...Map.groupBy(lines, line => line.id)].filter(([, group]) => group.length > 1).map(([id]) => id))
  return lines.filter(line => {
    if (!several.has(line.id)) return true
    const located = core.locate(line.id)
    return located === undefined || located.edge.stamp.kind !== 'hex' || located.edge.stamp.value === line.stamp
  })
}
