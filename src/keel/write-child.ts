/** The one way keel writes a document: only if its bytes are those that were read, whole or not at all. */
import { OutriggerError } from '../errors.ts'
import type { Core } from './core.ts'
import { blobId } from './forms.ts'
import { absoluteOf } from './places.ts'
import type { Rewritten } from './rewrite.ts'
import type { Hex12 } from './types.ts'

export type ChildWrite =
  | { readonly kind: 'written'; readonly bytes: Uint8Array; readonly before: Uint8Array }
  /** Nothing to do: the bytes are as they would be. */
  | { readonly kind: 'same' }
  | { readonly kind: 'skipped'; readonly why: string }

/** @param id - of the bytes that the plan was made from. */
export async function writeChild(
  core: Core,
  child: string,
  id: Hex12,
  rewrite: (bytes: Uint8Array) => Rewritten,
): Promise<ChildWrite> {
  const { files, root } = core.deps
  const path = absoluteOf(root, child)
  try {
    const stat = files.stat(path)
    if (stat === undefined) return { kind: 'skipped', why: 'it is gone' }
    if ((stat.mode & 0o222) === 0) return { kind: 'skipped', why: 'read-only' }
    if (stat.links > 1) return { kind: 'skipped', why: 'it has more than one hard link' }
    const before = files.read(path)
    if (blobId(before) !== id) return { kind: 'skipped', why: 'it changed meanwhile' }
    const rewritten = rewrite(before)
    if (rewritten.kind === 'refused') return { kind: 'skipped', why: rewritten.why }
    if (Buffer.compare(rewritten.bytes, before) === 0) return { kind: 'same' }
    await files.replace(path, rewritten.bytes, { expect: before })
    return { kind: 'written', bytes: rewritten.bytes, before }
  } catch (error) {
    // What the files port refuses: nothing was written.
    if (error instanceof OutriggerError) return { kind: 'skipped', why: whyNot(error) }
    throw error
  }
}

function whyNot(error: OutriggerError): string {
  switch (error.code) {
    case 'FILES_MOVED':
      return 'it changed meanwhile'
    case 'FILES_MISSING':
      return 'it is gone'
    case 'FILES_UNWRITABLE':
      return `it cannot be written: ${(error.cause as { code?: string } | undefined)?.code ?? error.subject ?? error.code}`
    default:
      return `it cannot be read: ${error.code}`
  }
}
