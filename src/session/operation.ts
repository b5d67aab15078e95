/**
 * One thing a person, a model or a script can ask for, described once for every door: CLI verb, MCP
 * tool, DSH tool and command, and `--json` are projections of the same value.
 */

import type { Voice } from './voice.ts'

/** The subset of JSON Schema that operations use: flat objects of scalars and lists of strings. Hosts take it unchanged. */
export interface FieldSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array'
  readonly description: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: { readonly type: 'string'; readonly maxLength?: number }
  readonly maxItems?: number
  readonly default?: string | number | boolean
}

export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties: false
}

/** Who asks; found once by the door (`runtime/actor.ts`), the rules on people and agents ask nothing else. */
export interface Actor {
  readonly kind: 'person' | 'agent' | 'plugin'
  readonly name?: string
  readonly basis: 'host' | 'terminal' | 'stated'
}

export interface Caller {
  readonly door: 'cli' | 'mcp' | 'dsh' | 'claude-code' | 'hook' | 'serve'
  readonly actor: Actor
  readonly session?: string
  /** Where relative paths that a person typed begin; left out: the project's root. */
  readonly cwd?: string
  /** Standard input, for a file that was given as `-`. Only the command line has one. */
  readonly stdin?: () => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  /** Progress for people: what, how many of how many. */
  progress(what: string, done: number, total: number): void
}

export interface Operation<Input = never, Output = unknown> {
  /** Lower-case, dotted: `keel.check` is `outrigger keel check` and the schema `outrigger.keel.check/1`. */
  readonly name: string
  /** The tool's name in MCP and in hosts; left out: no tool. */
  readonly tool?: string
  /** What the caller gets, in one sentence; the model reads it. */
  readonly summary: string
  /** More for the model, when it needs to know how to use the tool. */
  readonly guidance?: string
  readonly input: InputSchema
  /** Fields of `input` that a tool does not offer (output formats, files to write). */
  readonly cliOnly?: readonly string[]
  /** Fields that a tool's schema asks for although a command line can do without them. */
  readonly toolRequired?: readonly string[]
  /** What fields that are left out are for a tool, where it differs from the command line; `run` fills them in by the caller's door. */
  readonly toolDefaults?: Readonly<Record<string, string | number | boolean>>
  /** The same for the command line, in words of its help. */
  readonly cliDefaults?: Readonly<Record<string, string>>
  /** Fields that are positional arguments on the command line, in order; a list takes the rest. */
  readonly positional?: readonly string[]
  /** Changes nothing in the project or the store. */
  readonly readOnly: boolean
  /** Check a value that crossed a wire. Throws `BAD_INPUT` naming the path of the field. */
  decode(value: unknown): Input
  /** The document without its `schema`, which the door adds. */
  run(input: Input, caller: Caller): Promise<Output>
  /** Instead of `run`, for operations that report as they go: one document a line. */
  stream?(input: Input, caller: Caller): AsyncIterable<Output>
  /** What a person reads where a stream had nothing. */
  readonly nothing?: string
  /** The same answer as text, for a terminal (when left out) or for a model that called the tool; takes nothing but the document. */
  render(output: Output, input: Input, voice?: Voice): string
  /** Other forms of the answer, by the value of `format`. */
  readonly formats?: Readonly<Record<string, (output: Output, input: Input) => string>>
  /** 1 for findings. Default 0. */
  exitCode?(output: Output, input: Input): 0 | 1
  /** What it wrote into the project, for the ledger; `undefined`: nothing. Operations that never write leave it out. */
  wrote?(output: Output): { readonly what: string; readonly text: string } | undefined
  /** Two command lines for `outrigger help`. */
  readonly examples: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a table of operations of different inputs
export type AnyOperation = Operation<any, any>
