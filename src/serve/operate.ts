/** One operation, or one tool of the REPL, carried out by the engine process of the project. */
import type { Caller } from '../session/operation.ts'
import { ask, type Connection } from './client.ts'
import { aliveMs, type OpAnswer, type OpRequest } from './protocol.ts'

/** A process that says nothing for this long hangs: it gives a sign every two seconds, but while it reads a large project for the first time. */
const silenceMs = 20 * aliveMs

/** Throws what the operation is refused with, and as `ask` does. A call that is taken back is cancelled there. */
export async function operate(
  connection: Connection,
  request: OpRequest,
  { signal, progress }: Pick<Caller, 'signal' | 'progress'>,
): Promise<OpAnswer> {
  const onLine = (line: unknown): void => {
    const told = (line as { progress?: { what: string; done: number; total: number } }).progress
    if (told !== undefined) progress(told.what, told.done, told.total)
  }
  return (await ask(connection, 'POST', '/op', request, { timeoutMs: silenceMs, signal, onLine })) as OpAnswer
}
