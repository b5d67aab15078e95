/**
 * What kernel and worker say to each other. A frame is `u32le length · u8 type (0 JSON, 1 bytes) · 16-byte nonce · payload`; the length counts
 * what follows it. The nonce is drawn at the start of the worker and known to kernel and worker only, so that a cell that writes to the descriptor
 * of the channel is found out. A bytes frame belongs to the JSON frame behind it.
 */
import type { NameKind, Rejection, Rewrite, SourcePosition } from '../compile/program.ts'
import type { Echo, Effect } from '../types.ts'
import type { FixedEntry, LateTape, LostReason, Meanwhile, Stamp, Tape, TranscribedCall } from './tape.ts'

export const nonceBytes = 16
/** A value at its limit of 64 MiB, and what stands around it. */
export const maxFrameBytes: number = 80 * 1024 * 1024
const headBytes = 4 + 1 + nonceBytes

export interface BootMessage {
  readonly t: 'boot'
  readonly outputBytes: number
  readonly decorators: 'standard' | 'legacy'
  readonly jsx: 'off' | 'react-jsx'
  /** Default true. False: clocks, random numbers and timers are not recorded and count as effects of the cell that uses them. */
  readonly record?: boolean
  /** ms since 1970: clocks of cells start there and move only with timers that fire. */
  readonly fixedNow?: number
  /** Random sources of cells derive from it. */
  readonly fixedSeed?: string
  /** Values that must not be stored: a binding that holds one is opaque, with the reason `secret`. */
  readonly secrets?: readonly string[]
  /** Removed when the channel closes and nobody is left to do it. */
  readonly temporaryFolder?: string
}

export interface RunMessage {
  readonly t: 'run'
  readonly cell: number
  readonly source: string
  readonly echo: Echo
  /** Members by namespace; left out when they are the ones of the run before. */
  readonly namespaces?: Readonly<Record<string, readonly string[]>>
  /**
   * Run it as it ran before: sources give what the tape holds, calls are answered from the transcript and none is sent, nothing is printed. `done` tells in
   * `divergence` whether it went another way; comparing outcome and value is the kernel's.
   */
  readonly replay?: {
    readonly tape: Tape
    readonly calls: readonly TranscribedCall[]
    /** Of cells that were run again before; their deliveries come where the tape has them. */
    readonly meanwhile?: readonly Meanwhile[]
  }
}

/** A name to bind from its entry; no code of a cell runs but the literal itself. */
export interface RestoredFixed {
  readonly name: string
  readonly kind: NameKind
  /** That bound it. */
  readonly cell: number
  readonly entry: FixedEntry
}

/** Names that are stored together. Their bytes were sent before, in a `blob` message of this hash. */
export interface RestoredComponent {
  readonly hash: string
  /** A component may be restored in part: only these names are bound. */
  readonly names: readonly { readonly name: string; readonly kind: NameKind; readonly cell: number }[]
}

export interface RestoreMessage {
  readonly t: 'restore'
  readonly n: number
  /** Sources of the cells that entries and components refer to (`cells` of a `component` message, `cell` of an entry). */
  readonly sources: readonly { readonly cell: number; readonly source: string }[]
  /** Bound in this order: oldest first. */
  readonly fixed: readonly RestoredFixed[]
  readonly components: readonly RestoredComponent[]
  /** Names that are gone for good: reading one is a `ReferenceError` with the code `OUT-R003` until it is declared again. Added to the ones before. */
  readonly lost: readonly { readonly name: string; readonly cell: number; readonly reason: LostReason }[]
}

export interface CheckMessage {
  readonly t: 'check'
  readonly n: number
  /** `have`: hash of the newest stored entry of exactly these names; when it is the same again no bytes are sent. */
  readonly components: readonly { readonly names: readonly string[]; readonly have?: string }[]
  /** No component is begun after so many ms, and none may take much longer. */
  readonly budgetMs: number
  readonly maxComponentBytes: number
}

