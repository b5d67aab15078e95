/** The prompt: cells over several lines, their results, Ctrl-C for the running cell, a few dot commands. */
import { createInterface, type Interface } from 'node:readline'
import { Readable } from 'node:stream'
import { errorDocument } from '../../errors.ts'
import { resultText } from '../../repl/render.ts'
import { backText, savedText } from '../../repl/tool-text.ts'
import type { EditInput, Recovery, ReplConfig, ReplSession, RunOptions } from '../../repl/types.ts'
import type { Io } from '../io.ts'
import { complete, type KnownName } from './complete.ts'
import { type LineHistory, maxLines } from './line-history.ts'
import { heard } from './serve.ts'
import { historyText, stateText } from './texts.ts'
import { isUnfinished } from './unfinished.ts'

const help = `A cell is TypeScript; an empty line ends a cell that looks unfinished. Ctrl-C stops a running cell, Ctrl-D leaves.
  .state              names and what they hold
  .history [n]        the last cells
  .source <cell>      the text of a cell
  .edit <old> => <new>  change the newest cell and run it
  .save <name>        name the state as it is now
  .restore <name>     go back to it; a number goes back to that cell
  .fork <cell> <dir>  a session of its own that begins there
  .reset              an empty session; the cells stay in the history
  .restart            a new worker; what can be had again comes back
  .help  .exit`

const commands = ['.edit', '.exit', '.fork', '.help', '.history', '.reset', '.restart', '.restore', '.save', '.source', '.state']
const prompt = '> '
const more = '… '

