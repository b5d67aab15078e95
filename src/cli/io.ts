/** What a run of the program touches of its process; tests hand in their own. */

export interface Sink {
  write(text: string): void
  /** Resolves when more can be written without piling up, or nobody reads any more. Left out: at once. */
  ready?(): Promise<void>
  /** A person reads it: progress and colour are allowed. */
  readonly isTerminal: boolean
}

/** Why a run should end early: the signal it got, or nobody reads its output any more. */
export type Interruption = 'SIGINT' | 'SIGTERM' | 'EPIPE'

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: () => AsyncIterable<Uint8Array>
  /** Nothing is piped in: reading would wait for a person. */
  readonly isStdinTerminal: boolean
  readonly stdout: Sink
  readonly stderr: Sink
  /** Aborted with an `Interruption` as its reason. */
  readonly signal: AbortSignal
}

/** The exit code of a run that was interrupted; `undefined`: its own code stands. */
export function exitOfInterruption(signal: AbortSignal): number | undefined {
  if (!signal.aborted) return undefined
  const reason = signal.reason as Interruption
  switch (reason) {
    case 'SIGINT':
      return 130
    case 'SIGTERM':
      return 143
    case 'EPIPE':
      return undefined
    default:
      return reason satisfies never
  }
}
