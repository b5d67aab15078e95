import type { ParseFault } from './parse.ts'
export function fenceFault(_source: string): ParseFault | undefined {
  return undefined
}
