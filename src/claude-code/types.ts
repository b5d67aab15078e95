/** The part of the host's object that the door uses, in our words: the host's own declarations are not ours to ship. */
import type { Elements } from './draw.ts'
import type { FetchAnswer, FetchInit, ModelAnswer, Ran, RunOptions } from './host.ts'

export interface Dollar {
  readonly plugin: { readonly root: string }
  readonly session: {
    id(): Promise<string>
    root(): Promise<string>
    usage(options: { readonly breakdown: 'summary' }): Promise<unknown>
  }
  readonly clock: {
    now(): Promise<number>
    after(ms: number, work: () => Promise<void>): unknown
  }
  readonly env: {
    get(name: string): Promise<string | undefined>
    set(name: string, value: string): Promise<void>
  }
  readonly fs: { exists(path: string): Promise<boolean> }
  readonly process: { run(argv: readonly string[], options: RunOptions): Promise<Ran> }
  readonly http: { fetch(url: string, init: FetchInit): Promise<FetchAnswer> }
  readonly ui: {
    toast(text: string, options: { readonly timeoutMs: number }): unknown
    status(text: string | undefined): unknown
    log(text: string, options: { readonly to: 'debug' }): unknown
    open(pane: { readonly id: string; readonly title: string; readonly focus: boolean; readonly closeOnEscape: boolean }): unknown
    close(id: string): unknown
    invalidate(event: 'ui.render'): unknown
    resolve(event: HookEvent): Elements
  }
  readonly prompt: {
    suggest(input: { readonly text: string }): unknown
    fill(input: { readonly text: string }): unknown
    read(): Promise<unknown>
    submit(input: { readonly text: string; readonly asUser?: true }): Promise<{ readonly drop?: string }>
  }
  readonly command: {
    run(input: { readonly command: string; readonly args: string }): unknown
    register(spec: { readonly name: string; readonly description: string; readonly argumentHint?: string }): unknown
  }
  readonly model: {
    fork(input: { readonly prompt: string }): Promise<ModelAnswer>
    complete(input: object): Promise<unknown>
  }
  readonly agent: { list(): Promise<readonly unknown[]> }
}

/** An event or a result of the host: fields by name, each checked where it is used. */
// biome-ignore lint/suspicious/noExplicitAny: the host's own types are proprietary; what crosses here is checked by use.
export type HookEvent = any

// biome-ignore lint/suspicious/noExplicitAny: as above; in `turn.step` it is a generator.
export type Next = (event: HookEvent) => any

type Hook = ($: Dollar, event: HookEvent, next: Next) => unknown
interface Registration {
  catch(hook: Hook): unknown
}

export interface On {
  (event: string, hook: Hook): Registration
  (event: string, matcher: Readonly<Record<string, unknown>>, hook: Hook): Registration
}
