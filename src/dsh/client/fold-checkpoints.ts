/**
 * Checkpoints of answers as one short line on the page, the whole text at a click. The stored message is untouched.
 *
 * The host renders a comment as a bare text node of the answer. Only the data of that node is changed: a page that owns its nodes
 * sets the data anew when the answer grows, and nothing of its tree moves. What the page shows elsewhere (code, fields) stays.
 */

export interface PageText {
  data: string
  readonly parentElement: { closest(selector: string): unknown } | null
  readonly isConnected: boolean
}

const opening = /^\s*<!-- ckpt(?=\s|-->)/
const keyword =
  /(?:^|[·|;\n])[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?(decision|constraint|learning|definition|rejected|open|assumption|refs?|reasoning|pivot|retire_[a-z]+|restore)s?(?:\*\*)?[ \t]*:/gi
/** Places whose text is not an answer. */
const elsewhere = 'pre, code, textarea, input, [contenteditable], .outrigger-review'
/** An answer that did not grow for so long is whole. */
const settledMs = 2_000

/** The keywords of a checkpoint, each once, in order. */
export function kindsOf(text: string): readonly string[] {
  const body = text.replace(opening, '\n')
  return [...new Set([...body.matchAll(keyword)].map(match => match[1]!.toLowerCase()))]
}

/** What stands for it; `null`: it has no end, so that it may still be written. */
export function folded(text: string): string | null {
  const end = text.indexOf('-->')
  if (end === -1) return null
  const kinds = kindsOf(text.slice(0, end))
  return `\n▸ ckpt${kinds.length === 0 ? '' : `: ${kinds.join(', ')}`}${text.slice(end + 3)}`
}

export interface Folder {
  /** A text node is new, or its data changed. */
  look(node: PageText): void
  /** A person clicked on it. @returns whether it is one of ours. */
  toggle(node: PageText): boolean
}

/** @param wait - calls back after some ms. */
export function createFolder(wait: (ms: number, run: () => void) => void): Folder {
  const known = new WeakMap<PageText, { readonly whole: string; shown: string; isOpen: boolean }>()

  const show = (node: PageText, whole: string, shown: string, isOpen: boolean): void => {
    known.set(node, { whole, shown, isOpen })
    if (node.data !== shown) node.data = shown
  }

  return {
    look(node) {
      const before = known.get(node)
      if (before?.shown === node.data) return
      const whole = node.data
      if (!opening.test(whole) || node.parentElement?.closest(elsewhere) != null) {
        known.delete(node)
        return
      }
      const short = folded(whole)
      if (short !== null) return show(node, whole, short, false)
      // Still being written: nothing of it is shown. What never ends is shown as it is.
      show(node, whole, '', false)
      wait(settledMs, () => {
        const now = known.get(node)
        if (now?.whole === whole && now.shown === '' && node.isConnected) show(node, whole, whole, true)
      })
    },
    toggle(node) {
      const now = known.get(node)
      if (now === undefined || now.shown === now.whole) return false
      const isOpen = !now.isOpen
      show(node, now.whole, isOpen ? `\n▾ ${now.whole.trim()}` : (folded(now.whole) ?? now.whole), isOpen)
      return true
    },
  }
}

/** The page, as far as it is used here. */
export interface FoldingPage {
  readonly body: unknown
  createTreeWalker(root: unknown, what: number): { nextNode(): PageText | null }
  caretPositionFromPoint?(x: number, y: number): { readonly offsetNode: unknown } | null
  caretRangeFromPoint?(x: number, y: number): { readonly startContainer: unknown } | null
  addEventListener(type: 'click', listener: (event: { readonly clientX: number; readonly clientY: number }) => void): void
  removeEventListener(type: 'click', listener: (event: { readonly clientX: number; readonly clientY: number }) => void): void
}

export type Observe = (root: unknown, changed: (nodes: readonly { readonly nodeType: number }[]) => void) => () => void

const textNode = 3
const showText = 4

/** Fold what is there and what comes. @returns ends it. */
export function foldCheckpoints(page: FoldingPage, observe: Observe, wait: (ms: number, run: () => void) => void): () => void {
  const folder = createFolder(wait)
  const lookBelow = (root: unknown): void => {
    const walker = page.createTreeWalker(root, showText)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) folder.look(node)
  }
  const stop = observe(page.body, nodes => {
    for (const node of nodes) {
      if (node.nodeType === textNode) folder.look(node as unknown as PageText)
      else lookBelow(node)
    }
  })
  const onClick = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): void => {
    const at =
      page.caretPositionFromPoint?.(clientX, clientY)?.offsetNode ?? page.caretRangeFromPoint?.(clientX, clientY)?.startContainer
    if ((at as { readonly nodeType?: number } | undefined)?.nodeType === textNode) folder.toggle(at as PageText)
  }
  page.addEventListener('click', onClick)
  lookBelow(page.body)
  return () => {
    stop()
    page.removeEventListener('click', onClick)
  }
}
