/**
 * What the engine's context lacks of a usual global object; the build puts these in place of the free names. Each is made of functions that were taken
 * before a cell ran, and gives objects of the engine's own realm.
 */
import type { Captured } from './captured.ts'

declare const captured: Captured

class OwnTextEncoder {
  encode(text: string): Uint8Array {
    if (text.length < 4096) {
      const small = new Uint8Array(text.length * 3)
      return small.subarray(0, captured.encodeInto(text, small).written)
    }
    const bytes = new Uint8Array(captured.byteLength(text))
    captured.encodeInto(text, bytes)
    return bytes
  }

  encodeInto(text: string, into: Uint8Array): { readonly read: number; readonly written: number } {
    return captured.encodeInto(text, into)
  }
}

class OwnTextDecoder {
  readonly #fatal: boolean

  constructor(_label = 'utf-8', options: { readonly fatal?: boolean; readonly ignoreBOM?: boolean } = {}) {
    this.#fatal = options.fatal === true
  }

  decode(bytes: Uint8Array): string {
    return this.#fatal ? captured.decodeStrict(bytes) : captured.decodeUtf8(bytes)
  }
}

const OwnBuffer: { isBuffer(value: unknown): boolean; readonly poolSize: number } = {
  isBuffer: (value: unknown): boolean => captured.isBuffer(value),
  poolSize: captured.bufferPoolSize,
}

const ownPerformance: { now(): number } = { now: (): number => captured.now() }

export { OwnBuffer as Buffer, OwnTextDecoder as TextDecoder, OwnTextEncoder as TextEncoder, ownPerformance as performance }
