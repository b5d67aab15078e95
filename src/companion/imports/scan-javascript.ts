/**
 * What a JavaScript or TypeScript file imports, by a scanner that knows comments, strings, templates,
 * regular expressions and JSX. It is no parser: it only has to know what is code, and whether an `import`
 * stands where a statement begins.
 */

/** Specifiers of static imports and re-exports, of `import()` and of `require()` with a literal, in file order. */
export function scanJavaScript(text: string): readonly string[] {
  if (!/\b(?:import|require|from)\b/.test(text)) return []
  return new Scanner(text).scan()
}

const identifierStart = /[\p{ID_Start}$_]/u
/** Letters, digits, `_`, `$` and everything beyond ASCII, by code unit. */
const wordUnits: Uint8Array = Uint8Array.from({ length: 128 }, (_, unit) => (/[\w$]/.test(String.fromCharCode(unit)) ? 1 : 0))
const isWordAt = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 128 || wordUnits[unit] === 1
}
/** After these words a value comes, so `/` begins a regular expression and `<` an element. */
const beforeValue: ReadonlySet<string> = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await default extends'.split(' '),
)
const maxDepth = 400

class Scanner {
  readonly #text: string
  #at = 0
  /** Braces, parentheses and brackets that are open. */
  #depth = 0
  #isStatementStart = true
  /** A value ended here: `/` divides. */
  #afterValue = false
  /** The last code sign was a dot: a word behind it is a name of something else's. */
  #afterDot = false
  readonly #found: string[] = []
  #nested = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): readonly string[] {
    if (this.#text.startsWith('#!')) this.#toLineEnd()
    this.#code(null)
    return this.#found
  }

