/** Asks the engine process of a project. Every request has a limit: whoever waits for it has a host that waits. */
import { connect } from 'node:net'
import { OutriggerError } from '../errors.ts'
import { request } from './http.ts'
import { isSafePlace } from './place.ts'
import { doorHeader, type Health, maxBodyBytes, protocolHeader, protocolVersion } from './protocol.ts'

export interface Connection {
  readonly socket: string
  /** `<door>/<host version> <connection id>` */
  readonly door: string
}

export interface AskOptions {
  /** Of the whole request; of each line where `onLine` is given. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Each line of an answer that comes in lines, but the last. */
  readonly onLine?: (line: unknown) => void
}

/**
 * Throws the refusal of the process; `SERVE_GONE`: nobody was there, and nothing was asked; `SERVE_BROKE_OFF`: it ended while it
 * worked on the request; `SERVE_TIMEOUT`. Connected again in every request: a process that was replaced must not be
 * spoken to through an old connection.
 */
export async function ask(
  { socket, door }: Connection,
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
  { timeoutMs, signal, onLine }: AskOptions,
): Promise<unknown> {
  if (!isSafePlace(socket)) throw gone(socket, 'no socket of this user is there')
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const bytes = payload === undefined ? 0 : Buffer.byteLength(payload)
  // The process would close the connection in the middle, as one does that ends.
  if (bytes > maxBodyBytes) {
    throw new OutriggerError('SERVE_TOO_LARGE', `the request has ${bytes} bytes, more than ${maxBodyBytes}`, {
      hint: 'send less at once',
    })
  }
  return new Promise((resolve, reject) => {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    let isConnected = false
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      reject(error)
    }
    const lost = (error: unknown): void => {
      const why = error instanceof Error ? error.message : String(error)
      const hint = 'look at what was done before you ask for it again; `outrigger doctor` names the process'
      const late = new OutriggerError('SERVE_TIMEOUT', `no answer within ${timeoutMs} ms`, { subject: socket, hint, exit: 3 })
      if (limit.signal.aborted) fail(late)
      else fail(isConnected ? brokeOff(socket, why, error) : gone(socket, why, error))
    }
    const asked = request(
      {
        // Without an agent: one would first find out whether the host is an address, which takes 10 ms the first time.
        createConnection: () => connect(socket, () => (isConnected = true)),
        method,
        path,
        headers: {
          host: 'outrigger',
          connection: 'close',
          [protocolHeader]: String(protocolVersion),
          [doorHeader]: door,
          ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': bytes }),
          ...(onLine !== undefined && { accept: 'application/x-ndjson' }),
        },
        signal: signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]),
      },
      answer => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
          if (onLine === undefined) return
          timer.refresh()
          for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
            const line = text.slice(0, end)
            if (!isBefore(line)) break
            onLine(JSON.parse(line))
            text = text.slice(end + 1)
          }
        })
        answer.on('error', lost)
        answer.on('end', () => {
          let value: unknown
          try {
            value = JSON.parse(text)
          } catch {
            return lost('its answer is no JSON')
          }
          const protocol = answer.headers[protocolHeader]
          const isRefusal = answer.statusCode !== 200 || isError(value)
          if (isRefusal || protocol !== String(protocolVersion)) return fail(refusal(value, socket, protocol))
          clearTimeout(timer)
          resolve(value)
        })
      },
    )
    asked.on('error', lost)
    asked.end(payload)
  })
}

/** A line before the answer: progress, or a sign of life. */
const isBefore = (line: string): boolean => line === '{}' || line.startsWith('{"progress":')

/** What was begun in lines is refused in its last one. */
const isError = (value: unknown): boolean => (value as { schema?: unknown } | null)?.schema === 'outrigger.error/1'

/** `undefined`: nobody answers there. */
export async function healthOf(socket: string, timeoutMs: number): Promise<Health | undefined> {
  try {
    return (await ask({ socket, door: 'cli/0 health' }, 'GET', '/health', undefined, { timeoutMs })) as Health
  } catch (error) {
    if (error instanceof OutriggerError && error.code === 'SERVE_PROTOCOL') throw error
    return undefined
  }
}

function refusal(value: unknown, socket: string, protocol: string | string[] | undefined): OutriggerError {
  type Refusal = Partial<Pick<OutriggerError, 'code' | 'message' | 'hint' | 'subject' | 'position' | 'faults'>>
  const { code, message, hint, subject, position, faults } = ((value ?? {}) as { error?: Refusal }).error ?? {}
  if (protocol !== String(protocolVersion) && code === undefined) {
    return new OutriggerError('SERVE_PROTOCOL', `the engine process speaks protocol ${protocol ?? 'unknown'}`, {
      subject: socket,
      hint: 'run `outrigger serve --stop`, then begin again',
      exit: 4,
    })
  }
  return new OutriggerError(code ?? 'SERVE_FAILED', message ?? 'the engine process refused', {
    ...(code === undefined || subject !== undefined ? { subject: subject ?? socket } : {}),
    ...(hint !== undefined && { hint }),
    ...(position !== undefined && { position }),
    ...(faults !== undefined && { faults }),
    exit: 3,
  })
}

function gone(socket: string, why: string, cause?: unknown): OutriggerError {
  return new OutriggerError('SERVE_GONE', `no engine process answers (${why})`, {
    subject: socket,
    hint: 'run `outrigger serve --detach`',
    exit: 3,
    cause,
  })
}

function brokeOff(socket: string, why: string, cause: unknown): OutriggerError {
  return new OutriggerError('SERVE_BROKE_OFF', `the engine process ended while it worked on this (${why})`, {
    subject: socket,
    hint: 'look at what was done before you ask for it again',
    exit: 3,
    cause,
  })
}
