/** A run of the command line in this process: fake operations, captured output. */
import type { Io } from '../../../src/cli/io.ts'
import { type Parts, run } from '../../../src/cli/run.ts'
import type { Project } from '../../../src/runtime/project.ts'
import { decodeInput } from '../../../src/session/decode.ts'
import type { AnyOperation, Caller, InputSchema } from '../../../src/session/operation.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface FakeWorld {
  readonly operations: readonly AnyOperation[]
  /** Files written by `--out`, by absolute path. */
  readonly written: Map<string, string>
  readonly opened: { project?: string; cwd: string; door: string }[]
  closed: number
  configLines: readonly string[]
  configError: Error | undefined
}

export function fakeWorld(operations: readonly AnyOperation[]): FakeWorld {
  return { operations, written: new Map(), opened: [], closed: 0, configLines: [], configError: undefined }
}

export function fakeParts(world: FakeWorld): Parts {
  return {
    version: '1.2.3',
    async open(options) {
      const { cwd, project, door } = options
      world.opened.push({ cwd, door, ...(project !== undefined && { project }) })
      return {
        root: '/project',
        door,
        actor: (stated?: string) => ({ kind: 'person', basis: stated === undefined ? 'terminal' : 'stated', name: stated }),
        config: {
          check: (engine?: string) => {
            if (world.configError !== undefined) throw world.configError
            return world.configLines.map(line => `${line} (${engine ?? 'no engine'})`)
          },
        },
        files: {
          replace: async (path: string, bytes: Uint8Array) => void world.written.set(path, new TextDecoder().decode(bytes)),
        },
        close: async () => void world.closed++,
      } as unknown as Project
    },
    operations: async () => world.operations,
    mcp: async (io, options) => {
      io.stdout.write(JSON.stringify({ mcp: options }))
      return 0
    },
    hook: async (io, options) => {
      io.stdout.write(JSON.stringify({ hook: options }))
      return 0
    },
    repl: async (io, command) => {
      io.stdout.write(JSON.stringify({ repl: command }))
      return 0
    },
    serve: () => Promise.reject(new Error('not here')),
    demo: async (io, options) => {
      io.stdout.write(JSON.stringify({ demo: options }))
      return 0
    },
  }
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Record<string, string>
  readonly terminal?: boolean
  readonly signal?: AbortSignal
}

export async function runFake(world: FakeWorld, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const io: Io = {
    env: options.env ?? {},
    cwd: '/project/docs',
    stdin: async function* () {
      yield new TextEncoder().encode(options.stdin ?? '')
    },
    isStdinTerminal: options.stdin === undefined,
    stdout: { write: text => void (out += text), ready: async () => undefined, isTerminal: options.terminal ?? false },
    stderr: { write: text => void (err += text), ready: async () => undefined, isTerminal: options.terminal ?? false },
    signal: options.signal ?? new AbortController().signal,
  }
  const code = await run(argv, io, fakeParts(world))
  return { code, out, err }
}

/** An operation that answers with what it was given. */
export function echo(name: string, input: InputSchema, more: Partial<AnyOperation> = {}): AnyOperation {
  return {
    name,
    summary: `answers with what ${name} was given`,
    input,
    readOnly: true,
    decode: (value: unknown) => decodeInput(input, value),
    run: async (given: unknown, caller: Caller) => ({
      given,
      door: caller.door,
      actor: caller.actor,
      ...(caller.cwd !== undefined && { cwd: caller.cwd }),
    }),
    render: (output: { given: unknown }) => `given ${JSON.stringify(output.given)}`,
    examples: [`outrigger ${name.replace('.', ' ')}`, `outrigger ${name.replace('.', ' ')} --json`],
    ...more,
  }
}
