/**
 * The first words of the command line. A list of its own, so that the overview, suggestions and
 * `version` need not load the table of operations.
 */
import { OutriggerError } from '../errors.ts'

export type Word = {
  readonly word: string
  readonly summary: string
} & (
  | /** Has verbs: `outrigger keel check`. */ { readonly kind: 'group' }
  | /** One operation of the same name. */ { readonly kind: 'operation' }
  | /** Belongs to the program itself. */ {
      readonly kind: 'builtin'
      readonly usage: string
      readonly options: readonly (readonly [string, string])[]
      readonly examples: readonly string[]
      readonly exits: readonly (readonly [number, string])[]
    }
)

export const words: readonly Word[] = [
  { kind: 'group', word: 'keel', summary: 'documents that declare their sources: what moved since they were reviewed' },
  { kind: 'group', word: 'companion', summary: 'the tests, documents and claims that travel with a change' },
  { kind: 'group', word: 'pack', summary: 'notes of a line of work, kept over fresh contexts' },
  { kind: 'group', word: 'next', summary: 'one suggested next step a turn, and a loop that knows when to stop' },
  { kind: 'group', word: 'session', summary: 'a host’s session log as events, and the facts they add up to' },
  { kind: 'operation', word: 'replay', summary: 'what the engines would have asked for in a recorded session' },
  { kind: 'operation', word: 'ledger', summary: 'what the engines did, and why they held back' },
  { kind: 'operation', word: 'init', summary: 'write the configuration, or install into a host' },
  { kind: 'operation', word: 'doctor', summary: 'check this project, its configuration, store and hosts' },
  {
    kind: 'builtin',
    word: 'demo',
    summary: 'a real host runs a scripted session in a throwaway project',
    usage: 'outrigger demo [options]',
    options: [],
    examples: ['outrigger demo', 'outrigger demo --json'],
    exits: [
      [0, 'every part showed what it promises'],
      [1, 'a part did not'],
      [3, 'the host is not installed'],
    ],
  },
  {
    kind: 'builtin',
    word: 'repl',
    summary: 'a TypeScript REPL whose names stay from cell to cell',
    usage: 'outrigger repl [run [FILE|-] | serve | state | history | fork | prune | list] [options]',
    options: [
      ['--session <NAME|DIR>', 'a session of the project by name, or a folder that holds it; default when interactive: default'],
      ['--cwd <DIR>', 'directory of the cells; default the current one'],
      ['--compute-ms <n>', 'how long a cell may compute; default from the configuration'],
      ['--wall-ms <n>', 'how long a cell may take in all'],
      ['--heap-mb <n>', 'limit of the heap'],
      ['--echo <return|last>', 'what gives the value: return, or the last expression too (interactive)'],
      ['--json-lines', 'with serve: one request and one answer a line'],
      ['--limit <n>', 'with history: so many cells; default 100'],
      ['--source', 'with history: their source too'],
      ['--cell <n>', 'with fork: the cell that the new session begins after'],
      ['--to <NAME|DIR>', 'with fork: the new session'],
    ],
    examples: [
      'outrigger repl',
      'echo "return 6 * 7" | outrigger repl run - --session work',
      'outrigger repl serve --session ./session --json-lines',
    ],
    exits: [
      [0, 'fine'],
      [1, 'the cell of `run` failed'],
      [2, 'usage or bad input'],
      [3, 'turned off, or the worker is missing'],
      [4, 'another process has the session'],
    ],
  },
  {
    kind: 'builtin',
    word: 'mcp',
    summary: 'serve the tools to an MCP client over stdin and stdout',
    usage: 'outrigger mcp [--engine E]… [--serve] [options]',
    options: [
      ['--engine <E>', 'only the tools of this engine; may be given again'],
      ['--serve', 'start the engine process of the project too, where none runs'],
    ],
    examples: ['outrigger mcp', 'outrigger mcp --engine keel --project ../docs'],
    exits: [
      [0, 'the client closed stdin'],
      [2, 'usage'],
    ],
  },
  {
    kind: 'builtin',
    word: 'serve',
    summary: 'one process with the engines of a project, for every door that asks',
    usage: 'outrigger serve [--detach | --stop] [options]',
    options: [
      ['--detach', 'use the one that runs, or start one in the background; prints where it listens'],
      ['--stop', 'end the one that runs'],
    ],
    examples: ['outrigger serve --detach', 'outrigger serve --stop --project ../docs'],
    exits: [
      [0, 'it runs, or it ended'],
      [2, 'usage'],
      [3, 'it did not start'],
      [4, 'another one runs already'],
    ],
  },
  {
    kind: 'builtin',
    word: 'hook',
    summary: 'answer one event of a host that runs commands: its JSON on stdin, one JSON on stdout',
    usage: 'outrigger hook <HostEvent> [options]',
    options: [
      ['<HostEvent>', 'SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, FileChanged, Stop or SessionEnd'],
    ],
    examples: ['outrigger hook SessionStart < event.json', 'echo \'{"session_id":"s","cwd":"."}\' | outrigger hook Stop'],
    exits: [[0, 'always, so that the host goes on']],
  },
  {
    kind: 'builtin',
    word: 'version',
    summary: 'the version of this program',
    usage: 'outrigger version [--json]',
    options: [],
    examples: ['outrigger version', 'outrigger version --json'],
    exits: [[0, 'always']],
  },
  {
    kind: 'builtin',
    word: 'help',
    summary: 'this text, or that of an engine or a verb',
    usage: 'outrigger help [engine] [verb]',
    options: [],
    examples: ['outrigger help keel', 'outrigger help keel check'],
    exits: [
      [0, 'fine'],
      [2, 'no such topic'],
    ],
  },
]

export const engines: readonly string[] = ['keel', 'companion', 'repl', 'pack', 'next']

/** The entry of a first word. Throws `CLI_USAGE`. */
export function wordOf(word: string): Word {
  const found = words.find(entry => entry.word === word)
  if (found !== undefined) return found
  throw unknownWord(
    `no command "${word}"`,
    word,
    words.map(entry => entry.word),
    'outrigger',
    'outrigger help',
  )
}

/** An engine named with `--engine`. Throws `CLI_USAGE`. */
export function engineOf(name: string): string {
  if (engines.includes(name)) return name
  throw new OutriggerError('CLI_USAGE', `no engine "${name}"`, {
    subject: name,
    hint: `engines of this version: ${engines.join(', ')}`,
  })
}

/** @param prefix - the command line before the word, for the suggestion. @param help - shows all of them. */
export function unknownWord(
  message: string,
  word: string,
  known: readonly string[],
  prefix: string,
  help: string,
): OutriggerError {
  const near = nearest(word, known)
  const hint = near === undefined ? `\`${help}\` lists them` : `did you mean \`${prefix} ${near}\`?`
  return new OutriggerError('CLI_USAGE', message, { subject: word, hint })
}

/** The word with the fewest typing errors, at most one for three letters of it. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const errors = typingErrors(word.toLowerCase().slice(0, 40), candidate.toLowerCase())
    if (errors < least && errors <= Math.max(1, Math.floor(candidate.length / 3))) {
      best = candidate
      least = errors
    }
  }
  return best
}

/** Letters added, left out, changed, or swapped with their neighbour. */
function typingErrors(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let errors = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (isSwapped) errors = Math.min(errors, before[j - 2]! + 1)
      row.push(errors)
    }
    before = last
    last = row
  }
  return last[to.length]!
}
