/** Names as bytes: each component is one object of its names, so that what they share stays shared. A name with a part that cannot be stored is left out. */
import type { SessionNames } from '../compile/runtime.ts'
import { type Encoded, type EncodeHost, encode, type OpaquePart } from '../values/encode.ts'
import { valueLimits } from '../values/limits.ts'
import type { Realm } from '../values/realm.ts'
import type { Bindings } from './bindings.ts'
import type { Captured } from './captured.ts'
import type { Channel } from './channel.ts'
import type { CheckMessage, ComponentMessage } from './protocol.ts'
import type { References } from './references.ts'
import type { LostReason } from './tape.ts'

declare const captured: Captured

export interface CheckpointParts {
  readonly channel: Channel
  readonly names: SessionNames
  readonly bindings: Bindings
  readonly references: References
  readonly realm: Realm
  readonly host: EncodeHost
  /** Bytes of components that have not been read since they were restored, by name. */
  readonly unread: ReadonlyMap<
    string,
    { readonly names: readonly string[]; readonly hash: string; readonly cells: readonly number[]; readonly bytes: number }
  >
  /** Learn what promises in the value have become; then `done`. */
  settle(value: unknown, done: () => void): void
  /** A cell runs now: nothing is as it was after the last one. */
  isRunning(): boolean
  /** Nothing of a cell can run before the next message. */
  isAlone(): boolean
  /** What has to be known before. */
  prepare(): Promise<void>
}

export interface Checkpoints {
  check(message: CheckMessage): Promise<void>
  /** A cell begins: what is not encoded by now would be of another time. */
  stop(): void
}

interface Made {
  readonly names: readonly string[]
  readonly hash: string | undefined
  readonly bytes: number
  readonly cells: readonly number[]
  /** `undefined`: the bytes are where they were, or there are none. */
  readonly encoded: Uint8Array | undefined
  readonly opaque: readonly Opaque[]
  readonly ms: number
}

const pauseAfterMs = 5

type Opaque = ComponentMessage['opaque'][number]

export function createCheckpoints(parts: CheckpointParts): Checkpoints {
  const { channel, names, bindings, references, realm, host, unread } = parts
  let current: { stopped: boolean } | undefined

  async function check({ n, components, budgetMs, maxComponentBytes }: CheckMessage): Promise<void> {
    const began = captured.now()
    const own = { stopped: parts.isRunning() }
    current = own
    const skipped: number[] = []
    await parts.prepare()
    let paused = captured.now()
    for (const [index, { names: wanted, have }] of components.entries()) {
      if (own.stopped || captured.now() - began > budgetMs) {
        skipped.push(index)
        continue
      }
      if (captured.now() - paused > pauseAfterMs && parts.isAlone()) {
        // Whoever waits can say so.
        await new Promise<void>(resolve => captured.setImmediate(resolve))
        paused = captured.now()
        if (own.stopped) {
          skipped.push(index)
          continue
        }
      }
      const made = make(wanted, maxComponentBytes)
      if (!made.opaque.some(each => each.reason === 'pending-promise')) send(n, index, have, made)
      else {
        // Some of them may have settled.
        await new Promise<void>(resolve => parts.settle(rootOf(wanted), resolve))
        if (own.stopped) skipped.push(index)
        else send(n, index, have, make(wanted, maxComponentBytes))
      }
    }
    channel.send({ t: 'checked', n, skipped, ms: captured.now() - began })
  }

  function rootOf(wanted: readonly string[]): Record<string, unknown> {
    const root = Object.create(null) as Record<string, unknown>
    for (const name of [...wanted].sort()) {
      if (!names.isLoaded(name)) continue
      const bound = names.read(name)
      if (bound === undefined || !names.kinds.has(name)) continue
      root[name] = names.kinds.get(name) === 'import' ? standIn(name, bound.value) : bound.value
    }
    return root
  }

  /** An imported name is stored as where it comes from, whatever it is now. */
  function standIn(name: string, value: unknown): unknown {
    const origin = bindings.imports.get(name)
    if (origin === undefined) return value
    return references.standFor({ of: 'import', shown: `[import ${name}]`, payload: JSON.stringify(origin) })
  }

  function make(wanted: readonly string[], maxBytes: number): Made {
    const began = captured.now()
    const kept = keptOf(wanted)
    if (kept !== undefined) return { ...kept, encoded: undefined, opaque: [], ms: 0 }
    const root = rootOf(wanted)
    const opaque: Opaque[] = []
    const encoded = encodeNames(root, opaque, maxBytes)
    const cells = encoded === undefined ? [] : references.takeCells()
    const hash = encoded === undefined ? undefined : captured.sha256(encoded)
    const ms = captured.now() - began
    return { names: Object.keys(root), hash, bytes: encoded?.length ?? 0, cells, encoded, opaque, ms }
  }

  function send(n: number, index: number, have: string | undefined, { encoded, hash, ...made }: Made): void {
    const sent = encoded !== undefined && hash !== have
    channel.send({ t: 'component', n, index, ...made, ...(hash !== undefined && { hash }), sent }, sent ? encoded : undefined)
  }

  /** Nothing of it was read since it was restored, so it is what it was. */
  function keptOf(wanted: readonly string[]) {
    const [first] = wanted
    const kept = first === undefined ? undefined : unread.get(first)
    if (kept === undefined || wanted.some(name => names.isLoaded(name) || unread.get(name) !== kept)) return undefined
    return kept.names.length === wanted.length ? kept : undefined
  }

  /** Takes names out of `root` until the rest can be stored. */
  function encodeNames(root: Record<string, unknown>, opaque: Opaque[], maxBytes: number): Uint8Array | undefined {
    for (;;) {
      references.takeCells()
      if (Object.keys(root).length === 0) return undefined
      const encoded = attempt(root, maxBytes)
      if (encoded.kind === 'over') {
        dropLarge(root, opaque, maxBytes)
        continue
      }
      if (encoded.opaque.length === 0) return encoded.bytes
      for (const part of encoded.opaque) {
        const name = String(part.path[0])
        if (Object.hasOwn(root, name)) dropPart(root, opaque, name, part)
      }
    }
  }

  function attempt(root: Record<string, unknown>, maxBytes: number): Encoded {
    return encode(root, { realm, host, limits: limits(maxBytes) })
  }

  function dropLarge(root: Record<string, unknown>, opaque: Opaque[], maxBytes: number): void {
    const before = Object.keys(root)
    for (const name of before)
      if (attempt({ [name]: root[name] }, maxBytes).kind === 'over') drop(root, opaque, name, 'too-large', typeof root[name])
    // Only all of them together are too large.
    if (Object.keys(root).length === before.length)
      for (const name of before) drop(root, opaque, name, 'too-large', typeof root[name])
  }

  function dropPart(root: Record<string, unknown>, opaque: Opaque[], name: string, { path, reason, type }: OpaquePart): void {
    delete root[name]
    opaque.push({ name, path: textOfPath(path), reason: reason as LostReason, type })
  }

  function drop(root: Record<string, unknown>, opaque: Opaque[], name: string, reason: LostReason, type: string): void {
    delete root[name]
    opaque.push({ name, path: name, reason, type })
  }

  return {
    check,
    stop: () => {
      if (current !== undefined) current.stopped = true
    },
  }
}

const limits = (maxBytes: number) => ({ ...valueLimits, bytes: Math.min(valueLimits.bytes, maxBytes) })

function textOfPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (text === '') text = step
    else text += step.startsWith('[') ? step : /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  }
  return text
}
