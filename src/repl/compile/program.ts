/**
 * What compiling a cell gives: a program that a worker can run, or the reason why it cannot run. Plain data and two lookups; how a worker runs it is
 * told in `runtime.ts`.
 */
import type { PositionMap } from './positions.ts'

/** How a name of the session was declared last; `implicit` is a sloppy assignment to a name that nobody declared. */
export type NameKind = 'const' | 'let' | 'var' | 'function' | 'class' | 'enum' | 'namespace' | 'import' | 'implicit'

export interface CompileRequest {
  /** Number of the cell, from 1; gives the program its file name. */
  readonly cell: number
  /** As submitted, at most 1,048,576 UTF-16 units (longer is the caller's refusal). */
  readonly source: string
  /** Names of the session and how each was declared last. */
  readonly known: ReadonlyMap<string, NameKind>
  /** Names that no cell may declare beside `undefined NaN Infinity globalThis`: `tools`, `outrigger` and the other namespaces of the request. */
  readonly namespaces: ReadonlySet<string>
  /** Names on the pristine global object, and names that libraries sniff. A binding of such a name is seen by cells only. */
  readonly platformNames: ReadonlySet<string>
  /** `last`: the value of a last expression statement is reported through `Helpers.echo`. */
  readonly echo: 'return' | 'last'
  /** Names that are gone: reading one says why. Default none. */
  readonly lost?: ReadonlySet<string>
  readonly decorators: 'standard' | 'legacy'
  readonly jsx: 'off' | 'react-jsx'
  /** Whether `using` is lowered. Default: when the engine that compiles lacks it. */
  readonly lowerUsing?: boolean
}

/** A range of the source, in UTF-16 units. */
export interface SourceRange {
  readonly start: number
  readonly end: number
}

/** Lines and columns from 1, columns in UTF-16 units, a leading BOM not counted. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
}

export interface Declared extends SourceRange {
  readonly name: string
  readonly kind: NameKind
}

export interface ImportBinding {
  /** The session's name; absent from re-exports. */
  readonly local: string
  /** Name of the export; `*` is the namespace object. */
  readonly imported: string
  /** The cell uses the name in types only: that the module lacks it is no error, and the name is then not bound. */
  readonly optional: boolean
}

/** One import declaration or re-export, to be loaded in order before the body runs. */
export interface ProgramImport extends SourceRange {
  readonly specifier: string
  readonly attributes: Readonly<Record<string, string>>
  /** Empty: loaded for its effects. */
  readonly bindings: readonly ImportBinding[]
  /** Exports that a re-export names and that must exist. */
  readonly required: readonly string[]
}

/** A function or class of the source. */
export interface Literal extends SourceRange {
  readonly kind: 'function' | 'class'
  readonly isDeclaration: boolean
  /** Uses names of the session and the platform only, so that its text, evaluated again, makes the same. */
  readonly isOpen: boolean
  /** Evaluated at most once when the cell runs. */
  readonly once: boolean
  /** Names of the session that it uses, and those of the platform that a binding hides; sorted. */
  readonly free: readonly string[]
}

export type RewriteKind = 'import' | 'export' | 'redeclaration' | 'lowered'

/** A change to the source that a reader of the result may need to know. */
export interface Rewrite {
  readonly kind: RewriteKind
  readonly description: string
  readonly source?: string
}

export interface Program {
  readonly kind: 'program'
  readonly cell: number
  readonly source: string
  /** The name under which V8 reports positions: `cell-<n>.ts`, neither path nor URL, so that `import()` resolves from the current directory. */
  readonly fileName: string
  /**
   * A classic script whose value is a function `(helpers: Helpers) => Promise<unknown>`. Calling it runs the cell; the promise settles with the value of
   * `return` or with what the cell threw.
   */
  readonly code: string
  /** For `vm.Script`: keeps the columns of the first line close to the source's. */
  readonly columnOffset: number
  /** Text that declares the cell's functions, for the helpers; empty when there are none. V8 names it `cell-<n>.functions.ts`. */
  readonly functions: string
  readonly functionPositions: PositionMap
  /** Names that exist from the start of the cell: functions of `functions`, and `var`. */
  readonly hoisted: { readonly functions: readonly string[]; readonly vars: readonly string[] }
  readonly strict: boolean
  readonly imports: readonly ProgramImport[]
  /** Names the cell declares, in order of their first declaration; names of `using` are not among them. */
  readonly declared: readonly Declared[]
  /** Names that occur free or are declared, sorted; of the platform's names only those that a binding hides. */
  readonly touch: readonly string[]
  /** Free names that the cell may assign to (without its own declarations), sorted. */
  readonly writes: readonly string[]
  /** Free names, platform's included, and where they occur: offsets in the source, ascending. */
  readonly occurrences: ReadonlyMap<string, readonly number[]>
  /** Contains `eval`, `Function`, `with`, or a computed access to `globalThis`: may touch any name. */
  readonly dynamic: boolean
  /** Writes a property of a platform object or of `globalThis`, as far as the text shows. */
  readonly world: boolean
  /** In the order in which they end; methods are not among them. */
  readonly literals: readonly Literal[]
  readonly rewrites: readonly Rewrite[]
  readonly positions: PositionMap
}

/** Edits that would make a rejected cell parse: an argument object for `edit_run_code`, without its target. */
export interface ReadyEdit {
  readonly edits?: readonly { readonly old_string: string; readonly new_string: string }[]
  readonly prepend?: string
  readonly append?: string
}

export type RejectionCode = 'OUT-C001' | 'OUT-C002' | 'OUT-C003' | 'OUT-N001' | 'OUT-N002'

export interface Rejection {
  readonly kind: 'rejected'
  readonly code: RejectionCode
  /** `SyntaxError`, or `Error` for a module that is refused. */
  readonly name: string
  readonly message: string
  readonly position: SourcePosition
  /** At most 3 lines. */
  readonly help: readonly string[]
  readonly edit?: ReadyEdit
}

export type Compiled = Program | Rejection
