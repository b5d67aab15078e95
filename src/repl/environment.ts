/** The environment of a worker. */
import type { ReplConfig } from './types.ts'

/** Would make the worker another program, or let it write where it must not. */
const denied = /^(NODE_OPTIONS|NODE_CHANNEL_.*|NODE_V8_COVERAGE|NODE_TEST_CONTEXT|ELECTRON_RUN_AS_NODE)$/
const minimal = /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|SHELL|USER|SystemRoot|USERPROFILE|COMSPEC|PATHEXT)$/

export function workerEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  config: Pick<ReplConfig, 'env' | 'envDeny'>,
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || denied.test(name) || config.envDeny.includes(name)) continue
    if (config.env === 'minimal' && !minimal.test(name)) continue
    kept[name] = value
  }
  return kept
}
