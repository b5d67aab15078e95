/**
 * Whether running a cell again would do the same. Judged from what its text names, on the safe side: what is not known to be pure counts as an effect,
 * and so does what uses a name of a cell that was one.
 */
import type { JournalName } from './journal.ts'
import type { CellClass, Effect } from './types.ts'
import type { DoneMessage } from './worker/protocol.ts'

const pureGlobals: ReadonlySet<string> = new Set(
  (
    'Object Array String Number Boolean BigInt Symbol Map Set WeakMap WeakSet Promise Proxy Reflect JSON RegExp Error AggregateError EvalError RangeError ' +
    'ReferenceError SuppressedError SyntaxError TypeError URIError ArrayBuffer SharedArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array ' +
    'Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array Iterator Infinity NaN undefined isFinite isNaN ' +
    'parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape URL URLSearchParams TextEncoder TextDecoder Buffer atob btoa ' +
    'structuredClone queueMicrotask console AbortController AbortSignal Event EventTarget DOMException Function'
  ).split(' '),
)

const pureModules: ReadonlySet<string> = new Set([
  'path',
  'path/posix',
  'path/win32',
  'util',
  'util/types',
  'assert',
  'assert/strict',
  'buffer',
  'url',
  'querystring',
  'string_decoder',
  'punycode',
  'events',
])

/** @param namespaces - of the request; using them is a call, which is recorded. */
export function classOfCell(
  done: DoneMessage | undefined,
  calls: number,
  names: ReadonlyMap<string, JournalName>,
  namespaces: ReadonlySet<string>,
): { readonly class: CellClass; readonly effects: readonly Effect[] } {
  if (done === undefined) return { class: 'effect', effects: [{ kind: 'interrupted', count: 1 }] }
  const effects: Effect[] = []
  const add = (kind: string, subject: string): void => void effects.push({ kind, subject, count: 1 })
  for (const name of done.uses.globals) if (!pureGlobals.has(name) && !namespaces.has(name)) add('unrecorded', name)
  for (const name of done.uses.modules) if (!pureModules.has(name.replace(/^node:/, ''))) add('module', name)
  if (done.dynamic) add('unrecorded', 'dynamic code')
  const own = new Set([...done.names.added, ...done.names.changed].map(each => each.name))
  for (const name of done.touch) if (!own.has(name) && names.get(name)?.class === 'effect') add('name', name)
  if (done.outcome === 'interrupted' || done.outcome === 'abandoned') effects.push({ kind: 'interrupted', count: 1 })
  if (effects.length > 0) return { class: 'effect', effects: effects.slice(0, 20) }
  return { class: calls > 0 ? 'recorded' : 'pure', effects: [] }
}
