/** Names of kinds that are not one name each. */
import { type Graph, isGraphObject } from './graph.ts'

export const bufferName = (value: { readonly shared: boolean }): string => (value.shared ? 'SharedArrayBuffer' : 'ArrayBuffer')

export function boxName(value: Graph): string {
  if (isGraphObject(value)) return 'Symbol'
  const names = { number: 'Number', string: 'String', boolean: 'Boolean', bigint: 'BigInt' } as const
  return names[typeof value as keyof typeof names] ?? 'Object'
}
