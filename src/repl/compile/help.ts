/** The likely cause of a fault, in at most three lines. */
import type { ParseFault } from './parse.ts'

/** A Markdown fence around the code: a legal tagged template now and then, and never what was meant. */
export function fenceFault(source: string): ParseFault | undefined {
  if (!/^\s*```[^\n`]*(?:\n|$)/.test(source)) return undefined
  return { reason: 'Fence', message: 'The code stands inside a Markdown fence.', offset: source.indexOf('```') }
}

const byReason: Readonly<Record<string, string>> = {
  Fence: 'Send the code without the ``` lines.',
  AwaitNotInAsyncContext: 'The function around this await is not async.',
  DeclarationMissingInitializer: 'Give the const a value, or use let.',
  VarRedeclaration: 'A name can be declared again in a later cell, and once per cell; assign to it instead.',
  TooDeep: 'Split the code into several cells.',
  UnterminatedString: 'A string ends on the line where it begins; use a template literal for several lines.',
  UnterminatedTemplate: 'A template literal is not closed, or contains a backtick that needs a backslash.',
}

interface Clue {
  readonly pattern: RegExp
  readonly text: string
}

const clues: readonly Clue[] = [
  { pattern: /^[ \t]*def \w+\(.*\)\s*(?:->.*)?:\s*$/m, text: 'This looks like Python: a function is function name(…) { … }.' },
  {
    pattern: /^[ \t]*(?:elif|else|if|for|while|try|except|with)\b[^{\n]*:\s*(?:#.*)?$/m,
    text: 'This looks like Python: blocks stand in braces, conditions in parentheses.',
  },
  { pattern: /^[ \t]*from \w[\w.]* import /m, text: 'This looks like Python: write import { name } from "module".' },
  { pattern: /^[ \t]*print /m, text: 'This looks like Python: write console.log(…).' },
  { pattern: /^[ \t]*#(?!!)/m, text: 'Comments begin with //.' },
  { pattern: /\bf["'][^"'\n]{0,200}\{/, text: 'A string with values is a template literal, in backticks.' },
  {
    pattern: /^[ \t]*(?:\$ |sudo |npm |cd |ls |git )/m,
    text: 'This looks like a shell command; run it with node:child_process.',
  },
  { pattern: /(?:^|[(=,?:&|])\s*<[A-Za-z][\w.]*[\s/>]/m, text: 'JSX is not available here.' },
]

/** @returns at most three lines. */
export function helpFor(source: string, fault: ParseFault): string[] {
  const lines: string[] = []
  const known = byReason[fault.reason]
  if (known !== undefined) lines.push(known)
  // Clues are looked for around the fault, not in all of a long source.
  const near = source.slice(Math.max(0, fault.offset - 2_000), fault.offset + 2_000)
  for (const { pattern, text } of clues) if (lines.length < 3 && pattern.test(near)) lines.push(text)
  return lines
}
