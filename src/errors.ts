/**
 * The one error type of the project: a code that tests and scripts rely on, the subject it is about,
 * and a hint that is an action. Everything else that is thrown is a fault of ours.
 */

/** A place in a text file; lines and columns from 1, columns in UTF-16 units. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One fault of several, as in a configuration file. */
export interface Fault {
  readonly key: string
  readonly message: string
  readonly position?: Position
}

/** 2 usage or bad input · 3 something needed is unavailable · 4 somebody else holds it · 1 a refused check · 70 our fault. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 70

export interface ErrorDetails {
  readonly subject?: string
  readonly hint?: string
  /** The hint for a model that called a tool, where `hint` is a command line. */
  readonly toolHint?: string
  readonly position?: Position
  readonly faults?: readonly Fault[]
  /** Default 2. */
  readonly exit?: ExitCode
  readonly cause?: unknown
}

export class OutriggerError extends Error {
  readonly code: string
  readonly subject: string | undefined
  readonly hint: string | undefined
  readonly toolHint: string | undefined
  readonly position: Position | undefined
  readonly faults: readonly Fault[] | undefined
  readonly exit: ExitCode

  /** @param code - `SCREAMING_SNAKE`, prefixed by the engine; stable. */
  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'OutriggerError'
    this.code = code
    this.subject = details.subject
    this.hint = details.hint
    this.toolHint = details.toolHint
    this.position = details.position
    this.faults = details.faults
    this.exit = details.exit ?? 2
  }
}

/** The document of `--json` for an error (`outrigger.error/1`), and of a tool's refusal. */
export function errorDocument(
  error: unknown,
  voice: 'terminal' | 'tool' = 'terminal',
): {
  readonly schema: 'outrigger.error/1'
  readonly error: Readonly<Record<string, unknown>>
} {
  if (!(error instanceof OutriggerError)) {
    const message = error instanceof Error ? error.message : String(error)
    return {
      schema: 'outrigger.error/1',
      error: { code: 'INTERNAL', message, hint: 'run it again with OUTRIGGER_DEBUG=1 and report the stack' },
    }
  }
  const { code, message, subject, position, faults } = error
  const hint = voice === 'tool' ? (error.toolHint ?? error.hint) : error.hint
  return {
    schema: 'outrigger.error/1',
    error: {
      code,
      message,
      ...(subject !== undefined && { subject }),
      ...(hint !== undefined && { hint }),
      ...(position !== undefined && { position }),
      ...(faults !== undefined && { faults }),
    },
  }
}