/** @returns the exit code. */
export async function interactive(
  io: Io,
  session: ReplSession,
  options: RunOptions,
  config: ReplConfig,
  kept: LineHistory,
): Promise<number> {
  const { isTerminal } = io.stdout
  const input = isTerminal && io.isStdinTerminal ? process.stdin : Readable.from(io.stdin(), { objectMode: false })
  let names: readonly KnownName[] = []
  let typed: readonly string[] = kept.lines
  const readline = createInterface({
    input,
    ...(isTerminal && { output: process.stdout }),
    terminal: isTerminal && io.isStdinTerminal,
    prompt,
    history: [...kept.lines],
    historySize: maxLines,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(line, names, commands),
  })
  // Node's own type leaves this event out.
  ;(readline as unknown as NodeJS.EventEmitter).on('history', (lines: readonly string[]) => {
    typed = [...lines]
  })
  let running: AbortController | undefined
  let lines: string[] = []
  let isLeaving = false
  let isClosed = false
  readline.on('close', () => {
    isClosed = true
  })
  const ask = (text: string): void => {
    if (!isTerminal || isClosed) return
    readline.setPrompt(text)
    readline.prompt()
  }
  const write = (text: string): void => io.stdout.write(text.endsWith('\n') ? text : `${text}\n`)

  readline.on('SIGINT', () => {
    if (running !== undefined) running.abort()
    else if (lines.length > 0 || readline.line !== '') {
      lines = []
      write('')
      ask(prompt)
    } else if (isLeaving) readline.close()
    else {
      isLeaving = true
      write('(Ctrl-C again, Ctrl-D or .exit leaves)')
      ask(prompt)
    }
  })
  io.signal.addEventListener('abort', () => {
    running?.abort()
    readline.close()
  })

  void learn()
  if (isTerminal) write(`session ${session.name}, cell ${session.latest() + 1}; .help shows the commands`)
  ask(prompt)
  for await (const line of linesOf(readline)) {
    isLeaving = false
    if (lines.length === 0 && line.trim().startsWith('.') && /^\.[a-z]/.test(line.trim())) {
      if ((await command(line.trim())) === 'leave') break
    } else {
      const ended = lines.length > 0 && line.trim() === ''
      lines.push(line)
      const code = lines.join('\n')
      if (!ended && isUnfinished(code)) {
        ask(more)
        continue
      }
      lines = []
      if (code.trim() !== '') await runCell(code)
    }
    ask(prompt)
  }
  if (lines.length > 0 && lines.join('\n').trim() !== '') await runCell(lines.join('\n'))
  readline.close()
  if (isTerminal && typed !== kept.lines) kept.save(typed)
  return 0

  /** Names for completion, as the parent has them; a prompt does not wait for them. */
  async function learn(): Promise<void> {
    if (!isTerminal) return
    const state = await session.state().catch(() => undefined)
    if (state !== undefined) names = state.bindings
  }

  async function runCell(code: string): Promise<void> {
    await report(signal => session.run(code, { ...options, signal }))
  }

  async function report(run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    running = new AbortController()
    try {
      const result = (await run(running.signal)) as Awaited<ReturnType<ReplSession['run']>> & {
        edited?: boolean
        error?: { code: string; message: string }
      }
      if (result.cell === undefined) write(`${result.error!.code} ${result.error!.message}`)
      else {
        const text = resultText(result, config.modelChars)
        if (text !== '(ran; nothing printed or returned)') write(text)
        await heard(io, session, result.cell)
        void learn()
      }
    } catch (error) {
      const { error: fields } = errorDocument(error)
      write(`${String(fields['code'])} ${String(fields['message'])}`)
    } finally {
      running = undefined
    }
  }

  /** What is refused is said; the prompt goes on. */
  async function command(line: string): Promise<'leave' | undefined> {
    try {
      return await dot(line)
    } catch (error) {
      const { error: fields } = errorDocument(error)
      write(`${String(fields['code'])} ${String(fields['message'])}`)
      return undefined
    }
  }

  function back(recovery: Recovery): void {
    void learn()
    write(backText(recovery))
  }

  async function dot(line: string): Promise<'leave' | undefined> {
    const [word = '', ...rest] = line.split(/\s+/)
    switch (word) {
      case '.exit':
        return 'leave'
      case '.help':
        write(help)
        return undefined
      case '.state':
        write(stateText(await session.state()))
        return undefined
      case '.history':
        write(historyText(await session.history({ limit: Number(rest[0]) || 20 })))
        return undefined
      case '.source':
        write((await session.source(Number(rest[0]) || session.latest())) ?? 'there is no such cell')
        return undefined
      case '.restart':
        back(await session.restart())
        return undefined
      case '.reset':
        back((await session.reset()).recovery)
        return undefined
      case '.save':
        if (rest[0] === undefined) write('write: .save name')
        else write(savedText(await session.save(rest[0])))
        return undefined
      case '.restore': {
        const [to] = rest
        if (to === undefined) write('write: .restore name, or the number of a cell')
        else back((await session.restore(/^\d+$/.test(to) ? { cell: Number(to) } : { name: to })).recovery)
        return undefined
      }
      case '.fork': {
        const [cell, to] = rest
        if (to === undefined || !/^\d+$/.test(cell ?? '')) write('write: .fork cell folder')
        else {
          await session.fork(Number(cell), to)
          write(`${to} begins at cell ${cell}`)
        }
        return undefined
      }
      case '.edit': {
        const edit = editOf(line.slice('.edit'.length).trim())
        if (edit === undefined) write('write: .edit old text => new text')
        else await report(signal => session.edit(edit, { ...options, signal }))
        return undefined
      }
      default:
        write(`no command ${word}; .help shows them`)
        return undefined
    }
  }
}

function editOf(text: string): EditInput | undefined {
  const arrow = text.indexOf(' => ')
  return arrow <= 0 ? undefined : { edits: [{ old_string: text.slice(0, arrow), new_string: text.slice(arrow + 4) }] }
}

/** Lines as they come, also while a cell runs; ends with the input. */
async function* linesOf(readline: Interface): AsyncGenerator<string> {
  const waiting: string[] = []
  let isClosed = false
  let wake = (): void => {}
  readline.on('line', line => {
    waiting.push(line)
    wake()
  })
  readline.on('close', () => {
    isClosed = true
    wake()
  })
  for (;;) {
    const line = waiting.shift()
    if (line !== undefined) yield line
    else if (isClosed) return
    else
      await new Promise<void>(resolve => {
        wake = resolve
      })
  }
}
