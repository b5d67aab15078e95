/** What is open at the end of a source: brackets, templates, strings, comments. A tokenizer of its own, for sources that do not parse. */

export interface Opener {
  /** What would close it. */
  readonly closer: string
  readonly at: number
}

export interface Openers {
  /** Open at the end, outermost first. */
  readonly open: readonly Opener[]
  /** The first closing bracket that closes nothing, or something else; -1: none. */
  readonly spurious: number
  /** Offsets of the characters that are code: not in strings, templates, comments or regular expressions. */
  readonly isCode: (offset: number) => boolean
  readonly endsInLineComment: boolean
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Words after which a slash begins a regular expression. */
const beforeRegExp = /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|await|yield)$/

export function findOpeners(source: string): Openers {
  const stack: Opener[] = []
  const text = new Uint8Array(source.length)
  let spurious = -1
  let endsInLineComment = false
  /** Last character of code that is not white space. */
  let last = ''
  let position = 0

  const skip = (from: number, to: number): void => {
    text.fill(1, from, Math.min(to, source.length))
    position = to
  }
  const readQuoted = (quote: string): void => {
    const start = position
    let end = start + 1
    while (end < source.length && source[end] !== quote && source[end] !== '\n') end += source[end] === '\\' ? 2 : 1
    if (end >= source.length) stack.push({ closer: quote, at: start })
    skip(start, end + 1)
  }
  /** Go on in a template whose opener is on the stack, to its end or to a substitution. */
  const readTemplate = (): void => {
    const start = position
    let end = start
    while (end < source.length && source[end] !== '`' && !(source[end] === '$' && source[end + 1] === '{'))
      end += source[end] === '\\' ? 2 : 1
    if (source[end] === '`') {
      stack.pop()
      skip(start, end + 1)
      last = '`'
    } else if (end < source.length) {
      stack.push({ closer: '}', at: end })
      skip(start, end + 2)
      last = '{'
    } else skip(start, end)
  }
  const readRegExp = (): void => {
    const start = position
    let end = start + 1
    let inClass = false
    while (end < source.length && source[end] !== '\n' && (inClass || source[end] !== '/')) {
      if (source[end] === '[') inClass = true
      if (source[end] === ']') inClass = false
      end += source[end] === '\\' ? 2 : 1
    }
    skip(start, end + 1)
    last = '/'
  }
  const close = (character: string): void => {
    const top = stack.at(-1)
    if (top?.closer === character) {
      stack.pop()
      position++
      if (character === '}' && stack.at(-1)?.closer === '`') readTemplate()
      return
    }
    if (spurious === -1) spurious = position
    position++
  }

  while (position < source.length) {
    const character = source[position]!
    if (character === '/' && source[position + 1] === '/') {
      const end = source.indexOf('\n', position)
      endsInLineComment = end === -1
      skip(position, end === -1 ? source.length : end)
    } else if (character === '/' && source[position + 1] === '*') {
      const end = source.indexOf('*/', position + 2)
      if (end === -1) stack.push({ closer: '*/', at: position })
      skip(position, end === -1 ? source.length : end + 2)
    } else if (character === '"' || character === "'") {
      readQuoted(character)
      last = character
    } else if (character === '`') {
      stack.push({ closer: '`', at: position })
      text[position] = 1
      position++
      readTemplate()
    } else if (
      character === '/' &&
      (last === '' ||
        '(,=:[!&|?{};+-*%~^<>'.includes(last) ||
        beforeRegExp.test(source.slice(Math.max(0, position - 12), position).trimEnd()))
    )
      readRegExp()
    else if (closers[character] !== undefined) {
      stack.push({ closer: closers[character], at: position })
      last = character
      position++
    } else if (character === ')' || character === ']' || character === '}') {
      last = character
      close(character)
    } else {
      if (character.trim() !== '') last = character
      position++
    }
  }
  return { open: stack, spurious, isCode: offset => text[offset] === 0, endsInLineComment }
}
