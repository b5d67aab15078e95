/**
 * What a compiled cell needs while it runs, installed by the worker once per session.
 *
 * **Running a program.**
 * 1. `names.prepare(program)`: names that the cell writes and that are constants now begin to throw when they are written.
 * 2. Load `program.imports` in order (`linkSource(import)` is the text of a module whose exports `b0`, `b1`, … are the bindings; loading it links
 *    before it evaluates, so that a missing export is found without running the module). `names.bindImport(binding, read)` for each binding, after all
 *    loads succeeded. A failure is `OUT-C004` at `import.start`.
 * 3. `new vm.Script(program.code, { filename: program.fileName, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })`. A SyntaxError
 *    here is `OUT-C001`: `rejectSyntaxError(program, error)`.
 * 4. `script.runInThisContext()` gives the function; call it with `names.helpers(program)` from inside a second, constant script that is run with
 *    `breakOnSigint: true` (only what runs inside that call is interruptible).
 * 5. `names.finish()` says what changed.
 */
import type { ImportBinding, NameKind, Program, ProgramImport } from './program.ts'

/** What generated code calls; opaque to the worker. */
export interface Helpers {
  readonly __helpers: unique symbol
}

export interface NameChanges {
  readonly added: readonly string[]
  /** Existed before and now holds another value or has another kind. */
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** The names of a session in one realm. */
export interface SessionNames {
  readonly kinds: ReadonlyMap<string, NameKind>
  prepare(program: Program): void
  helpers(program: Program): Helpers
  /** @param read - gives the current value of the export; called at every read of the name. */
  bindImport(binding: ImportBinding, read: () => unknown): void
  /** Compare with the last `prepare`. */
  finish(): NameChanges
  /** The current value, or `undefined` when the name is not bound. Never throws. */
  read(name: string): { readonly value: unknown } | undefined
  /** Bind a name from outside a cell, as recovery does. */
  bind(name: string, kind: NameKind, value: unknown): void
  remove(name: string): void
  /** The value that the last expression statement reported, when `echo` is `last` and it ran. */
  takeEcho(): { readonly value: unknown } | undefined
}

/** Text of a module that imports what one import declaration names and exports it as `b0`, `b1`, … */
export type LinkSource = (wanted: ProgramImport) => string
