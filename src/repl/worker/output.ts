/** What cells print: the console, `process.stdout` and `process.stderr`, sent at once so that it is there even if the worker is not any more. */
import type { Captured } from './captured.ts'
import type { Channel } from './channel.ts'
import type { CellContext } from './context.ts'

declare const captured: Captured

/** Kept of a cell's end. */
const tailUnits = 64 * 1024

export function captureOutput(channel: Channel, outputBytes: () => number, of: () => CellContext | undefined): void {
  const send = (stream: 'stdout' | 'stderr', text: string): void => {
    const context = of()
    // What it prints when it is run again was seen then.
    if (context?.recording.isReplay) return
    const cell = context?.cell ?? 0
    const left = outputBytes() - (context?.printedUnits ?? 0)
    if (context !== undefined) context.printedUnits += text.length
    if (text.length <= Math.max(left, 0) + tailUnits) {
      channel.send({ t: 'out', cell, stream, text })
      return
    }
    // The parent keeps the first so many bytes and the last; what neither of them will hold need not travel.
    const head = text.slice(0, Math.max(left, 0))
    const tail = text.slice(-tailUnits)
    const omitted = captured.byteLength(text) - captured.byteLength(head) - captured.byteLength(tail)
    channel.send({ t: 'out', cell, stream, text: head, omitted, tail })
  }
  captured.realm.installConsole(send)
  captured.realm.installStreams((stream, bytes) => send(stream, captured.decodeUtf8(bytes)))
}
