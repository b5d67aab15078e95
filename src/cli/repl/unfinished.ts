/** Whether a cell that is being typed looks as if more will come: an open bracket, template or comment. A guess for the prompt; the compiler decides. */
export function isUnfinished(code: string): boolean {
  const open: string[] = []
  let i = 0
  const closers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
  while (i < code.length) {
    const char = code[i]!
    const inTemplate = open.at(-1) === '`'
    if (inTemplate) {
      if (char === '\\') i++
      else if (char === '`') open.pop()
      else if (char === '$' && code[i + 1] === '{') {
        open.push('${')
        i++
      }
    } else if (char === '/' && code[i + 1] === '/') i = endOf(code, '\n', i + 2)
    else if (char === '/' && code[i + 1] === '*') {
      const end = code.indexOf('*/', i + 2)
      if (end < 0) return true
      i = end + 1
    } else if (char === '"' || char === "'") i = endOfString(code, char, i + 1)
    else if (char === '`' || char === '(' || char === '[' || char === '{') open.push(char)
    else if (char === '}' && open.at(-1) === '${') open.pop()
    else if (closers[char] !== undefined && open.at(-1) === closers[char]) open.pop()
    else if (closers[char] !== undefined) return false
    i++
  }
  return open.length > 0
}

function endOf(code: string, end: string, from: number): number {
  const at = code.indexOf(end, from)
  return at < 0 ? code.length : at
}

/** A string ends on its line. */
function endOfString(code: string, quote: string, from: number): number {
  for (let i = from; i < code.length; i++) {
    if (code[i] === '\\') i++
    else if (code[i] === quote || code[i] === '\n') return i
  }
  return code.length
}
