/**
 * What the door needs of Claude Code, as plain functions. Only `register.ts` names the host's own object, because
 * the host follows it by reading the source; everything behind this interface is ordinary code.
 */

export interface FetchAnswer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface FetchInit {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly socketPath: string
}

export interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  /** ms; the host ends the program after it and rejects. */
  readonly timeoutMs?: number
}

/** The model's answer, or why there is none. */
export type ModelAnswer =
  | { readonly isAnswered: true; readonly text: string; readonly usage?: unknown }
  | { readonly isAnswered: false; readonly reason: string }

export interface CompleteOptions {
  readonly model: string
  readonly prompt: string
  readonly system?: string
  readonly maxTokens: number
  readonly timeoutMs: number
}

/** Every function may reject: a call that an older host does not have rejects as well. */
export interface Host {
  /** Absolute folder of the plugin. */
  readonly pluginRoot: string
  /** Id of the session that is shown. */
  session(): Promise<string>
  /** Absolute folder that the session belongs to. */
  root(): Promise<string>
  /** ms since the epoch. */
  now(): Promise<number>
  /** What the person set as the program to run. */
  program(): Promise<string | undefined>
  /** Tell our command hooks in this host that they are not needed. */
  markPresent(): Promise<void>
  exists(path: string): Promise<boolean>
  run(argv: readonly string[], options: RunOptions): Promise<Ran>
  fetch(url: string, init: FetchInit): Promise<FetchAnswer>
  /** Runs outside of the hook that asks for it. */
  later(ms: number, work: () => Promise<void>): void
  toast(text: string, ms: number): Promise<void>
  /** `undefined` clears the line. */
  status(text: string | undefined): Promise<void>
  openPane(id: string, title: string): Promise<void>
  closePane(id: string): Promise<void>
  redraw(): Promise<void>
  /** Into the prompt as a dim suggestion that Tab takes. */
  suggest(text: string): Promise<void>
  fill(text: string): Promise<void>
  /** What stands in the prompt now. */
  draft(): Promise<string>
  /** Start a turn, once the session is idle. Resolves when it starts; `drop` says why it did not. */
  submit(text: string, asPerson: boolean): Promise<{ readonly drop?: string }>
  clear(): Promise<void>
  /** Ask with the conversation. */
  fork(prompt: string): Promise<ModelAnswer>
  /** Ask without it. */
  complete(options: CompleteOptions): Promise<ModelAnswer>
  /** Size at which the host compacts, in tokens. */
  compactsAt(): Promise<number | undefined>
  /** Helpers of the session. */
  helpers(): Promise<readonly unknown[]>
  registerCommand(name: string, description: string, argumentHint: string): Promise<void>
}
