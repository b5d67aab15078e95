/** Test runs in the output of a command: what their runners counted, and whether everything ran. */
import { segmentsOf } from '../../text/checks.ts'

export interface Run {
  readonly runner: 'vitest' | 'jest' | 'node' | 'pytest' | 'cargo' | 'go'
  readonly passed: number
  readonly failed: number
  readonly total: number
  /** Its own words, or what is missing of its output, say that not everything ran. */
  readonly partial: boolean
}

const tail = 64 * 1024
/** What a door puts where it left out the middle. */
const cutMark = /… \d+ bytes left out …/
const colours = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g

type Summary = Omit<Run, 'runner'>

/**
 * @param isReport - a file that somebody vouches for: all of it counts.
 * @returns `null`: no summary of a run is in it.
 */
export function runIn(output: string, isReport = false): Run | null {
  if (!/test|pass|--- /i.test(output)) return null
  const text = (isReport ? output : output.slice(-tail)).replace(colours, '')
  const lines = text.split(/\r\n|\r|\n/)
  const found = readers.flatMap(({ runner, read }) => {
    const summaries = read(lines)
    return summaries.length === 0 ? [] : [{ runner, summaries }]
  })
  const [first] = found
  if (first === undefined) return null
  const isCut = !isReport && (cutMark.test(output) || output.length > tail)
  const { runner, summaries } = first
  const add = (pick: (summary: Summary) => number) => summaries.reduce((sum, each) => sum + pick(each), 0)
  const mayBeWhole = !isCut || (summaries.length === 1 && runner !== 'cargo' && runner !== 'go')
  return {
    runner,
    passed: add(each => each.passed),
    failed: add(each => each.failed),
    total: add(each => each.total),
    partial: !mayBeWhole || found.length > 1 || summaries.some(each => each.partial),
  }
}

const readers: readonly { readonly runner: Run['runner']; readonly read: (lines: readonly string[]) => readonly Summary[] }[] = [
  { runner: 'vitest', read: lines => lines.flatMap(line => vitest(line) ?? []) },
  { runner: 'jest', read: lines => lines.flatMap(line => jest(line) ?? []) },
  { runner: 'node', read: nodeTest },
  { runner: 'pytest', read: lines => lines.flatMap(line => pytest(line) ?? []) },
  { runner: 'cargo', read: lines => lines.flatMap(line => cargo(line) ?? []) },
  { runner: 'go', read: goTest },
]

/** `2 failed`, `30 passed` of a list. */
function amounts(list: string, separator: RegExp): ReadonlyMap<string, number> | null {
  const found = new Map<string, number>()
  for (const item of list.split(separator)) {
    const match = /^\s*(\d{1,9}) ([a-z]+)\s*$/.exec(item)
    if (match === null) return null
    found.set(match[2]!, Number(match[1]))
  }
  return found
}

function vitest(line: string): Summary | null {
  const match = /^\s*Tests {2,}(\S.*) \((\d{1,9})\)\s*$/.exec(line)
  const found = match === null ? null : amounts(match[1]!, /\|/)
  if (found === null) return null
  return { passed: found.get('passed') ?? 0, failed: found.get('failed') ?? 0, total: Number(match![2]), partial: false }
}

function jest(line: string): Summary | null {
  const match = /^Tests:\s+(?:(\S.*), )?(\d{1,9}) total\s*$/.exec(line)
  if (match === null) return null
  const found = match[1] === undefined ? new Map<string, number>() : amounts(match[1], /,/)
  if (found === null) return null
  return { passed: found.get('passed') ?? 0, failed: found.get('failed') ?? 0, total: Number(match[2]), partial: false }
}

