/**
 * Code symbols as anchors: `Job.run`, `Job.run()`, and `Job.run~2` for the second declaration of that name.
 * The outline names declarations; here they get byte spans and the blanks they are indented by.
 */
import { loadedOutliner, loadOutliner, type SymbolKind } from '../text/outline.ts'
import { createOffsets } from '../text/utf8.ts'
import type { Span } from './types.ts'

export interface NamedSymbol {
  /** Without `~n`. */
  readonly name: string
  /** n-th of that name in file order, from 1. */
  readonly ordinal: number
  readonly kind: SymbolKind
  readonly span: Span
  /** Blanks before the symbol on its first line; empty when something else stands there. */
  readonly indent: Uint8Array
}

export interface SymbolIndex {
  readonly symbols: readonly NamedSymbol[]
  find(anchor: string): NamedSymbol | undefined
  /** All of that name, the n-th at n - 1. */
  named(name: string): readonly NamedSymbol[]
}

/** Load the parser for files like this one; nothing to wait for when it is there or none is needed. */
export async function prepareSymbols(path: string): Promise<void> {
  await loadOutliner(path)
}

/** The anchor that names this symbol. */
export function symbolAnchor(symbol: NamedSymbol): string {
  return symbol.ordinal === 1 ? symbol.name : `${symbol.name}~${symbol.ordinal}`
}

/**
 * Outline a code file.
 *
 * @param text - the decoded bytes, a BOM included.
 * @returns `null` when the parser did not come to an end in its time.
 * @throws Error when `prepareSymbols(path)` was not waited for: a fault of the caller.
 */
export function indexSymbols(bytes: Uint8Array, text: string, path: string): SymbolIndex | null {
  const outliner = loadedOutliner(path)
  if (outliner === undefined) throw new Error(`the outline of ${path} was asked for before prepareSymbols`)
  const outline = outliner(text)
  if (outline === null) return null
  const offsets = createOffsets(text)
  const byName = new Map<string, NamedSymbol[]>()
  const symbols: NamedSymbol[] = []
  for (const { name, kind, start, end } of outline.symbols) {
    const span = { start: offsets.toByte(start), end: offsets.toByte(end) }
    const group = byName.get(name) ?? []
    const symbol = { name, ordinal: group.length + 1, kind, span, indent: indentBefore(bytes, span.start) }
    group.push(symbol)
    byName.set(name, group)
    symbols.push(symbol)
  }
  const named = (name: string) => byName.get(name) ?? []
  return {
    symbols,
    named,
    find(anchor) {
      const [, name, ordinal] = /^(.*?)(?:~([1-9]\d{0,5}))?(?:\(\))?$/su.exec(anchor)!
      return named(name!)[Number(ordinal ?? 1) - 1]
    },
  }
}

function indentBefore(bytes: Uint8Array, start: number): Uint8Array {
  let at = start
  while (at > 0 && (bytes[at - 1] === 0x20 || bytes[at - 1] === 0x09)) at -= 1
  const isFirstOnLine = at === 0 || bytes[at - 1] === 0x0a || bytes[at - 1] === 0x0d
  return isFirstOnLine ? bytes.subarray(at, start) : new Uint8Array(0)
}
