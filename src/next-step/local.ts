/** Steps that need no model: what the session itself makes obvious. Each rule gives its text; `offer.ts` judges it like a model's. */
import type { Todo, ToolFinished } from '../session/events.ts'
import { clip } from '../text/clip.ts'
import { withoutFences } from './asks.ts'
import { judgeText, type OfferContext } from './offer.ts'
import type { Intent } from './types.ts'

export type LocalRule = 'failing-check' | 'todo' | 'options' | 'unverified'

export interface Candidate {
  readonly rule: LocalRule
  readonly text: string
  readonly intent: Intent
}

/** A command of the turn that ran checks. */
export interface CheckRun {
  readonly command: string
  readonly ok: boolean
  readonly failure: string | null
  /** Its place among the turn's calls. */
  readonly at: number
}

/** What the tools did in a turn. */
export interface TurnWork {
  readonly calls: number
  readonly checks: readonly CheckRun[]
  /** Newest place of each path. */
  readonly written: readonly { readonly path: string; readonly at: number }[]
}

export const noTurnWork: TurnWork = { calls: 0, checks: [], written: [] }

const maxKept = 200
const maxCommand = 4_000

export function foldTool(work: TurnWork, event: ToolFinished): TurnWork {
  const at = work.calls + 1
  const command = commandOf(event)
  const isCheck = command !== null && runsChecks(command)
  const checks = isCheck ? [...work.checks, checkRun(command, event, at)].slice(-maxKept) : work.checks
  const paths = event.written ?? []
  if (paths.length === 0) return { ...work, calls: at, checks }
  const rest = work.written.filter(({ path }) => !paths.includes(path))
  return { calls: at, checks, written: [...rest, ...paths.map(path => ({ path, at }))].slice(-maxKept) }
}

function commandOf({ tool, input }: ToolFinished): string | null {
  if (!/^(?:bash|pwsh|shell)$/i.test(tool) || typeof input !== 'object' || input === null) return null
  const { command } = input as { readonly command?: unknown }
  return typeof command === 'string' ? command.slice(0, maxCommand).replace(/\s+/g, ' ').trim() : null
}

function checkRun(command: string, { exit, ok, output }: ToolFinished, at: number): CheckRun {
  const passed = exit === undefined || exit === null ? ok : exit === 0
  return { command, ok: passed, failure: passed ? null : firstFailure(output), at }
}

/** Alone, or out of a folder of programs. */
const word = (pattern: string) => new RegExp(`(?<![\\w.-])(?<!(?<!bin)/)(?:${pattern})(?![\\w-]|\\.\\w)`)

const runners: readonly RegExp[] = [
  word('(?:npm|pnpm|yarn|bun)(?: run)? (?:t|tests?|check|lint|typecheck|build)'),
  word('vitest|jest|mocha|ava|tsc|eslint|biome|pytest|tox|ruff|mypy|pyright|ctest|rspec|phpunit'),
  word('node(?: --?[\\w=./-]+)* --test'),
  word('python3? -m (?:pytest|unittest)'),
  word('go (?:test|vet|build)'),
  word('cargo (?:test|check|clippy|build|nextest)'),
  /(?<![\w-])(?:mvn|gradle|gradlew)(?= )(?:[^\n]{0,200}?) (?:test|check|verify|build)(?![\w-])/,
  /(?<![\w./-])(?:make|just|task) (?:[^\s;&|]{1,80} ){0,4}[^\s;&|]{0,80}(?:test|check|lint)/,
  word('(?:dotnet|mix|deno|swift) test'),
]

/** Does a command, on one line, run checks? */
export function runsChecks(command: string): boolean {
  const line = command.slice(0, maxCommand)
  return runners.some(runner => runner.test(line))
}

