/**
 * The child process that runs a session's cells, as the kernel needs it: started, talked to over a private channel of bytes, interrupted, killed. What
 * the bytes mean is `repl/worker/protocol.ts`.
 *
 * `tests/node/worker-process.spec.ts` runs against the real one.
 */

export interface WorkerStart {
  /** Current directory of the process, as the session spells it; must exist. */
  readonly cwd: string
  /** The whole environment beside the private temporary folder, which is added. */
  readonly env: Readonly<Record<string, string>>
  /** Limit of the V8 heap. */
  readonly heapMb: number
}

export interface WorkerEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The process could not be started; the system's code. */
  readonly failed?: string
}

export interface WorkerListener {
  /** Bytes of the private channel, in order; the array is only valid during the call. */
  onBytes(bytes: Uint8Array): void
  /** Bytes that the process or a child of it wrote to descriptor 1 or 2; only valid during the call. */
  onOutput(stream: 'stdout' | 'stderr', bytes: Uint8Array): void
  /** Once, after the last byte of channel and output. */
  onEnd(end: WorkerEnd): void
}

export interface WorkerProcess {
  readonly pid: number
  /** Never blocks; bytes for a process that is gone are dropped. */
  send(bytes: Uint8Array): void
  /** Ask it to break off what it computes (SIGINT); nothing where the platform has no such thing. */
  interrupt(): void
  /** End it and what it started, at once (SIGKILL to its process group). */
  kill(): void
  /** SIGKILL to the process and nothing else. */
  killAlone(): void
  /** Close the channel; the process ends by itself. */
  close(): void
  /** Physical memory in MiB; `undefined` when it cannot be told from outside. */
  residentMb(): number | undefined
  /** From now on it is ended even if this process dies while it computes and cannot notice. */
  guard(): void
}

export interface Workers {
  start(options: WorkerStart, listener: WorkerListener): WorkerProcess
}
