/** The engine's end of the private channel: frames in, frames out at once. */
import type { Captured } from './captured.ts'
import { encodeFrame, FrameReader, type FromWorker, MalformedFrame, type ToWorker } from './protocol.ts'

declare const captured: Captured

const inward = 3
const outward = 4

export interface Channel {
  /** @param bytes - a value that belongs to the message; goes in a frame before it. */
  send(message: FromWorker, bytes?: Uint8Array): void
  /** Lower-case hex, for marks. */
  nonce(): string
}

/** @param take - `bytes` came in the frame before the message. */
export function openChannel(take: (message: ToWorker, bytes: Uint8Array | undefined) => void, end: () => void): Channel {
  const memory = new ArrayBuffer(64 * 1024)
  const reader = new FrameReader()
  let bytes: Uint8Array | undefined
  const receive = (count: number): void => {
    try {
      for (const { type, payload } of reader.push(new Uint8Array(memory, 0, count))) {
        if (type === 1) {
          bytes = payload.slice()
          continue
        }
        const own = bytes
        bytes = undefined
        take(JSON.parse(captured.decodeStrict(payload)) as ToWorker, own)
      }
    } catch (error) {
      // Only a parent that is broken, or a cell that wrote to our descriptor, gets here; neither can be talked to.
      if (error instanceof MalformedFrame || error instanceof SyntaxError) end()
      throw error
    }
  }
  captured.readChannel(inward, memory, receive, end)
  const encoder = new TextEncoder()
  return {
    send: (message, bytes) => {
      const nonce = reader.nonce
      if (nonce === undefined) return
      try {
        if (bytes !== undefined) captured.writeAll(outward, encodeFrame(1, nonce, bytes))
        captured.writeAll(outward, encodeFrame(0, nonce, encoder.encode(JSON.stringify(message))))
      } catch (error) {
        if ((error as { code?: unknown }).code === 'EPIPE') end()
        throw error
      }
    },
    nonce: () => {
      let text = ''
      for (const byte of reader.nonce ?? []) text += byte.toString(16).padStart(2, '0')
      return text
    },
  }
}
