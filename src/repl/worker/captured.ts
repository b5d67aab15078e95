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
  /** What `AbortSignal.timeout` aborts with. */
  makeTimeoutError(): Error
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
  /** The iterator of `timers/promises` `setInterval`. @param start - begins to tick and gives what ends it. @param refuse - rejects as an aborted one does. */
  makeTicks(
    start: (tick: () => void) => () => unknown,
    value: unknown,
    signal: AbortSignal | undefined,
    refuse: () => Promise<unknown>,
  ): unknown
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

export interface ModuleHooks {
  /** Throws for a module that cells may not have. */
  ask(specifier: string): void
  /** The text of a link module, for its URL. */
  link(url: string): string | undefined
  /** What a specifier turned out to be. */
  resolved(specifier: string, parent: string | undefined, url: string): void
  /** A module is loaded for the first time. */
  loaded(url: string): void
}

export interface FileState {
  readonly size: number
  readonly mode: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  readonly isFile: boolean
  readonly isDirectory: boolean
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
  hookModules(hooks: ModuleHooks): void
  /** A function with name, length, prototype and own properties of another. @param target - `new.target`. */
  wrapFunction(
    original: object,
    handle: (given: readonly unknown[], receiver: unknown, target: object | undefined) => unknown,
  ): object
  isBuiltin(specifier: string): boolean
  /** Classes of what `setTimeout` and `setImmediate` give. */
  timerClasses(): Readonly<Record<'Timeout' | 'Immediate', unknown>>
  /** A module of the platform, whoever may have it. */
  builtin(name: string): unknown
  /** What modules of the platform export becomes what their objects hold. */
  syncBuiltinExports(): void
  /** Runs what it is given where this was called, as the platform follows code through timers and promises. */
  snapshot(): (run: () => void) => void
  /** Hex. */
  sha256(of: string | Uint8Array): string
  randomBytes(count: number): Uint8Array
  randomHex(digits: number): string
  toBase64(bytes: Uint8Array): string
  /** A Buffer. */
  fromBase64(text: string): Uint8Array
  /** ms since 1970. */
  dateNow(): number
  /** µs of the clock that `process.hrtime` reads. */
  hrtime(): number
  readonly files: {
    stat(path: string, follow: boolean): FileState
    read(path: string): Uint8Array
    /** Names with their kinds, in order, each ended by `\0`. */
    list(path: string, deep: boolean): string
    /** Where a link leads and what the path is in truth. */
    target(path: string): string
  }
  /** Absolute path of what a function of `fs` takes for one; `undefined` for anything else. */
  pathOf(given: unknown): string | undefined
  /** Of a `file:` URL. */
  filePathOf(url: string): string
  /** Text of a URL or a request; `undefined` for anything else. */
  textOfUrl(object: object): string | undefined
  /** Flags with which opening a file changes it. */
  readonly createFlags: number
  /** Path of the script that holds this realm's half of the engine. */
  readonly ownFile: string
  /** Throws when the directory is not there. */
  changeDirectory(path: string): void
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
