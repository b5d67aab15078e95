/** The REPL's tools of a server that may have an engine process beside it: a session that is open here stays here, all others live there. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Beside } from './beside.ts'
import type { ReplTools } from './repl.ts'
import { refusalOf } from './tools.ts'

export function createReplBeside(here: ReplTools, beside: Beside): ReplTools {
  /** The call that an answer of the process belongs to. */
  const calls = new WeakMap<CallToolResult, string>()
  return {
    ...here,
    async call(name, given, signal, progress) {
      if (here.holds(given)) return here.call(name, given, signal, progress)
      try {
        const answer = await beside.ask(
          { op: name, input: given ?? {}, env: beside.env },
          { signal, progress: (_what, seconds) => progress(seconds) },
        )
        if (answer === undefined) return await here.call(name, given, signal, progress)
        const result = answer.output as CallToolResult
        calls.set(result, answer.id)
        return result
      } catch (error) {
        return refusalOf(error)
      }
    },
    async heard(answer) {
      const id = calls.get(answer)
      if (id === undefined) return here.heard(answer)
      const { signal } = new AbortController()
      // That it could not be noted costs one repetition.
      await beside.ask({ op: 'repl.heard', input: { id } }, { signal, progress: () => {} }).catch(() => undefined)
    },
  }
}
