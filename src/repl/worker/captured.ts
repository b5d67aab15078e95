/**
 * What the engine's half of the worker has of the main realm: taken before the first cell, so that nothing a cell patches is ever called. Main-realm
 * code makes what cells get to see (functions, promises, errors, plain objects), because it must be of their realm.
 */
import type { InspectOptions, types } from 'node:util'
import type { Script } from 'node:vm'

/** Makers of main-realm things. */
export interface MainRealm {
  /** A function of that name without a prototype; `call` gets the arguments as an array of the main realm. */
  makeFunction(name: string, call: (given: readonly unknown[], receiver: unknown) => unknown): (...given: unknown[]) => unknown
  makePromise(take: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => void): Promise<unknown>
  makeError(
    kind: 'Error' | 'TypeError' | 'ToolCallError' | 'CodeExecutionError',
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ): Error
  /** An object without prototype that nobody can change. */
  makeNamespace(members: readonly (readonly [name: string, value: unknown])[]): object
  parseJson(text: string): unknown
  /** Call a program and tell how it ends; waits by the rules of the language. */
  execute(
    program: (helpers: unknown) => unknown,
    helpers: unknown,
    ok: (value: unknown) => void,
    fail: (reason: unknown) => void,
  ): void
  importModule(
    specifier: string,
    ok: (namespace: Readonly<Record<string, unknown>>) => void,
    fail: (reason: unknown) => void,
  ): void
  installConsole(write: (stream: 'stdout' | 'stderr', text: string) => void): void
  installStreams(write: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void): void
  /** The getter that errors of the main realm have for `stack`, where the engine keeps it as an accessor. */
  readonly stackGetter: ((this: unknown) => unknown) | undefined
  /** `error.stack` in the standard form, whatever a cell put into `Error.prepareStackTrace`. */
  readStack(error: object): unknown
  /** What the platform throws when a script was broken off. */
  isInterruption(error: unknown): boolean
  readonly classes: { readonly ToolCallError: unknown; readonly CodeExecutionError: unknown }
  functionText(of: object): string
}

export interface Captured {
  /** The global object that cells run on. */
  readonly global: object
  readonly realm: MainRealm
  /** Own names of the pristine global object. */
  readonly pristineNames: readonly string[]
  readonly modules: {
    readonly util: { readonly types: typeof types; inspect(value: unknown, options?: InspectOptions): string }
  }
  readonly Script: typeof Script
  readonly mainLoader: symbol
  /** Of the engine V8, for this process. */
  setFlags(flags: string): void
  encodeInto(text: string, into: Uint8Array): { readonly read: number; readonly written: number }
  decodeUtf8(bytes: Uint8Array): string
  /** Throws on bytes that are not UTF-8. */
  decodeStrict(bytes: Uint8Array): string
  byteLength(text: string): number
  isBuffer(value: unknown): boolean
  readonly bufferPoolSize: number
  /** Writes all of it or throws. */
  writeAll(descriptor: number, bytes: Uint8Array): void
  /** @param take - bytes from the start of `into`. */
  readChannel(descriptor: number, into: ArrayBuffer, take: (count: number) => void, end: () => void): void
  setImmediate(run: () => void): void
  setTimeout(run: () => void, ms: number): void
  /** ms of a clock that never stands still. */
  now(): number
  /** ms that the main thread was not waiting. */
  activeMs(): number
  residentMb(): number
  cwd(): string
  exit(): never
  /** Ends this process and what it started. */
  endGroup(): never
  removeFolder(path: string): void
  activeResources(): readonly string[]
  runWith<T>(context: unknown, run: () => T): T
  context(): unknown
  onProblem(uncaught: (error: unknown) => void, rejection: (reason: unknown, promise: object) => void): void
  /** @param refuse - throws for a module that cells may not have. @param link - the text of a link module, for its URL. */
  hookModules(refuse: (specifier: string) => void, link: (url: string) => string | undefined): void
  /** `exit`, `reallyExit`, `abort` and `kill` of this process become calls of `refuse`, which throws. */
  guardProcess(refuse: (what: string) => never): void
  linkUrl(name: string): string
  requireAt(folder: string): NodeJS.Require
  folderUrl(folder: string): string
  /** A package of the second compiler. */
  compiler(name: string): unknown
  joinPath(folder: string, name: string): string
  /** URL of a module for code in that folder, as `import.meta.resolve` gives it. */
  resolveFrom(folder: string, specifier: string): string
  readonly versions: { readonly node: string; readonly v8: string; readonly icu: string }
  readonly pid: number
}
