/**
 * Regular expressions that can be stopped: they run in a context of their own, and the engine interrupts it when the time is over. The context has nothing
 * of ours in it.
 */
import { createContext, Script } from 'node:vm'
import type { FindMatches, FoundMatch, MatchOutcome } from '../repl/edit/index.ts'

/** One call with primitives in and arrays of primitives out. */
const script = new Script(`
  (() => {
    'use strict'
    let regexp
    try {
      regexp = new RegExp(pattern, flags)
    } catch (error) {
      return error.message
    }
    // The names above are looked up outside the context; once is enough.
    const text = source
    const end = most
    const found = []
    while (found.length < end) {
      const match = regexp.exec(text)
      if (match === null) break
      found.push(match)
      if (match[0] === '') break
    }
    return found
  })()
`)

export function createFindMatches(): FindMatches {
  const sandbox: Record<string, unknown> = Object.create(null)
  const context = createContext(sandbox)
  return (pattern, flags, source, maxMatches, timeoutMs): MatchOutcome => {
    if (timeoutMs < 1) return { kind: 'timeout' }
    Object.assign(sandbox, { pattern, flags, source, most: maxMatches })
    const begin = performance.now()
    let found: string | readonly RegExpExecArray[]
    try {
      found = script.runInContext(context, { timeout: Math.ceil(timeoutMs) }) as typeof found
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'timeout' }
      throw error
    } finally {
      Object.assign(sandbox, { source: '' })
    }
    if (typeof found === 'string') return { kind: 'invalid', message: found }
    const matches = found.map((match): FoundMatch => ({ index: match.index, groups: match, named: match.groups }))
    return { kind: 'matches', matches, ms: performance.now() - begin }
  }
}