function nodeTest(lines: readonly string[]): readonly Summary[] {
  const found: Summary[] = []
  let open: Map<string, number> | null = null
  const close = () => {
    if (open?.has('pass') === true && open.has('fail')) {
      const failed = open.get('fail')! + (open.get('cancelled') ?? 0)
      found.push({ passed: open.get('pass')!, failed, total: open.get('tests')!, partial: false })
    }
    open = null
  }
  for (const line of lines) {
    const match = /^(?:#|ℹ) (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})\s*$/.exec(line)
    if (match === null) continue
    if (match[1] === 'tests') {
      close()
      open = new Map()
    }
    ;(open as Map<string, number> | null)?.set(match[1]!, Number(match[2]))
  }
  close()
  return found
}

const pytestWords: ReadonlySet<string> = new Set(
  'passed failed error errors skipped xfailed xpassed warning warnings deselected rerun'.split(' '),
)

function pytest(line: string): Summary | null {
  const match = /^(?:=+ )?((?:\d{1,9} [a-z]+(?:, )?)+) in \d[\d.]*s(?: \([\d:]+\))?(?: =+)?\s*$/.exec(line)
  const found = match === null ? null : amounts(match[1]!, /,/)
  if (found === null || [...found.keys()].some(word => !pytestWords.has(word))) return null
  const of = (...words: readonly string[]) => words.reduce((sum, word) => sum + (found.get(word) ?? 0), 0)
  return {
    passed: of('passed'),
    failed: of('failed', 'error', 'errors'),
    total: of('passed', 'failed', 'error', 'errors', 'skipped', 'xfailed', 'xpassed'),
    partial: of('deselected') > 0,
  }
}

function cargo(line: string): Summary | null {
  const match =
    /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured; (\d{1,9}) filtered out/.exec(
      line,
    )
  if (match === null) return null
  const [passed, failed, ignored, , filtered] = match.slice(1).map(Number) as [number, number, number, number, number]
  return { passed, failed, total: passed + failed + ignored, partial: filtered > 0 }
}

function goTest(lines: readonly string[]): readonly Summary[] {
  const count = (word: string) => lines.filter(line => line.startsWith(`--- ${word}: `)).length
  const [passed, failed, skipped] = [count('PASS'), count('FAIL'), count('SKIP')]
  const total = passed! + failed! + skipped!
  return total === 0 ? [] : [{ passed: passed!, failed: failed!, total, partial: false }]
}

const prefix = /^(?:npx(?: --?[a-z-]+)*|pnpm exec|yarn exec|bunx|uv run|poetry run|python3? -m|time) /
const runners = [
  /^(?:npm|pnpm|yarn|bun)(?: run)? test(?= |$)/,
  /^npm t(?= |$)/,
  /^vitest(?: run)?(?= |$)/,
  /^jest(?= |$)/,
  /^node --test(?= |$)/,
  /^pytest(?= |$)/,
  /^go test(?= |$)/,
  /^cargo test(?= |$)/,
]
/** Switches that select no tests. */
const plain =
  /^(?:--run|-s|--silent|--ci|--coverage|--no-coverage|--color|--no-color|-v|-vv|-q|--quiet|--verbose|--json|--reporter(?:=| )[\w./:@-]+|--test-reporter(?:=| )[\w./:@-]+|--tb=\w+|-n(?: |=)?\w+|--maxWorkers(?:=| )[\w%]+|--runInBand|-i|--watch=false|--watchAll=false|-race|-count=\d+|\.\/\.\.\.|--workspace|--all|--all-targets|--release|--no-fail-fast|--)(?= |$) ?/
const redirection = /(?:^| )(?:\d|&)?>{1,2}(?:&\d| ?[^\s&|;<>]+)|(?:^| )< ?[^\s&|;<>]+/g

/** Does this command line run every test? */
export function isWholeCommand(command: string, wholeRuns: readonly string[]): boolean {
  if (wholeRuns.some(line => line.trim() === command.trim())) return true
  const kinds = segmentsOf(command.replace(/\d?>&\d/g, ' ')).segments.map(kindOf)
  return kinds.filter(kind => kind === 'whole').length === 1 && !kinds.includes('partial')
}

function kindOf(segment: string): 'whole' | 'partial' | 'other' {
  let rest = segment.replace(redirection, ' ').replace(/\s+/g, ' ').trim()
  for (let match = prefix.exec(rest); match !== null; match = prefix.exec(rest))
    rest = rest.slice(match[0].length).replace(/^(?:[A-Za-z_]\w*=\S*\s+)+/, '')
  const runner = runners.find(each => each.test(rest))
  if (runner === undefined) return 'other'
  rest = rest.replace(runner, '').trimStart()
  while (rest !== '') {
    const match = plain.exec(rest)
    if (match === null) return 'partial'
    rest = rest.slice(match[0].length)
  }
  return 'whole'
}