export type ToWorker =
  | BootMessage
  | RunMessage
  | { readonly t: 'settle'; readonly call: number; readonly ok: true; readonly value: unknown }
  | { readonly t: 'settle'; readonly call: number; readonly ok: false; readonly message: string; readonly code?: string }
  /** The cell is over whatever it waits for. */
  | { readonly t: 'abandon'; readonly cell: number }
  | { readonly t: 'ping'; readonly n: number }
  | { readonly t: 'look'; readonly n: number }
  /** Encode components; answered by a `component` message each, in order, and `checked`. Never while a cell runs. */
  | CheckMessage
  /** A cell is waiting: begin no more components of the `check` that goes on. */
  | { readonly t: 'hurry' }
  /** The bytes of a stored component, in the bytes frame before this one; kept for the next `restore`. */
  | { readonly t: 'blob'; readonly hash: string }
  /** Bind names again. Into a worker that ran nothing, or before the replay of cells. */
  | RestoreMessage
  /** Deliveries of cells after their end, replayed between cells in the order of their times; of each cell once. Answered by `lateReplayed`. */
  | { readonly t: 'replayLate'; readonly n: number; readonly late: readonly Meanwhile[] }
  /** Replay is over: timers that replayed cells left are dropped. Answered by `settled`. Sent once, before the first new cell. */
  | { readonly t: 'recovered'; readonly n: number }
  /** Which of these stamps do not hold any more. */
  | { readonly t: 'verify'; readonly n: number; readonly stamps: readonly Stamp[] }
  /** Go to that directory, as `process.chdir` does; answered by `moved`. */
  | { readonly t: 'move'; readonly n: number; readonly cwd: string }
  /** Compile and run nothing. */
  | { readonly t: 'parse'; readonly n: number; readonly source: string }
  | { readonly t: 'end' }

/** What was thrown, looked at without running any of its code. */
export interface Failure {
  readonly code?: string
  readonly name: string
  readonly message: string
  readonly frames: readonly { readonly cell: number; readonly line: number; readonly column: number; readonly name?: string }[]
  /** The topmost place in the cell that is asked for. */
  readonly position?: SourcePosition
  readonly causes?: readonly string[]
  readonly tool?: { readonly name: string; readonly call: number }
}

/** A problem outside of a cell's flow. */
export interface Problem {
  readonly code: 'OUT-W101' | 'OUT-W102' | 'OUT-X002'
  readonly cell: number
  readonly failure: Failure
}

export interface NameReport {
  readonly name: string
  readonly kind: NameKind
  readonly start?: number
  readonly end?: number
  /**
   * What binds the name again without running the cell: its value is a primitive (its bytes at most 64 KiB), a function or class that its range in the
   * source of this cell makes again and that has no state of its own, or an import (`url` is then `node:…` or what it was resolved to).
   */
  readonly entry?: FixedEntry
}

/** A replay that went another way than its recording. */
export interface Divergence {
  /** `effect`: it tried to touch the outside. `call`: another call, other arguments or another order. `source`: asked for more than was recorded. `order`: a delivery that never became possible. */
  readonly why: 'effect' | 'call' | 'source' | 'order'
  readonly detail: string
}

export interface DoneMessage {
  readonly t: 'done'
  readonly cell: number
  readonly outcome: 'ok' | 'threw' | 'rejected' | 'interrupted' | 'abandoned'
  readonly rejection?: Rejection
  /** `link`: an import could not be loaded; nothing of the body ran. */
  readonly phase: 'parse' | 'link' | 'run'
  readonly failure?: Failure
  /** Absent: no value. The bytes are in the frame before. */
  readonly value?: {
    readonly kind: 'json' | 'graph' | 'opaque'
    /** Reported by the last expression, not returned. */
    readonly echoed: boolean
    /** The limit that the value is over; the bytes are then a bounded copy. */
    readonly over?: 'nodes' | 'edges' | 'bytes' | 'bigint digits'
  }
  readonly names: {
    readonly added: readonly NameReport[]
    readonly changed: readonly NameReport[]
    readonly removed: readonly string[]
  }
  readonly touch: readonly string[]
  readonly dynamic: boolean
  /** Writes a property of a platform object or of the global object: its names depend on `#world`. */
  readonly world: boolean
  /** Names of earlier entries of source whose function or class has state of its own by now; sorted. */
  readonly unfixed: readonly string[]
  /** Absent: nothing was recorded. */
  readonly tape?: Tape
  /** Files and variables that were read; whether they are as they were decides whether the cell can be replayed. */
  readonly stamps: readonly Stamp[]
  /** What touched the outside, or cannot be repeated; at most 20, by kind and subject. */
  readonly effects: readonly Effect[]
  /** Live timers, and open handles beside the worker's own, after the cell. */
  readonly pending: { readonly timers: number; readonly handles: number }
  /** Of a replay only; absent: it went the same way as far as the worker can tell. */
  readonly divergence?: Divergence
  readonly rewrites: readonly Rewrite[]
  /** Descriptors on which the end of the cell's output was marked. */
  readonly fences: { readonly stdout: boolean; readonly stderr: boolean }
  readonly cwd: string
  readonly compileMs: number
  readonly computeMs: number
}

