/** `outrigger repl serve` of the built program as a client has it. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Program } from '../cli/program.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document, asserted on
export type Line = Record<string, any>

export interface Served {
  readonly child: ChildProcess
  /** What came on stdout so far, and what came on stderr. */
  readonly lines: readonly Line[]
  errors(): string
  send(request: Line): void
  /** The next line that fits and that nobody has taken. Rejects when the process ends before it comes. */
  until(fits: (line: Line) => boolean): Promise<Line>
  /** Send with an id of its own; the answer. */
  ask(request: Line): Promise<Line>
  run(code: string, more?: Line): Promise<Line>
  edit(request: Line): Promise<Line>
  readonly exit: Promise<number | null>
  /** Ask it to close and wait until it has ended. */
  close(): Promise<void>
}

export interface ServeOptions {
  readonly session?: string
  readonly env?: Readonly<Record<string, string>>
  readonly arguments?: readonly string[]
  /** Default: the one that OUTRIGGER_TEST_NODE names, else the node that runs the tests. */
  readonly node?: string
}

export function serveSession(program: Program, cwd: string, options: ServeOptions = {}): Served {
  const {
    session = './s',
    env = {},
    arguments: more = [],
    node = process.env['OUTRIGGER_TEST_NODE'] ?? process.execPath,
  } = options
  const child = spawn(node, [program.main, 'repl', 'serve', '--session', session, '--json-lines', ...more], {
    cwd,
    env: { ...program.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const lines: Line[] = []
  const taken = new Set<Line>()
  const waiting = new Set<() => void>()
  let text = ''
  let errors = ''
  let ended: number | null | undefined
  const wake = (): void => {
    for (const each of [...waiting]) each()
  }
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (errors += piece))
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      lines.push(JSON.parse(text.slice(0, end)))
      text = text.slice(end + 1)
    }
    wake()
  })
  child.stdin!.on('error', () => undefined)
  const exit = new Promise<number | null>(resolve =>
    child.once('close', code => {
      ended = code
      resolve(code)
      wake()
    }),
  )
  const until = async (fits: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const found = lines.find(line => !taken.has(line) && fits(line))
      if (found !== undefined) {
        taken.add(found)
        return found
      }
      if (ended !== undefined) throw new Error(`it ended with ${ended} before it answered\n${errors}`)
      await new Promise<void>(resolve => {
        const once = (): void => {
          waiting.delete(once)
          resolve()
        }
        waiting.add(once)
      })
    }
  }
  const send = (request: Line): void => void child.stdin!.write(`${JSON.stringify(request)}\n`)
  let ids = 0
  const ask = (request: Line): Promise<Line> => {
    const id = request['id'] ?? `t${++ids}`
    send({ id, ...request })
    return until(line => line['id'] === id && line['event'] === undefined)
  }
  return {
    child,
    lines,
    errors: () => errors,
    send,
    until,
    ask,
    run: (code, request = {}) => ask({ op: 'run', code, ...request }),
    edit: request => ask({ op: 'edit', ...request }),
    exit,
    close: async () => {
      await ask({ op: 'close' })
      await exit
    },
  }
}
