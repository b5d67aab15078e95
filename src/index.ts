/**
 * What a program that embeds Outrigger imports: open a project, compose the engines, translate a host's
 * events, read its logs. The command line, the MCP server and the hosts' doors are built on the same.
 */

export * from './errors.ts'
export type { KeelDeps } from './keel/deps.ts'
export { createKeelEngine, type KeelEngineOptions } from './keel/engine.ts'
export type * from './keel/types.ts'
export { type OpenOptions, openProject } from './node/open.ts'
export { systemTimers } from './node/timers.ts'
export type * from './ports/clock.ts'
export type * from './ports/files.ts'
export type * from './ports/git.ts'
export type * from './ports/json.ts'
export type * from './ports/process.ts'
export type * from './ports/store.ts'
export type * from './ports/watcher.ts'
export { operationsOf } from './runtime/operations.ts'
export {
  createOutrigger,
  type Door,
  type Outrigger,
  type OutriggerOptions,
  type StopAnswer,
  uncounted,
} from './runtime/outrigger.ts'
export type * from './runtime/project.ts'
export * from './session/actions.ts'
export { decodeInput } from './session/decode.ts'
export type * from './session/engine.ts'
export type * from './session/events.ts'
export type * from './session/facts.ts'
export { emptyFolded, type Folded, foldEvent } from './session/folded.ts'
export { type Chunks, type Log, type LogFormat, type LogSummary, openLog } from './session/logs/index.ts'
export type * from './session/operation.ts'
