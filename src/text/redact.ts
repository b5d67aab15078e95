/**
 * The one detector of secrets. What it finds becomes `[masked:<rule>]` before a text is stored, shown or
 * sent. Masking a masked text changes nothing: what is masked already is a wall that no rule looks
 * through, and a rule sees the end of the text at it.
 *
 * Every pattern is linear: runs that could overlap are bounded or begin at a word that they cannot hold.
 */

/** A rule of a configuration file: `prefix` and at least `min` of `[\w-]` behind it, not preceded by `\w`. */
export interface ExtraRule {
  /** `[a-z-]{2,30}` */
  readonly name: string
  /** Literal, 3–40 characters. */
  readonly prefix: string
  /** 8–200. */
  readonly min: number
}

export interface RedactRules {
  /** Exact texts that are left alone. */
  readonly allow?: readonly string[]
  readonly extra?: readonly ExtraRule[]
}

/** A secret, in UTF-16 units of the text. */
export interface Secret {
  readonly rule: string
  readonly start: number
  readonly end: number
}

interface Rule {
  readonly name: string
  readonly pattern: RegExp
  /** Stands in every match; finding that it is not there is much faster than the pattern. */
  readonly needs?: string | RegExp
  /** Only group 1 is the secret. */
  readonly grouped?: boolean
  /** Asked about the secret. */
  readonly holds?: (secret: string) => boolean
}

/** Blocks that are masked whole, whatever stands in them. The one that begins first wins. */
const privateBlock = /<private>[\s\S]*?(?:<\/private>|$)/gi
const pemBlock = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g

