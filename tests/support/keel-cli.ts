/** The whole program in this process, on a real repository: what a script or a person sees. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from '../../src/cli/io.ts'
import { type Parts, run } from '../../src/cli/run.ts'
import { answerHook } from '../../src/hook/main.ts'
import { openProject } from '../../src/node/open.ts'
import { operationsOf } from '../../src/runtime/operations.ts'
import { type Repository, repository } from './repository.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that matter
  readonly json: any
}

export interface World extends Repository {
  /** `outrigger …`. */
  run(...args: readonly string[]): Promise<Ran>
  /** `outrigger keel …`. */
  keel(...args: readonly string[]): Promise<Ran>
  /** The same with `--json`. */
  json(...args: readonly string[]): Promise<Ran>
  /** `outrigger hook <event>` with a host's JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the host's form
  hook(event: string, payload?: Readonly<Record<string, unknown>>): Promise<any>
  read(path: string): string
  remove(path: string): void
  cwd: string
  signal: AbortSignal
  /** Hears every piece of standard output as it comes. */
  heard: (text: string) => void
}

const parts: Parts = {
  version: '0.0.0',
  open: openProject,
  operations: async project => operationsOf(project),
  mcp: () => Promise.reject(new Error('not here')),
  hook: (io, options) => answerHook(io, options, { open: openProject }),
  serve: () => Promise.reject(new Error('not here')),
  demo: () => Promise.reject(new Error('not here')),
  repl: () => Promise.reject(new Error('not here')),
}

export function world(files: Readonly<Record<string, string>> = {}): World {
  const repo = repository()
  for (const [path, content] of Object.entries(files)) repo.write(path, content)
  const env = { ...repo.env }
  const start = async (argv: readonly string[], stdin: string | undefined): Promise<Ran> => {
    let out = ''
    let err = ''
    const io: Io = {
      env,
      cwd: made.cwd,
      stdin: async function* () {
        yield new TextEncoder().encode(stdin ?? '')
      },
      isStdinTerminal: stdin === undefined,
      stdout: {
        write(text) {
          out += text
          made.heard(text)
        },
        isTerminal: false,
      },
      stderr: { write: text => void (err += text), isTerminal: false },
      signal: made.signal,
    }
    const code = await run(argv, io, parts)
    return { code, out, err, json: out.startsWith('{') && !out.trimEnd().includes('\n') ? JSON.parse(out) : undefined }
  }
  const made: World = {
    ...repo,
    cwd: repo.root,
    signal: new AbortController().signal,
    heard: () => undefined,
    run: (...args) => start(args, undefined),
    keel: (...args) => start(['keel', ...args], undefined),
    json: (...args) => start(['keel', ...args, '--json'], undefined),
    async hook(event, payload = {}) {
      const given = { session_id: 's1', cwd: repo.root, hook_event_name: event, ...payload }
      const { out, err } = await start(['hook', event], JSON.stringify(given))
      if (err !== '') throw new Error(err)
      return JSON.parse(out)
    },
    read: path => readFileSync(join(repo.root, path), 'utf8'),
    remove: path => rmSync(join(repo.root, path), { recursive: true }),
  }
  return made
}

/** The files of the first examples: a guide, and a quick start that derives from one section of it. */
export const quickStart = {
  'guide.md': '# Guide\n\n## Setup\nrun it\n\n## Use\nuse it\n',
  'docs/quick.md': '---\ntitle: Quick start\nsources:\n  - guide.md#Setup\n---\n# Quick start\nRun it.\n',
} as const
