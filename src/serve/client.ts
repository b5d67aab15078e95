/** Asks the engine process of a project. Every request has a limit: whoever waits for it has a host that waits. */
import { connect } from 'node:net'
import { OutriggerError } from '../errors.ts'
import { request } from './http.ts'
import { isSafePlace } from './place.ts'
import { doorHeader, type Health, protocolHeader, protocolVersion } from './protocol.ts'

export interface Connection {
  readonly socket: string
  /** `<door>/<host version> <connection id>` */
  readonly door: string
}

export interface AskOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Each line of an answer that comes in lines, but the last. */
  readonly onLine?: (line: unknown) => void
}

/** Connected again in every request: a process that was replaced must not be spoken to through an old connection. */
export async function ask(
  { socket, door }: Connection,
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
  { timeoutMs, signal, onLine }: AskOptions,
): Promise<unknown> {
  if (!isSafePlace(socket)) throw gone(socket, 'no socket of this user is there')
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(timeoutMs)
    const asked = request(
      {
        // Without an agent: one would first find out whether the host is an address, which takes 10 ms the first time.
        createConnection: () => connect(socket),
        method,
        path,
        headers: {
          host: 'outrigger',
          connection: 'close',
          [protocolHeader]: String(protocolVersion),
          [doorHeader]: door,
          ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
          ...(onLine !== undefined && { accept: 'application/x-ndjson' }),
        },
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      },
      answer => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
          if (onLine === undefined) return
          for (let end = text.indexOf('\n'); end >= 0 && end < text.length - 1; end = text.indexOf('\n')) {
            onLine(JSON.parse(text.slice(0, end)))
            text = text.slice(end + 1)
          }
        })
        answer.on('error', error => reject(gone(socket, error.message, error)))
        answer.on('end', () => {
          let value: unknown
          try {
            value = JSON.parse(text)
          } catch (error) {
            reject(gone(socket, 'its answer is no JSON', error))
            return
          }
          const protocol = answer.headers[protocolHeader]
          if (answer.statusCode === 200 && protocol === String(protocolVersion)) resolve(value)
          else reject(refusal(value, socket, protocol))
        })
      },
    )
    asked.on('error', error =>
      reject(
        limit.aborted
          ? new OutriggerError('SERVE_TIMEOUT', `no answer within ${timeoutMs} ms`, { subject: socket, exit: 3 })
          : gone(socket, error.message, error),
      ),
    )
    asked.end(payload)
  })
}

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
  const { code, message, hint, subject } = ((value ?? {}) as { error?: Record<string, string> }).error ?? {}
  if (protocol !== String(protocolVersion) && code === undefined) {
    return new OutriggerError('SERVE_PROTOCOL', `the engine process speaks protocol ${protocol ?? 'unknown'}`, {
      subject: socket,
      hint: 'run `outrigger serve --stop`, then begin again',
      exit: 4,
    })
  }
  return new OutriggerError(code ?? 'SERVE_FAILED', message ?? 'the engine process refused', {
    subject: subject ?? socket,
    ...(hint !== undefined && { hint }),
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