const rules: readonly Rule[] = [
  { name: 'jwt', needs: 'eyJ', pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g },
  { name: 'github-token', needs: /gh[pousr]_|github_pat_/, pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/g },
  { name: 'gitlab-token', needs: /gl(?:pat|ptt|dt|rt|cbt)-/, pattern: /(?<!\w)gl(?:pat|ptt|dt|rt|cbt)-[\w-]{20,}/g },
  { name: 'sk-key', needs: 'sk-', pattern: /(?<![\w-])sk-[\w-]{20,}/g, holds: looksLikeSkKey },
  { name: 'aws-key-id', needs: /A(?:KIA|SIA|BIA|CCA)/, pattern: /(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/g },
  { name: 'google-key', needs: 'AIza', pattern: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g },
  { name: 'slack-token', needs: 'xox', pattern: /(?<!\w)xox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  {
    name: 'slack-hook',
    needs: 'https://hooks.slack.com/',
    pattern: /https:\/\/hooks\.slack\.com\/services\/([A-Za-z0-9/]{20,})/g,
    grouped: true,
  },
  { name: 'stripe-key', needs: 'k_', pattern: /(?<!\w)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g },
  {
    name: 'package-token',
    needs: /npm_|pypi-|hf_/,
    pattern: /(?<!\w)(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|hf_[A-Za-z0-9]{30,})/g,
  },
  {
    name: 'url-password',
    needs: '://',
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@]{0,128}:([^\s@/]{1,256})@/gi,
    grouped: true,
  },
  {
    name: 'auth-header',
    needs: /authorization/i,
    pattern: /\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{8,})/gi,
    grouped: true,
  },
  {
    name: 'auth-header',
    needs: /x-api-key/i,
    pattern: /\bx-api-key["']?\s*[:=]\s*["']?([A-Za-z0-9._~+/=-]{12,})/gi,
    grouped: true,
  },
  {
    name: 'assignment',
    needs: /passw|secret|token|_key|-key|apikey|accesskey|privatekey/i,
    pattern:
      /(?<![A-Za-z0-9])[A-Za-z0-9_.-]{0,40}(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*(?::=|=|:)\s*["']?([^\s"',;`]{8,256})/gi,
    grouped: true,
    holds: looksLikeValue,
  },
]

const masked = /\[masked:[a-z-]{2,30}\]/g

/** Rounds after which pieces that still change are left; only texts made for it come near. */
const maxRounds = 16

/** Every secret of the text, in order, none overlapping another. */
export function find(text: string, options: RedactRules = {}): readonly Secret[] {
  if (!couldHold(text, options)) return []
  const secrets: Secret[] = []
  let pieces: Piece[] = []
  let at = 0
  for (const wall of walls(text, options)) {
    if (wall.start < at) continue
    pieces.push({ start: at, end: wall.start })
    at = wall.end
    if (wall.rule !== undefined) secrets.push({ rule: wall.rule, start: wall.start, end: wall.end })
  }
  pieces.push({ start: at, end: text.length })

  for (let round = 0; round < maxRounds && pieces.length > 0; round++) {
    const changed: Piece[] = []
    for (const piece of pieces) changed.push(...split(text, piece, options, secrets))
    pieces = changed
  }
  return secrets.sort((one, other) => one.start - other.start)
}

/** Most texts hold nothing that any rule begins with. */
function couldHold(text: string, { extra = [] }: RedactRules): boolean {
  if (rules.some(rule => couldMatch(text, rule)) || extra.some(({ prefix }) => text.includes(prefix))) return true
  return text.includes('-----BEGIN') || /<private>/i.test(text)
}

/** The text with every secret replaced; by default with `[masked:<rule>]`. */
export function mask(text: string, options: RedactRules = {}, replace: (secret: Secret) => string = defaultMask): string {
  let result = ''
  let at = 0
  for (const secret of find(text, options)) {
    result += text.slice(at, secret.start) + replace(secret)
    at = secret.end
  }
  return at === 0 ? text : result + text.slice(at)
}

const defaultMask = (secret: Secret) => `[masked:${secret.rule}]`

interface Piece {
  readonly start: number
  readonly end: number
}

/** Where no other rule looks: what is masked already, private blocks, keys. In order of their start, the longer first. */
function walls(text: string, options: RedactRules): readonly (Piece & { readonly rule?: string })[] {
  const found: (Piece & { readonly rule?: string })[] = []
  for (const match of text.matchAll(masked)) found.push({ start: match.index, end: match.index + match[0].length })
  for (const match of text.matchAll(privateBlock)) found.push({ ...span(match), rule: 'private' })
  for (const match of text.matchAll(pemBlock)) if (!isAllowed(match[0], options)) found.push({ ...span(match), rule: 'pem-key' })
  return found.sort((one, other) => one.start - other.start || other.end - one.end)
}

const span = (match: RegExpExecArray): Piece => ({ start: match.index, end: match.index + match[0].length })

/** Take the secrets out of a piece. The answer is what is left of it, when something was taken. */
function split(text: string, piece: Piece, options: RedactRules, secrets: Secret[]): readonly Piece[] {
  let pieces: Piece[] = [piece]
  for (const matchesIn of finders(options)) {
    const next: Piece[] = []
    for (const { start, end } of pieces) {
      let at = start
      for (let secret = matchesIn(text.slice(at, end)); secret !== undefined; secret = matchesIn(text.slice(at, end))) {
        secrets.push({ rule: secret.rule, start: at + secret.start, end: at + secret.end })
        next.push({ start: at, end: at + secret.start })
        at += secret.end
      }
      next.push({ start: at, end })
    }
    pieces = next
  }
  return pieces.length === 1 ? [] : pieces.filter(({ start, end }) => end > start)
}

type Finder = (piece: string) => Secret | undefined

function finders(options: RedactRules): readonly Finder[] {
  return [
    ...rules.map(rule => (piece: string) => first(piece, rule, options)),
    ...(options.extra ?? []).map(rule => (piece: string) => firstExtra(piece, rule, options)),
  ]
}

function first(piece: string, rule: Rule, options: RedactRules): Secret | undefined {
  if (!couldMatch(piece, rule)) return undefined
  for (const match of piece.matchAll(rule.pattern)) {
    const secret = rule.grouped === true ? match[1]! : match[0]
    if (isAllowed(secret, options) || rule.holds?.(secret) === false) continue
    const start = rule.grouped === true ? match.index + match[0].lastIndexOf(secret) : match.index
    return { rule: rule.name, start, end: start + secret.length }
  }
  return undefined
}

function couldMatch(piece: string, { needs }: Rule): boolean {
  if (needs === undefined) return true
  return typeof needs === 'string' ? piece.includes(needs) : needs.test(piece)
}

/** Scanned, not compiled: no text of a configuration file becomes a pattern. */
function firstExtra(piece: string, rule: ExtraRule, options: RedactRules): Secret | undefined {
  for (let at = piece.indexOf(rule.prefix); at !== -1; ) {
    let next = at + 1
    if (at === 0 || !isWord(piece.charCodeAt(at - 1))) {
      let end = at + rule.prefix.length
      while (end < piece.length && isWordOrDash(piece.charCodeAt(end))) end++
      const isLong = end - at - rule.prefix.length >= rule.min
      if (isLong && !isAllowed(piece.slice(at, end), options)) return { rule: rule.name, start: at, end }
      if (isLong) next = end
    }
    at = piece.indexOf(rule.prefix, next)
  }
  return undefined
}

const isWord = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isWordOrDash = (code: number) => isWord(code) || code === 45

const placeholders = [/^<[^<>]*>$/, /^\$\{[^}]*\}$/, /^\{\{[\s\S]*\}\}$/, /^%\w+%$/, /^\$\w+$/, /^\*{3,}$/]

function isAllowed(secret: string, options: RedactRules): boolean {
  if (secret.includes('EXAMPLE') || secret.includes('[masked:')) return true
  if (placeholders.some(placeholder => placeholder.test(secret)) || isMonotonous(secret)) return true
  return options.allow?.includes(secret) ?? false
}

/** Its last 12 letters and digits use at most two characters, as in `xxxxxxxx`. */
function isMonotonous(secret: string): boolean {
  const tail = secret.replace(/[^A-Za-z0-9]/g, '').slice(-12)
  return tail.length > 2 && new Set(tail).size <= 2
}

function looksLikeSkKey(secret: string): boolean {
  return /\d/.test(secret) && /[A-Za-z0-9]{12}/.test(secret.slice(3))
}

function looksLikeValue(value: string): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false
  if (/^[A-Za-z_$][\w$.]*\(/.test(value) || /^\.{0,2}\//.test(value)) return false
  if (/^(?:process\.env|os\.environ|env\.)/.test(value)) return false
  if (value.length >= 16) return true
  return [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter(kind => kind.test(value)).length >= 3
}
