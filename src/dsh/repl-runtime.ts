/**
 * The row that provides the host's code runtime: cells of a session run in its REPL, through the row `repl`. Everything else is the host's own runtime:
 * programs of nobody's session, and all of them while the REPL is turned off or its row is not mounted.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { CodeRunRequest, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import WorkerThreadCodeRuntime, { type Config } from '@deepseek-ai/dsh-code-runtime-worker-thread'
import { ownRuntime } from './repl/seam.ts'
import type { DshRepl } from './repl/service.ts'

export default class ReplCodeRuntime extends WorkerThreadCodeRuntime {
  constructor(ctx: Context, config: Config) {
    super(ctx, config)
    Object.assign(this, { isolation: 'process', [ownRuntime]: true })
  }

  override async run(request: CodeRunRequest): Promise<CodeRunResult> {
    const repl = this.ctx.get('outriggerRepl') as DshRepl | undefined
    return (await repl?.run(request)) ?? super.run(request)
  }
}
