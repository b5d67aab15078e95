/** What a person typed behind `/pack` and `/unpack`, as a request or as the reason why it is none. Pure. */

export type PackRequest =
  | {
      readonly kind: 'fresh'
      readonly stream: string | null
      readonly review: boolean
      readonly plain: boolean
      readonly goal: string | null
    }
  | { readonly kind: 'save'; readonly stream: string | null; readonly plain: boolean }
  | { readonly kind: 'cancel' | 'continue' | 'status' }
  | { readonly kind: 'auto'; readonly verb: 'on' | 'off' | 'status' }
  | { readonly kind: 'show' | 'diff' | 'list'; readonly args: readonly string[] }
  | { readonly kind: 'load'; readonly stream: string; readonly trust: boolean }
  | { readonly kind: 'wrong'; readonly why: string }

const wrong = (why: string): PackRequest => ({ kind: 'wrong', why })

/** Split at blanks; double quotes group. `null`: a quote is not closed. */
export function splitArguments(text: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quoted = false
  for (const character of text) {
    if (character === '"') {
      quoted = !quoted
      word ??= ''
    } else if (!quoted && /\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + character
  }
  if (quoted) return null
  if (word !== null) words.push(word)
  return words
}

export function parsePack(text: string): PackRequest {
  const words = splitArguments(text)
  if (words === null) return wrong('a quote is not closed')
  const [first, ...rest] = words
  switch (first) {
    case 'save':
      return parseSave(rest)
    case 'for':
      return rest.length === 1 ? { kind: 'fresh', stream: null, review: false, plain: false, goal: rest[0]! } : parseGoal(rest)
    case 'cancel':
    case 'continue':
    case 'status':
      return rest.length === 0 ? { kind: first } : wrong(`${first} takes no arguments`)
    case 'auto': {
      const [verb = 'on'] = rest
      const isKnown = verb === 'on' || verb === 'off' || verb === 'status'
      return isKnown && rest.length <= 1 ? { kind: 'auto', verb } : wrong('auto takes off or status')
    }
    case 'show':
    case 'diff':
    case 'list':
      return { kind: first, args: rest }
    case 'load':
      return wrong('a stream is loaded with /unpack <stream>')
    default:
      return parseFresh(words)
  }
}

/** Words of a goal that were typed without quotes. */
function parseGoal(words: readonly string[]): PackRequest {
  if (words.length === 0) return wrong('for takes a goal: /pack for "the goal"')
  const option = words.find(word => word.startsWith('-'))
  if (option !== undefined) return wrong(`unknown option ${option}; a goal of several words stands in quotes`)
  return { kind: 'fresh', stream: null, review: false, plain: false, goal: words.join(' ') }
}

function parseSave(words: readonly string[]): PackRequest {
  const names = words.filter(word => !word.startsWith('-'))
  const options = words.filter(word => word.startsWith('-'))
  if (options.includes('--review')) return wrong('--review goes with /pack alone')
  const unknown = options.find(option => !['--plain', '--yes', '-y'].includes(option))
  if (unknown !== undefined) return wrong(`unknown option ${unknown}`)
  if (names.length > 1) return wrong('one stream at a time')
  return { kind: 'save', stream: names[0] ?? null, plain: options.includes('--plain') }
}

function parseFresh(words: readonly string[]): PackRequest {
  const names: string[] = []
  const options = new Set<string>()
  let goal: string | null = null
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--for') {
      goal = words[++at] ?? null
      if (goal === null) return wrong('--for takes a goal: --for "the goal"')
    } else if (word.startsWith('-')) {
      if (!['--review', '--plain', '--yes', '-y'].includes(word)) return wrong(`unknown option ${word}`)
      options.add(word === '-y' ? '--yes' : word)
    } else names.push(word)
  }
  if (names.length > 1) return wrong('one stream at a time')
  const review = options.has('--review')
  if (review && options.has('--yes')) return wrong('--review and --yes contradict each other')
  if (review && options.has('--plain')) return wrong('--review and --plain contradict each other')
  return { kind: 'fresh', stream: names[0] ?? null, review, plain: options.has('--plain'), goal }
}

export function parseUnpack(text: string): PackRequest {
  const words = splitArguments(text)
  if (words === null) return wrong('a quote is not closed')
  const names = words.filter(word => !word.startsWith('-'))
  const unknown = words.find(word => word.startsWith('-') && word !== '--trust')
  if (unknown !== undefined) return wrong(`unknown option ${unknown}`)
  if (names.length === 0) return wrong('which stream? /unpack <stream>')
  if (names.length > 1) return wrong('one stream at a time')
  return { kind: 'load', stream: names[0]!, trust: words.includes('--trust') }
}