export interface SeenBinding {
  readonly name: string
  readonly kind: NameKind
  readonly type: string
  readonly preview: string
}

export type FromWorker =
  | {
      readonly t: 'ready'
      readonly pid: number
      readonly node: string
      readonly v8: string
      readonly icu: string
    }
  | {
      readonly t: 'call'
      readonly cell: number
      readonly call: number
      readonly namespace: string
      readonly member: string
      readonly arguments: readonly unknown[]
    }
  /** `omitted`: bytes left out between `text` and `tail`. `cell` 0: of no cell that is known. */
  | {
      readonly t: 'out'
      readonly cell: number
      readonly stream: 'stdout' | 'stderr'
      readonly text: string
      readonly omitted?: number
      readonly tail?: string
    }
  | ({ readonly t: 'problem' } & Problem)
  /** The run was taken up; a worker that is stuck in an older cell's callback never says so. */
  | { readonly t: 'started'; readonly cell: number }
  /** `activeMs`: time since the cell's start in which the main thread was running. */
  | { readonly t: 'pong'; readonly n: number; readonly activeMs: number; readonly residentMb: number }
  | {
      readonly t: 'look'
      readonly n: number
      readonly bindings: readonly SeenBinding[]
      readonly timers: number
      readonly handles: number
      readonly cwd: string
    }
  | { readonly t: 'parsed'; readonly n: number; readonly rejection?: Rejection }
  /** The first effect of its kind in a cell, when it happens; what is known of a cell whose worker dies. Its `done` (or `late`) tells all. */
  | { readonly t: 'effect'; readonly cell: number; readonly kind: string; readonly subject?: string }
  /** What an ended cell did since the last such message; comes before the `started` of the next cell and before `component` messages. */
  | { readonly t: 'late'; readonly cell: number; readonly tape: LateTape; readonly during?: number }
  /** One component. Bytes, if any, are in the frame before. */
  | ComponentMessage
  /** `skipped`: indices of components that were not begun because the time was over. */
  | { readonly t: 'checked'; readonly n: number; readonly skipped: readonly number[]; readonly ms: number }
  | {
      readonly t: 'restored'
      readonly n: number
      /** Every name that was asked for. `reason` is there when `status` is `lost`. */
      readonly names: readonly {
        readonly name: string
        readonly status: 'exact' | 'replayed' | 'snapshot' | 'lost'
        readonly reason?: LostReason
        readonly detail?: string
      }[]
    }
  /** `diverged`: those of the cells that went another way. */
  | { readonly t: 'lateReplayed'; readonly n: number; readonly diverged: readonly number[] }
  /** `diverged`: cells that went another way after they had ended. */
  | { readonly t: 'settled'; readonly n: number; readonly timersDropped: number; readonly diverged: readonly number[] }
  /** Indices into the stamps of the question. */
  | { readonly t: 'verified'; readonly n: number; readonly changed: readonly number[] }
  | { readonly t: 'moved'; readonly n: number; readonly ok: boolean }
  | DoneMessage

