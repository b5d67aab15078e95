/** Types a slash command for the person who pressed something, so that it stands in the log as their act. */
import type { Surroundings } from './follow.ts'

/** @returns why it was refused. */
export async function execute(around: Surroundings, agentId: string, line: string): Promise<string | undefined> {
  const request = {
    type: 'client-request',
    rpcId: `outrigger-${Date.now()}`,
    method: 'commands/execute',
    payload: { args: { agentId, line, images: [] } },
  }
  try {
    const answer = await around.fetch('/api/commands/execute', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: new AbortController().signal,
    })
    const { result } = (await answer.json()) as {
      readonly result?: {
        readonly ok: boolean
        readonly value?: { readonly result?: { readonly kind: string; readonly text?: string } }
      }
    }
    if (result?.ok !== true) return 'the host did not take it'
    return result.value?.result?.kind === 'error' ? result.value.result.text : undefined
  } catch {
    // The host restarts or is gone; what was pressed goes with its view.
    return 'the host does not answer'
  }
}