  /** Code up to a closing brace that does not belong to it, or the end. */
  #code(close: '}' | null): void {
    const text = this.#text
    const outer = this.#depth
    if (++this.#nested > maxDepth) {
      this.#at = text.length
      return
    }
    while (this.#at < text.length) {
      const char = text[this.#at]!
      const next = text[this.#at + 1]
      if (char === '\n' || char === '\r') {
        this.#at++
        if (this.#afterValue) this.#isStatementStart = true
      } else if (char === ' ' || char === '\t') this.#at++
      else if (char === '/' && next === '/') this.#toLineEnd()
      else if (char === '/' && next === '*') this.#skipTo('*/')
      else if (char === '"' || char === "'") {
        this.#string(char)
        this.#value()
      } else if (char === '`') {
        this.#template()
        this.#value()
      } else if (char === '/' && !this.#afterValue) {
        this.#regex()
        this.#value()
      } else if (char === '<' && !this.#afterValue && this.#beginsElement()) {
        this.#element()
        this.#value()
      } else if (isWordAt(text, this.#at) || char === '#' || char === '@') this.#word()
      else {
        if (char === '}' && close === '}' && this.#depth === outer) break
        this.#sign(char)
      }
    }
    this.#nested--
  }

  #value(): void {
    this.#afterValue = true
    this.#isStatementStart = false
    this.#afterDot = false
  }

  #sign(char: string): void {
    this.#at++
    this.#afterDot = char === '.'
    if (char === '{' || char === '(' || char === '[') this.#depth++
    if (char === '}' || char === ')' || char === ']') this.#depth = Math.max(0, this.#depth - 1)
    this.#isStatementStart = char === ';' || char === '{' || char === '}'
    // Behind `}` a statement begins more often than a division.
    this.#afterValue = char === ')' || char === ']'
    if ((char === '+' || char === '-') && this.#text[this.#at] === char) this.#at++
  }

  #word(): void {
    const text = this.#text
    const start = this.#at
    this.#at++
    while (this.#at < text.length && isWordAt(text, this.#at)) this.#at++
    const word = text.slice(start, this.#at)
    const isName = this.#afterDot
    const isStart = this.#isStatementStart
    this.#value()
    if (isName) return
    if (word === 'import') this.#import(isStart)
    else if (word === 'export' && isStart && this.#depth === 0) this.#export()
    else if (word === 'require') this.#call()
    else if (beforeValue.has(word)) this.#afterValue = false
  }

  #import(isStart: boolean): void {
    const back = this.#at
    this.#blanks()
    const char = this.#text[this.#at]
    if (char === '(') {
      this.#at = back
      this.#call()
      return
    }
    if (char === '.' || !isStart || this.#depth > 0) {
      this.#at = back
      return
    }
    if (char === '"' || char === "'") {
      this.#specifier()
      return
    }
    this.#clause(back)
  }

  /** `export * from`, `export { … } from`; anything else is read on as code. */
  #export(): void {
    const back = this.#at
    this.#blanks()
    const rest = this.#text.slice(this.#at, this.#at + 6)
    const char = rest[0]
    if (char === '*' || char === '{' || /^type[\s{*]/.test(rest)) this.#clause(back)
    else {
      this.#at = back
      this.#afterValue = false
    }
  }

  /** Names, braces and `as` up to `from '…'`, or `= require('…')`; what does not look so is no import. */
  #clause(back: number): void {
    const text = this.#text
    while (this.#at < text.length) {
      this.#blanks()
      const char = text[this.#at]
      if (char === undefined) break
      if (char === '{' || char === '}' || char === ',' || char === '*') {
        this.#at++
        continue
      }
      if (char === '"' || char === "'") {
        // A name in quotes, as in `{ 'a b' as c }`.
        this.#string(char)
        continue
      }
      if (char === '=') {
        this.#at++
        return
      }
      if (!identifierStart.test(char)) break
      const start = this.#at
      while (this.#at < text.length && isWordAt(text, this.#at)) this.#at++
      if (text.slice(start, this.#at) !== 'from') continue
      this.#blanks()
      const quote = text[this.#at]
      if (quote === '"' || quote === "'") {
        this.#specifier()
        return
      }
    }
    this.#at = back
    this.#afterValue = false
  }

  /** `import('…')`, `require('…')`. */
  #call(): void {
    const back = this.#at
    this.#blanks()
    if (this.#text[this.#at] === '(') {
      this.#at++
      this.#blanks()
      const quote = this.#text[this.#at]
      if (quote === '"' || quote === "'" || quote === '`') {
        const start = this.#at + 1
        if (quote === '`') this.#plainTemplate()
        else this.#string(quote)
        const specifier = this.#text.slice(start, this.#at - 1)
        this.#blanks()
        const end = this.#text[this.#at]
        if ((end === ')' || end === ',') && !specifier.includes('${')) this.#found.push(specifier)
      }
    }
    this.#at = back
  }

  #plainTemplate(): void {
    const end = this.#text.indexOf('`', this.#at + 1)
    this.#at = end === -1 ? this.#text.length : end + 1
  }

  #specifier(): void {
    const start = this.#at + 1
    this.#string(this.#text[this.#at]!)
    this.#found.push(this.#text.slice(start, this.#at - 1))
    this.#value()
  }

  /** Behind the closing quote. A string ends with its line. */
  #string(quote: string): void {
    const text = this.#text
    let at = this.#at + 1
    while (at < text.length) {
      const char = text[at]!
      if (char === '\\') at += 2
      else if (char === quote) {
        this.#at = at + 1
        return
      } else if (char === '\n') break
      else at++
    }
    this.#at = Math.min(at, text.length)
  }

  #template(): void {
    const text = this.#text
    this.#at++
    while (this.#at < text.length) {
      const char = text[this.#at]!
      if (char === '\\') this.#at += 2
      else if (char === '`') {
        this.#at++
        return
      } else if (char === '$' && text[this.#at + 1] === '{') {
        this.#at += 2
        this.#inner()
      } else this.#at++
    }
  }

  /** Code between braces inside something that is no code. */
  #inner(): void {
    const depth = this.#depth
    this.#depth += 1
    this.#afterValue = false
    this.#isStatementStart = false
    this.#code('}')
    this.#at++
    this.#depth = depth
  }

  #regex(): void {
    const text = this.#text
    let at = this.#at + 1
    let inClass = false
    while (at < text.length) {
      const char = text[at]!
      if (char === '\\') at += 2
      else if (char === '\n') {
        // No regular expression after all.
        this.#at++
        return
      } else {
        if (char === '[') inClass = true
        else if (char === ']') inClass = false
        else if (char === '/' && !inClass) break
        at++
      }
    }
    at++
    while (at < text.length && isWordAt(text, at)) at++
    this.#at = Math.min(at, text.length)
  }

  /** `<Name`, `<>` where a value may stand, and no list of type parameters. */
  #beginsElement(): boolean {
    const rest = this.#text.slice(this.#at + 1, this.#at + 200)
    if (rest.startsWith('>')) return true
    const match = /^[A-Za-z_$][\w$.:-]*(?<after>\s*\/?>|\s+[A-Za-z_${][^\n]?)/.exec(rest)
    if (match === null) return false
    // `<T>(x: T) => …` and `<T extends U>` are type parameters; `<T>value` of old TypeScript reads as an element without an end.
    if (/^[A-Za-z_$][\w$]*\s+extends\b/.test(rest) || /^[A-Za-z_$][\w$]*\s*>\s*\(/.test(rest)) return false
    const name = /^[\w$.:-]+/.exec(rest)![0]
    const isEmpty = /^[^<>]*\/>/.test(rest)
    return isEmpty || this.#text.includes(`</${name}`, this.#at)
  }

  #element(): void {
    const text = this.#text
    if (++this.#nested > maxDepth) {
      this.#at = text.length
      return
    }
    this.#at++
    // The tag with its attributes.
    while (this.#at < text.length && text[this.#at] !== '>') {
      const char = text[this.#at]!
      if (char === '"' || char === "'") this.#skipTo(char, 1)
      else if (char === '{') {
        this.#at++
        this.#inner()
      } else if (char === '/' && text[this.#at + 1] === '>') {
        this.#at += 2
        this.#nested--
        return
      } else this.#at++
    }
    this.#at++
    // What it holds.
    while (this.#at < text.length) {
      const char = text[this.#at]!
      if (char === '{') {
        this.#at++
        this.#inner()
      } else if (char === '<' && text[this.#at + 1] === '/') {
        this.#skipTo('>')
        break
      } else if (char === '<') this.#element()
      else this.#at++
    }
    this.#nested--
  }

  #skipTo(end: string, from = 2): void {
    const at = this.#text.indexOf(end, this.#at + from)
    this.#at = at === -1 ? this.#text.length : at + end.length
  }

  #toLineEnd(): void {
    const at = this.#text.indexOf('\n', this.#at)
    this.#at = at === -1 ? this.#text.length : at
  }

  #blanks(): void {
    const text = this.#text
    while (this.#at < text.length) {
      const char = text[this.#at]!
      if (char === ' ' || char === '\t' || char === '\n' || char === '\r') this.#at++
      else if (char === '/' && text[this.#at + 1] === '/') this.#toLineEnd()
      else if (char === '/' && text[this.#at + 1] === '*') this.#skipTo('*/')
      else return
    }
  }
}

/** The scripts of a single-file component. */
export function scriptsOf(text: string): string {
  const scripts = [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script\s*>/gi)]
  return scripts.map(match => match[1]).join('\n;\n')
}
