/** What a demonstration prints: what happens, what reached the model or the disk, and whether it is what was promised. */

export interface Check {
  readonly text: string
  readonly ok: boolean
}

export interface Narrator {
  /** A headline. */
  part(title: string): void
  /** What happens now, in a sentence or two. */
  tell(text: string): void
  /** Something real, as it is: lines of a request, a file, a program's output. */
  show(what: string, text: string): void
  /** Whether it shows what it promises. The answer is `ok`. */
  check(text: string, ok: boolean): boolean
  readonly checks: readonly Check[]
}

/**
 * @param write - takes whole lines.
 * @param colour - the reader's terminal shows colours.
 */
export function createNarrator(write: (text: string) => void, colour: boolean): Narrator {
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const [bold, dim, red, green, blue, cyan] = [1, 2, 31, 32, 34, 36]
  const checks: Check[] = []
  const painted = (line: string): string => {
    if (/^[+](?![+])/.test(line)) return paint(green, line)
    if (/^-(?![-\s])/.test(line) || /^-\s{2,}/.test(line)) return paint(red, line)
    return line.startsWith('@@') ? paint(cyan, line) : line
  }
  return {
    checks,
    part: title => write(`\n${paint(bold, title)}\n${paint(dim, '─'.repeat(Math.min(title.length, 78)))}\n`),
    tell: text => write(`\n${text}\n`),
    show: (what, text) => {
      write(`\n  ${paint(blue, what)}\n`)
      for (const line of text.replace(/\n+$/, '').split('\n')) write(`  ${paint(dim, '│')} ${painted(line)}\n`)
    },
    check: (text, ok) => {
      checks.push({ text, ok })
      write(`  ${ok ? paint(green, '✓') : paint(red, '✗')} ${text}\n`)
      return ok
    },
  }
}
