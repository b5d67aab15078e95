/** Names that a source offers to others, as far as documents speak of them. */
import { codeLanguage } from '../kinds.ts'

const shortest = 4
const maxNames = 2_000

/** @returns distinct, at least four characters long. */
export function exportedNames(path: string, text: string): readonly string[] {
  const found = new Set<string>()
  for (const name of namesOf(path, text)) {
    if (name.length >= shortest) found.add(name)
    if (found.size >= maxNames) break
  }
  return [...found]
}

const declared =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|const\s+enum|const|let|var|interface|type|enum|namespace)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gmu
const listed = /^export\s+(?:type\s+)?\{([^{}]*)\}(?!\s*from\b)/gm
const patterns = {
  python: /^(?:async[ \t]+def|def|class)[ \t]+([A-Za-z]\w*)/gm,
  go: /^(?:func|type)[ \t]+([A-Z]\w*)/gm,
  rust: /^[ \t]*pub(?:\([^)\n]*\))?[ \t]+(?:unsafe[ \t]+|async[ \t]+|const[ \t]+|extern[ \t]+"[^"\n]*"[ \t]+)*(?:fn|struct|enum|trait|type|const|static|union|mod)[ \t]+(\w+)/gm,
  java: /^[ \t]*public[ \t]+(?:(?:abstract|final|sealed|static|open|data|enum)[ \t]+)*(?:class|interface|enum|record|@interface|object)[ \t]+(\w+)/gm,
  kotlin:
    /^(?:public[ \t]+)?(?:(?:abstract|open|sealed|data|enum|value|annotation)[ \t]+)*(?:class|interface|object)[ \t]+(\w+)/gm,
} as const

function* namesOf(path: string, text: string): Generator<string> {
  const language = codeLanguage(path)
  if (language === null) return
  if (language === 'js') {
    const code = withoutComments(text)
    for (const match of code.matchAll(declared)) yield match[1]!
    for (const match of code.matchAll(listed)) {
      for (const item of match[1]!.split(',')) {
        const name = /([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*$/u.exec(item)?.[1]
        if (name !== undefined && name !== 'default') yield name
      }
    }
    return
  }
  if (language === 'python') {
    const code = text.replace(/("""|''')(?:\\[\s\S]|(?!\1)[\s\S])*(?:\1|$)/g, all => all.replace(/[^\n]+/g, ' '))
    for (const match of code.matchAll(patterns.python)) yield match[1]!
    return
  }
  const pattern = language === 'java' && path.endsWith('.kt') ? patterns.kotlin : patterns[language]
  for (const match of text.matchAll(pattern)) yield match[1]!
}

/** Comments whose lines could look like declarations. */
function withoutComments(text: string): string {
  return text.includes('/*') ? text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, all => all.replace(/[^\n]+/g, ' ')) : text
}
