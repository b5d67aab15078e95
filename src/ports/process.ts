/** Other programs and the identity of this one. */
export interface RunResult {
  /** `null` when a signal or the time limit ended it. */
  readonly exit: number | null
  readonly stdout: Uint8Array
  readonly stderr: string
  readonly timedOut: boolean
}

export interface Processes {
  /** Run a program to its end, without a shell. Rejects with `PROCESS_NOT_FOUND` when there is no such program. */
  run(
    program: string,
    args: readonly string[],
    options: {
      readonly cwd: string
      readonly timeoutMs: number
      readonly input?: Uint8Array
      readonly env?: Readonly<Record<string, string>>
    },
  ): Promise<RunResult>
  /** `<pid>:<boot id>:<process start>` of this process. */
  owner(): string
  /** Is the process of that owner string alive on this boot? Owners of another boot are not. */
  isAlive(owner: string): boolean
}
