/** What the module uses of its host, as types of our own: the host's declarations may not be copied. */

export interface Answered {
  readonly status: number
  readonly ok: boolean
  readonly text: string
}

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export type ModelAnswer =
  | { readonly isAnswered: true; readonly text: string; readonly usage?: Readonly<Record<string, unknown>> }
  | { readonly isAnswered: false; readonly reason: string }

export interface AgentRow {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly name?: string
  readonly description?: string
}

/** `$`: written out as `$.noun.verb(…)` only, and passed to functions declared at the top of the same file. */
export interface Host {
  readonly plugin: { readonly name: string; readonly root: string }
  readonly http: {
    fetch(
      url: string,
      init: { method?: string; headers?: Record<string, string>; body?: string; socketPath: string },
    ): Promise<Answered>
  }
  readonly process: {
    run(argv: readonly string[], options?: { cwd?: string; env?: Record<string, string>; timeoutMs?: number }): Promise<Ran>
  }
  readonly fs: { exists(path: string): Promise<boolean> }
  readonly env: { get(name: string): Promise<string | undefined>; set(name: string, value: string): Promise<unknown> }
  readonly clock: {
    now(): Promise<number>
    after(ms: number, run: () => unknown): { cancel?(): unknown } | undefined
    sleep(ms: number): Promise<unknown>
  }
  readonly session: {
    id(): Promise<string>
    root(): Promise<string>
    cwd(): Promise<string>
    /** Where the session draws; empty in a run that only prints. */
    surfaces(): Promise<readonly string[]>
    usage(options?: { breakdown: 'summary' }): Promise<Readonly<Record<string, unknown>>>
    version(): Promise<{ readonly version: string }>
  }
  readonly ui: {
    toast(text: string, options?: { timeoutMs?: number }): Promise<unknown>
    status(text: string | undefined): Promise<unknown>
    log(text: string, options?: { to: 'debug' }): Promise<unknown>
    open(options: {
      id: string
      title: string
      focus?: boolean
      closeOnEscape?: boolean
    }): Promise<{ readonly isPlaced: boolean }>
    close(pane: { id: string }): Promise<unknown>
    invalidate(event: 'ui.render'): Promise<unknown>
    resolve(e: unknown): Readonly<Record<'Box' | 'Text' | 'Button', unknown>>
  }
  readonly command: {
    register(spec: { name: string; description: string; argumentHint?: string; immediate?: true }): Promise<unknown>
    run(command: { command: string; args?: string }): Promise<unknown>
  }
  readonly prompt: {
    submit(prompt: { text: string; asUser?: boolean }): Promise<{ readonly drop?: string }>
    fill(given: { text: string }): Promise<unknown>
    read(): Promise<{ readonly text: string }>
    suggest(given: { text: string }): Promise<{ readonly isShown: boolean }>
  }
  readonly model: {
    fork(options: { prompt: string }): Promise<ModelAnswer>
    complete(options: {
      model: string
      prompt: string
      system?: string
      maxTokens?: number
      timeoutMs?: number
    }): Promise<ModelAnswer>
  }
  readonly agent: { list(): Promise<readonly AgentRow[]> }
}

/** An event of the host; its fields are a stranger's and are looked at one by one. */
export type HostEvent = Readonly<Record<string, unknown>>
export type Result = Readonly<Record<string, unknown>>

export interface Next {
  (e: HostEvent): Promise<Result>
  readonly called?: boolean
  readonly error?: { readonly message: string }
}

export type Hook = ($: Host, e: HostEvent, next: Next) => Result | Promise<Result>
export interface Registration {
  catch(hook: Hook): unknown
}

/** Hooks of an event that streams are generators: chunks are yielded, the result is returned. */
export type StreamNext = (e: HostEvent) => AsyncGenerator<unknown, Result>
export type StreamHook = ($: Host, e: HostEvent, next: StreamNext) => AsyncGenerator<unknown, Result>

export interface On {
  (event: 'turn.step', hook: StreamHook): { catch(hook: StreamHook): unknown }
  (event: string, hook: Hook): Registration
  (event: string, matcher: HostEvent, hook: Hook): Registration
}

/** Makes an element of the host's tree; a global of the module's realm. */
declare global {
  function h(tag: unknown, props: Readonly<Record<string, unknown>> | null, ...children: readonly unknown[]): unknown
}
