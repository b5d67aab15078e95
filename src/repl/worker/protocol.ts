/**
 * What kernel and worker say to each other. A frame is `u32le length · u8 type (0 JSON, 1 bytes) · 16-byte nonce · payload`; the length counts
 * what follows it. The nonce is drawn at the start of the worker and known to kernel and worker only, so that a cell that writes to the descriptor
 * of the channel is found out. A bytes frame belongs to the JSON frame behind it.
 */
import type { NameKind, Rejection, Rewrite, SourcePosition } from '../compile/program.ts'
import type { Echo } from '../types.ts'

export const nonceBytes = 16
/** A value at its limit of 64 MiB, and what stands around it. */
export const maxFrameBytes: number = 80 * 1024 * 1024
const headBytes = 4 + 1 + nonceBytes

export interface BootMessage {
  readonly t: 'boot'
  readonly outputBytes: number
  readonly decorators: 'standard' | 'legacy'
  readonly jsx: 'off' | 'react-jsx'
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
  /** What the text uses from outside: free platform names and modules. */
  readonly uses: { readonly globals: readonly string[]; readonly modules: readonly string[] }
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
  | DoneMessage

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
