/** Standard input, read whole under a limit. */
import { OutriggerError } from '../errors.ts'
import type { Io } from './io.ts'

/** Room for some 100,000 paths. */
export const maxListBytes: number = 8 * 1024 * 1024

/** Throws `BAD_INPUT` above `maxBytes`. */
export async function bytesOfStdin(io: Pick<Io, 'stdin'>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of io.stdin()) {
    size += chunk.byteLength
    if (size > maxBytes) {
      throw new OutriggerError('BAD_INPUT', `standard input is over ${maxBytes} bytes`, {
        subject: '-',
        hint: `give at most ${Math.floor(maxBytes / 1024 / 1024)} MiB`,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Lines without their ends, or items between NUL bytes (`git diff -z`); empty ones are left out. */
export async function linesOfStdin(io: Pick<Io, 'stdin'>): Promise<readonly string[]> {
  const text = new TextDecoder().decode(await bytesOfStdin(io, maxListBytes))
  return text.split(text.includes('\0') ? '\0' : /\r?\n/).filter(line => line !== '')
}