export interface ComponentMessage {
  readonly t: 'component'
  readonly n: number
  readonly index: number
  /** Held by the bytes, sorted: the names that were asked for, without the opaque ones and those that are not bound. */
  readonly names: readonly string[]
  /** SHA-256 of the bytes, hex: equal content has equal bytes. Absent when `names` is empty. */
  readonly hash?: string
  /** Of the encoded form, whether it was sent or not. */
  readonly bytes: number
  /** Whether the bytes were sent: they are not when they are the ones that the parent has. */
  readonly sent: boolean
  /** Cells whose source the bytes refer to, sorted; what `restore` needs. */
  readonly cells: readonly number[]
  /** Names that cannot be stored. `path` leads to the first such part, as a program would write it: `srv.handle[0]`. */
  readonly opaque: readonly { readonly name: string; readonly path: string; readonly reason: LostReason; readonly type: string }[]
  readonly ms: number
}

/** What marks the end of a cell's output on descriptors 1 and 2. */
export function fenceText(nonce: string, cell: number): string {
  return `\u0000outrigger ${nonce} ${cell}\u0000`
}

export function encodeFrame(type: 0 | 1, nonce: Uint8Array, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(headBytes + payload.length)
  new DataView(frame.buffer).setUint32(0, frame.length - 4, true)
  frame[4] = type
  frame.set(nonce, 5)
  frame.set(payload, headBytes)
  return frame
}

export interface Frame {
  readonly type: 0 | 1
  /** Only valid until the reader is given more. */
  readonly payload: Uint8Array
}

/** Bytes that are no frame, or not one of ours. */
export class MalformedFrame extends Error {}

/** Takes a stream of bytes apart into frames. Holds at most one unfinished frame. */
export class FrameReader {
  readonly #maxBytes: number
  #nonce: Uint8Array | undefined
  #held: Uint8Array = new Uint8Array(0)
  #length = 0

  /** @param nonce - left out: the first frame's nonce is the one. */
  constructor(nonce?: Uint8Array, maxBytes: number = maxFrameBytes) {
    this.#nonce = nonce
    this.#maxBytes = maxBytes
  }

  get nonce(): Uint8Array | undefined {
    return this.#nonce
  }

  /** Throws `MalformedFrame`; the reader is of no use after that. */
  *push(chunk: Uint8Array): Generator<Frame, void> {
    let bytes = chunk
    if (this.#length > 0) {
      this.#append(chunk)
      bytes = this.#held.subarray(0, this.#length)
      this.#length = 0
    }
    let at = 0
    while (bytes.length - at >= headBytes) {
      const length = this.#check(bytes, at)
      if (bytes.length - at < length) break
      yield { type: bytes[at + 4] as 0 | 1, payload: bytes.subarray(at + headBytes, at + length) }
      at += length
    }
    // Also too short to be checked whole: a wrong length must not be waited for.
    if (bytes.length - at >= 4) this.#lengthAt(bytes, at)
    if (at < bytes.length) this.#keep(bytes.subarray(at))
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    const length = 4 + bytes[at]! + bytes[at + 1]! * 0x100 + bytes[at + 2]! * 0x10000 + bytes[at + 3]! * 0x1000000
    if (length < headBytes || length > this.#maxBytes) throw new MalformedFrame('length')
    return length
  }

  #check(bytes: Uint8Array, at: number): number {
    const length = this.#lengthAt(bytes, at)
    if (bytes[at + 4]! > 1) throw new MalformedFrame('type')
    this.#nonce ??= bytes.slice(at + 5, at + headBytes)
    for (let i = 0; i < nonceBytes; i++) if (bytes[at + 5 + i] !== this.#nonce[i]) throw new MalformedFrame('nonce')
    return length
  }

  #append(chunk: Uint8Array): void {
    this.#reserve(this.#length + chunk.length)
    this.#held.set(chunk, this.#length)
    this.#length += chunk.length
  }

  #keep(rest: Uint8Array): void {
    // `rest` may lie in the same memory.
    if (rest.buffer === this.#held.buffer)
      this.#held.copyWithin(0, rest.byteOffset - this.#held.byteOffset, rest.byteOffset - this.#held.byteOffset + rest.length)
    else {
      this.#reserve(rest.length)
      this.#held.set(rest)
    }
    this.#length = rest.length
  }

  #reserve(length: number): void {
    if (length <= this.#held.length) return
    const grown = new Uint8Array(Math.max(length, Math.min(this.#held.length * 2, this.#maxBytes), 4096))
    grown.set(this.#held.subarray(0, this.#length))
    this.#held = grown
  }
}
