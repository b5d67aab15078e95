/**
 * Tool calls as engines want them: canonical name, exit code, what was read and written, and the calls
 * that a program made joined to the outer call. Folded once for all engines.
 */
import type { SessionEvent, ToolFinished } from './events.ts'
import { placeIn } from './place.ts'
import { canonicalTool, isShell, shellExit, touchedBy } from './tools.ts'

/** What sub-calls did before their outer call finished. */
export interface Calls {
  readonly open: ReadonlyMap<string, { readonly read: readonly string[]; readonly written: readonly string[] }>
}

export const noCalls: Calls = { open: new Map() }

/** Outer calls that never finish are forgotten, oldest first. */
const maxOpen = 200

/** Fill in what the host did not say, in our names and paths. The same event again gives the same event. */
export function completeTool(event: ToolFinished): ToolFinished {
  const { exit, read, written, ...rest } = event
  const tool = canonicalTool(event.tool)
  const touched = read === undefined || written === undefined ? touchedBy(tool, event.input) : undefined
  // What an event names is relative to the project; what a tool was given, to the folder it ran in.
  const place = (named: readonly string[] | undefined, given: readonly string[] = []) => [
    ...new Set(named?.map(path => placeIn(event.project, path)) ?? given.map(path => placeIn(event.project, path, event.cwd))),
  ]
  const reads = place(read, touched?.read)
  const writes = place(written, touched?.written)
  return {
    ...rest,
    tool,
    ...(isShell(tool) && { exit: exit === undefined ? shellExit(event.output, event.ok) : exit }),
    ...(reads.length > 0 && { read: reads }),
    ...(writes.length > 0 && { written: writes }),
  }
}

/** Join a call with those made inside it. Give it completed events. */
export function joinCall(calls: Calls, event: ToolFinished): { readonly calls: Calls; readonly event: ToolFinished } {
  if (event.parent !== undefined) return { calls: addToOuter(calls, event.parent, event), event }
  const inside = calls.open.get(event.call)
  if (inside === undefined) return { calls, event }
  const open = new Map(calls.open)
  open.delete(event.call)
  const read = union(inside.read, event.read)
  const written = union(inside.written, event.written)
  return {
    calls: { open },
    event: { ...event, ...(read.length > 0 && { read }), ...(written.length > 0 && { written }) },
  }
}

/** A fresh session has no open calls. */
export function foldCalls(calls: Calls, event: SessionEvent): Calls {
  const isFresh = event.kind === 'session-started' && event.source !== 'compact' && event.agent === undefined
  return isFresh ? noCalls : calls
}

function addToOuter(calls: Calls, outer: string, event: ToolFinished): Calls {
  const before = calls.open.get(outer)
  const open = new Map(calls.open)
  open.set(outer, { read: union(before?.read, event.read), written: union(before?.written, event.written) })
  for (const key of open.keys()) {
    if (open.size <= maxOpen) break
    open.delete(key)
  }
  return { open }
}

const union = (one: readonly string[] = [], other: readonly string[] = []) => [...new Set([...one, ...other])]
