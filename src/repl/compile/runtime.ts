/**
 * What a compiled cell needs while it runs: the names of the session as properties of the realm's global object, installed by the worker once per session.
 *
 * **Running a program.**
 * 1. `names.prepare(program)`: constants that the cell writes begin to throw when they are written.
 * 2. Load `program.imports` in order: `linkSource(import)` is the text of a module whose exports `b0`, `b1`, … are the bindings (and `r0`, `r1`, … what a
 *    re-export requires). Loading it links before it evaluates, so a missing export is found without running the module; it must resolve from the current
 *    directory. Then, when all have loaded, `names.bindImport(binding, () => namespace.b0)` for each. A failure is `OUT-C004` at `import.start`.
 * 3. `new vm.Script(program.code, { filename: program.fileName, columnOffset: program.columnOffset, importModuleDynamically })`. With
 *    `vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER`, `import()` resolves from the current directory, in the functions of the cell too (they are created by
 *    an indirect `eval` that the cell's script calls). A `SyntaxError` here is `OUT-C001`: `rejectSyntaxError(program, error)`.
 * 4. `script.runInThisContext()` gives a function and runs nothing; call it with `names.helpers(program)` from inside a second, constant script that is run
 *    with `breakOnSigint: true`, for only what runs inside that call is interruptible. The promise it returns settles with the value of `return`.
 * 5. `names.finish()` says what changed, `names.takeEcho()` what the last expression statement gave.
 *
 * Stacks: `frames.ts`. The worker defines `require`, `__filename`, `__dirname` and the namespaces as non-enumerable properties of the global object
 * (enumerable ones that appear later count as names of the session when dynamic code ran).
 */
import type { ImportBinding, NameKind, Program } from './program.ts'

/** What generated code calls; opaque to the worker. */
export type Helpers = object

export interface NameChanges {
  /** Sorted, like the others. */
  readonly added: readonly string[]
  /** Existed before and now holds another value or has another kind. */
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** The names of a session in one realm. */
export interface SessionNames {
  /** Bound names and how each was declared last. */
  readonly kinds: ReadonlyMap<string, NameKind>
  /** @param kept - values that names of the program have already: declaring one with an equal function or class leaves it as it is. */
  prepare(program: Program, kept?: ReadonlyMap<string, unknown>): void
  helpers(program: Program): Helpers
  /** @param read - gives the current value of the export; called at every read of the name. */
  bindImport(binding: ImportBinding, read: () => unknown): void
  /** Compare with the last `prepare`, and find names that sloppy assignments and `eval` made. */
  finish(): NameChanges
  /** The current value, or `undefined` when the name is not bound. Never runs code of a cell, never throws. */
  read(name: string): { readonly value: unknown } | undefined
  /** Bind a name from outside a cell. */
  bind(name: string, kind: NameKind, value: unknown): void
  /** Bind names whose values are made together, when one of them is first read. */
  bindLazily(
    bindings: readonly { readonly name: string; readonly kind: NameKind }[],
    load: () => ReadonlyMap<string, unknown>,
  ): void
  /** Whether code of the session, whenever it runs, may give the name another value without declaring it. */
  mayBeAssigned(name: string): boolean
  /** False: its value has not been made yet. */
  isLoaded(name: string): boolean
  /** Take a name away, as `delete` does. */
  remove(name: string): void
  /** The value that the last expression statement reported, when `echo` is `last` and it ran; given once. */
  takeEcho(): { readonly value: unknown } | undefined
}

export interface SessionNamesOptions {
  /** The global object of the realm that cells run in. */
  readonly global: object
  /** The set that every `CompileRequest` of the session carries. */
  readonly platformNames: ReadonlySet<string>
  /** Says why a name that is not bound is gone; `undefined` when it never was. Default: none is. */
  readonly whyLost?: (name: string) => string | undefined
  /** The object that `import.meta` gives. */
  readonly meta: () => object
}