const failures: readonly RegExp[] = [
  /^\s*FAILED\s+(\S[^\n]*)/,
  /^\s*not ok\s+\d+\s*-?\s*(\S[^\n]*)/,
  /^\s*--- FAIL:\s*(\S+)/,
  /^\s*test\s+(\S[^\n]*?)\s+\.\.\.\s+FAILED/,
  /^\s*[✕✖×]\s*(\S[^\n]*)/u,
  /^\s*FAIL\s+(\S[^\n]*)/,
  /^\s*([^\s(]+\(\d+,\d+\)):\s*error/,
  /^\s*([^\s:]+:\d+:\d+)\b[^\n]{0,20}?\berror\b/,
]

/** Name of the first failure in the output of a check; the first pattern that hits anywhere counts. */
export function firstFailure(output: string): string | null {
  const lines = output.split('\n').map(line => line.slice(0, 400))
  for (const pattern of failures) {
    for (const line of lines) {
      const name = pattern.exec(line)?.[1]?.trim()
      if (name !== undefined && name !== '') return name
    }
  }
  return null
}

export interface LocalInput {
  readonly work: TurnWork
  readonly todos: readonly Todo[]
  readonly answer: string
}

/** Usable steps, the first is the one to offer. */
export function candidatesOf(input: LocalInput, context: OfferContext): readonly Candidate[] {
  const candidates: Candidate[] = []
  for (const [rule, texts] of rulesOf(input)) {
    for (const text of texts) {
      const judged = judgeText(text, context)
      if (judged.kind !== 'offer') continue
      candidates.push({ rule, text: judged.text, intent: judged.intent })
      break
    }
  }
  return candidates
}

/** Each rule's text, the whole one before the shorter. */
function rulesOf(input: LocalInput): readonly (readonly [LocalRule, readonly string[]])[] {
  return [
    ['failing-check', failingCheck(input.work)],
    ['todo', todo(input.todos)],
    ['options', option(input.answer)],
    ['unverified', unverified(input.work)],
  ]
}

function failingCheck({ checks }: TurnWork): readonly string[] {
  const failed = checks.findLast(
    check => !check.ok && !checks.some(other => other.ok && other.command === check.command && other.at > check.at),
  )
  if (failed === undefined) return []
  const text = `Fix the failing check "${clip(failed.command, 80, 'utf16', '…')}"`
  return failed.failure === null ? [text] : [`${text} — first failure: ${clip(failed.failure, 100, 'utf16', '…')}`, text]
}

function todo(todos: readonly Todo[]): readonly string[] {
  const item = todos.find(({ state }) => state === 'in_progress') ?? todos.find(({ state }) => state === 'pending')
  const text = item?.text.replace(/\s+/g, ' ').trim() ?? ''
  return text === '' ? [] : [`Continue with: ${clip(text, 160, 'utf16', '…')}`]
}

const optionsHeading =
  /^(?:possible |suggested |recommended |remaining |some )?(?:next steps?|follow[- ]?ups?|remaining (?:work|steps|items|tasks)|what(?:'|’)?s next|what is next|options|still to do|to ?dos?|open items)$/i
const listItem = /^(?:[-*+•]|\d{1,4}[.)])\s+(\S.*)$/
const isDone = (item: string) => /^\[[xX]\]|^~~.*~~$|^[✅✓✔☑]/u.test(item)

function option(answer: string): readonly string[] {
  const lines = withoutFences(answer).slice(-40)
  for (let at = lines.length - 1; at >= 0; at--) {
    const heading = lines[at]!.replace(/^[#>\s*_]+|[\s*_:：?]+$/gu, '')
    if (!optionsHeading.test(heading)) continue
    const items: string[] = []
    for (const line of lines.slice(at + 1)) {
      const item = listItem.exec(line)?.[1]
      if (item !== undefined) items.push(item)
      else if (line !== '' && items.length === 0) break
      else if (line !== '' && !/^[a-z(]/.test(line)) break
    }
    const open = items.filter(item => !isDone(item))
    const chosen = open.find(item => /\(recommended\)/i.test(item)) ?? open[0]
    if (chosen === undefined) continue
    return [
      chosen
        .replace(/\s*[*_]{0,2}\(recommended\)[*_]{0,2}\s*/gi, ' ')
        .replace(/^\[ \]\s*/, '')
        .trim(),
    ]
  }
  return []
}

const isProse = (path: string) => /\.(?:md|txt|rst|adoc)$/i.test(path)

function unverified({ written, checks }: TurnWork): readonly string[] {
  const changed = written.filter(({ path }) => !isProse(path))
  if (changed.length === 0) return []
  const last = Math.max(...changed.map(({ at }) => at))
  if (checks.some(check => check.ok && check.at > last)) return []
  const what = changed.length === 1 ? changed[0]!.path : `the ${changed.length} changed files`
  return [`Run the tests that cover ${what} and fix what fails`]
}
