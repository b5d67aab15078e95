/** Imports of Python, Java and Kotlin files. */

export interface PythonImport {
  /** Leading dots. */
  readonly up: number
  /** Dotted; may be empty. */
  readonly module: string
  /** Names taken out of it; empty for `import a.b`. */
  readonly names: readonly string[]
}

/** Text inside strings and comments is none. */
export function scanPython(text: string): readonly PythonImport[] {
  if (!/\bimport\b/.test(text)) return []
  const found: PythonImport[] = []
  for (const line of statements(withoutStrings(text))) {
    const from = /^\s*from\s+(\.*)\s*([\w.]*)\s+import\s+(.+)$/s.exec(line)
    if (from !== null) {
      found.push({ up: from[1]!.length, module: from[2]!, names: namesOf(from[3]!) })
      continue
    }
    const plain = /^\s*import\s+(.+)$/s.exec(line)
    if (plain !== null) found.push(...namesOf(plain[1]!).map(module => ({ up: 0, module, names: [] })))
  }
  return found
}

function namesOf(list: string): readonly string[] {
  return list
    .replace(/[()\\]/g, ' ')
    .split(',')
    .map(item => item.trim().split(/\s+/)[0]!)
    .filter(name => /^[\w.]+$/.test(name))
}

/** Strings become blanks, comments go. */
function withoutStrings(text: string): string {
  return text.replace(/("""|''')(?:\\[\s\S]|(?!\1)[\s\S])*(?:\1|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#[^\n]*/g, all =>
    all.startsWith('#') ? '' : '""',
  )
}

/** Lines, those in parentheses or behind a backslash joined. */
function* statements(text: string): Generator<string> {
  let held = ''
  let open = 0
  for (const line of text.split(/\r?\n/)) {
    held = held === '' ? line : `${held} ${line}`
    open = Math.max(0, open + (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0))
    if (line.endsWith('\\')) continue
    if (open > 0 && held.length < 100_000) continue
    yield* held.split(';')
    held = ''
    open = 0
  }
  if (held !== '') yield held
}

/** Dotted names. */
export function scanJava(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"""[\s\S]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?/g, ' ')
  return [...code.matchAll(/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)/gm)].map(match => match[1]!)
}
