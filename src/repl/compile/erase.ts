/** Types become blanks of the same length, so that lines and columns stay. */
import { findToken, identifierEnd, isLineEnd, type Node, skipTrivia } from './ast.ts'
import type { Handler, Walk } from './walk.ts'

function hasLineEnd(source: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (isLineEnd(source.charCodeAt(index))) return true
  return false
}

/** Types in front of something that must stay on its line. */
export function eraseInline(walk: Walk, start: number, end: number): void {
  if (hasLineEnd(walk.source, start, end)) {
    walk.edits.blankInline(start, end)
    walk.erasedEnds.add(end)
    walk.typeRanges.push([start, end])
  } else walk.eraseType(start, end)
}

/** The `?`, `!` and annotation after a bound identifier or pattern. */
export function eraseAnnotation(walk: Walk, node: Node): void {
  const annotation = node['typeAnnotation'] as Node | null | undefined
  if (node.type === 'Identifier') {
    if (annotation === null || annotation === undefined) {
      if (node['optional'] !== true) return
    }
    const nameEnd = identifierEnd(walk.source, node.start)
    if (node.end > nameEnd) walk.eraseType(nameEnd, node.end)
    return
  }
  if (annotation === null || annotation === undefined) return
  if (node['optional'] === true) {
    const mark = walk.source.lastIndexOf('?', annotation.start)
    walk.eraseType(mark, annotation.end)
  } else walk.eraseType(annotation.start, annotation.end)
}

const precedence: Readonly<Record<string, number>> = {
  '??': 1,
  '||': 2,
  '&&': 3,
  '|': 4,
  '^': 5,
  '&': 6,
  '==': 7,
  '!=': 7,
  '===': 7,
  '!==': 7,
  '<': 8,
  '>': 8,
  '<=': 8,
  '>=': 8,
  instanceof: 8,
  in: 8,
  '<<': 9,
  '>>': 9,
  '>>>': 9,
  '+': 10,
  '-': 10,
  '*': 11,
  '/': 11,
  '%': 11,
  '**': 12,
}

/** `a + b as T * c` multiplies the sum. */
function keepGrouping(walk: Walk, node: Node, parent: Node): void {
  if (parent.type !== 'BinaryExpression' || parent['left'] !== node || node['extra']?.parenthesized === true) return
  const inner = node['expression'] as Node
  if (inner.type !== 'BinaryExpression' || inner['extra']?.parenthesized === true) return
  if ((precedence[inner['operator']] ?? 0) >= (precedence[parent['operator']] ?? 0)) return
  walk.edits.open(node.start, '(')
  walk.edits.close(inner.end, ')')
}

/** `expression as T`, `expression satisfies T`. */
const conversion: Handler = (walk, node, parent) => {
  const expression = node['expression'] as Node
  keepGrouping(walk, node, parent)
  walk.visit(expression, node)
  const keyword = node.type === 'TSAsExpression' ? 'as' : 'satisfies'
  const from = findToken(walk.source, expression.end, keyword)
  walk.eraseType(from === -1 ? expression.end : from, node.end)
}

const nonNull: Handler = (walk, node) => {
  walk.visit(node['expression'], node)
  walk.eraseType(node.end - 1, node.end)
}

const assertion: Handler = (walk, node) => {
  const close = skipTrivia(walk.source, node['typeAnnotation'].end)
  eraseInline(walk, node.start, close + 1)
  walk.erasedEnds.delete(close + 1)
  walk.visit(node['expression'], node)
}

const instantiation: Handler = (walk, node) => {
  walk.visit(node['expression'], node)
  walk.visit(node['typeArguments'], node)
}

/** A declaration of types only. */
const statement: Handler = (walk, node) => {
  walk.edits.blankStatement(node.start, node.end)
  walk.typeRanges.push([node.start, node.end])
}

/** `;` where the end of a statement was erased together with what would have ended it. */
export function guardEnd(walk: Walk, node: Node): void {
  if (walk.erasedEnds.has(node.end) && walk.source[node.end - 1] !== ';') walk.edits.end(node.end)
}

const guarded: Handler = (walk, node) => {
  walk.visit(node['expression'] ?? node['argument'], node)
  guardEnd(walk, node)
}

export const eraseHandlers: Readonly<Record<string, Handler>> = {
  TSAsExpression: conversion,
  TSSatisfiesExpression: conversion,
  TSNonNullExpression: nonNull,
  TSTypeAssertion: assertion,
  TSInstantiationExpression: instantiation,
  TSInterfaceDeclaration: statement,
  TSTypeAliasDeclaration: statement,
  TSDeclareFunction: statement,
  TSDeclareMethod: statement,
  TSIndexSignature: statement,
  TSNamespaceExportDeclaration: statement,
  ReturnStatement: guarded,
  ThrowStatement: guarded,
}
