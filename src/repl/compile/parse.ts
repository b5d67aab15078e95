/** One parse: the cell as the body of a sloppy function that may await, with all of TypeScript. */
import { type ParserOptions, parse } from '@babel/parser'
import { type Node, skipTrivia } from './ast.ts'

export interface ParseFault {
  /** Babel's name of the fault. */
  readonly reason: string
  readonly message: string
  readonly offset: number
}

export type Parsed =
  | { readonly kind: 'parsed'; readonly program: Node }
  | { readonly kind: 'fault'; readonly fault: ParseFault; readonly program?: Node }

const base: ParserOptions = {
  sourceType: 'script',
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowImportExportEverywhere: true,
  errorRecovery: true,
  attachComment: false,
}

const optionsOf = (legacy: boolean, jsx: boolean): ParserOptions => ({
  ...base,
  plugins: [
    'typescript',
    legacy ? 'decorators-legacy' : 'decorators',
    'decoratorAutoAccessors',
    ...(jsx ? (['jsx'] as const) : []),
  ],
})

/** Faults of types, which are advisory, and of forms that are legal in a cell though not in a script. */
const allowed = new Set([
  'ImportMetaOutsideModule',
  'NonAbstractClassHasAbstractMethod',
  'AbstractMethodHasImplementation',
  'AbstractPropertyHasInitializer',
  'OverrideNotInSubClass',
  'AccessorCannotDeclareThisParameter',
  'AccessorCannotHaveTypeParameters',
  'ConstructorHasTypeParameters',
  'DeclareClassFieldHasInitializer',
  'DeclareFunctionHasImplementation',
  'EmptyTypeArguments',
  'EmptyTypeParameters',
  'IndexSignatureHasAbstract',
  'IndexSignatureHasAccessibility',
  'IndexSignatureHasDeclare',
  'IndexSignatureHasOverride',
  'InitializerNotAllowedInAmbientContext',
  'InvalidModifierOnTypeMember',
  'InvalidModifierOnTypeParameter',
  'InvalidModifiersOrder',
  'InvalidTupleMemberLabel',
  'MixedLabeledAndUnlabeledElements',
  'NonClassMethodPropertyHasAbstractModifier',
  'OptionalTypeBeforeRequired',
  'PrivateElementHasAbstract',
  'PrivateElementHasAccessibility',
  'ReadonlyForMethodSignature',
  'SetAccessorCannotHaveOptionalParameter',
  'SetAccessorCannotHaveRestParameter',
  'SetAccessorCannotHaveReturnType',
  'TypeImportCannotSpecifyDefaultAndNamed',
  'UnexpectedTypeDeclaration',
  'ConstInitializerMustBeStringOrNumericLiteralOrLiteralEnumReference',
])

interface BabelFault {
  readonly reasonCode: string
  readonly message: string
  readonly pos: number
}

const faultOf = (source: string, error: BabelFault): ParseFault => ({
  reason: error.reasonCode ?? 'Unknown',
  message: error.message.replace(/ ?\(\d+:\d+\)$/, '').replace(/\s*\n[\s\S]*$/, ''),
  // A missing semicolon is noticed at the token that cannot follow.
  offset: error.reasonCode === 'MissingSemicolon' ? skipTrivia(source, error.pos) : Math.max(0, error.pos ?? 0),
})

/** Imports and exports stand at the top of a cell, and `using` may stand there. */
function isAllowed(error: BabelFault, program: Node, legacy: boolean): boolean {
  if (allowed.has(error.reasonCode)) return true
  if (error.reasonCode === 'UnsupportedParameterDecorator') return legacy
  if (error.reasonCode !== 'UnexpectedUsingDeclaration') return false
  return (program['body'] as Node[]).some(statement => statement.start === error.pos)
}

/** What was thrown may follow from a fault that the parser recovered from: look for the first without recovery. */
function firstFault(source: string, choice: ParseChoice, thrown: BabelFault): ParseFault {
  try {
    parse(source, { ...optionsOf(choice.decorators === 'legacy', choice.jsx === 'react-jsx'), errorRecovery: false })
  } catch (error) {
    const first = error as BabelFault
    if (first.pos < thrown.pos && !allowed.has(first.reasonCode) && first.reasonCode !== 'UnexpectedUsingDeclaration')
      return faultOf(source, first)
  }
  return faultOf(source, thrown)
}

export interface ParseChoice {
  readonly decorators: 'standard' | 'legacy'
  readonly jsx: 'off' | 'react-jsx'
}

/** Parse a cell. Never throws. */
export function parseCell(source: string, choice: ParseChoice): Parsed {
  // Faults are recovered from by the thousand in a hostile source; their stacks would cost more than the parse. No code of a cell runs meanwhile.
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return parseQuietly(source, choice)
  } finally {
    Error.stackTraceLimit = limit
  }
}

function parseQuietly(source: string, choice: ParseChoice): Parsed {
  const legacy = choice.decorators === 'legacy'
  let file: { readonly program: unknown; readonly errors: unknown }
  try {
    file = parse(source, optionsOf(legacy, choice.jsx === 'react-jsx'))
  } catch (error) {
    // What cannot be recovered from is thrown; a program nested too deeply exhausts the stack.
    if (error instanceof RangeError)
      return { kind: 'fault', fault: { reason: 'TooDeep', message: 'The code is nested too deeply.', offset: 0 } }
    return { kind: 'fault', fault: firstFault(source, choice, error as BabelFault) }
  }
  const program = file.program as Node
  const errors = ((file.errors ?? []) as BabelFault[]).filter(error => !isAllowed(error, program, legacy))
  if (errors.length === 0) return { kind: 'parsed', program }
  const first = errors.reduce((least, error) => (error.pos < least.pos ? error : least))
  return { kind: 'fault', fault: faultOf(source, first), program }
}
