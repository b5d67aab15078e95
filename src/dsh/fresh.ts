/** Opens a session beside another one: same folder, same model, the same preset. The old one stays. */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import { type Agent, installModelSelection, type ModelSelection } from '@deepseek-ai/dsh-agent'
import { SessionId } from '@deepseek-ai/dsh-session'

/** Services of the web profile, as far as they are used here. */
interface Presets {
  resolve(id: string | undefined): Promise<{ readonly id: string }>
  mount(agentCtx: Context, id: string): Promise<unknown>
}
interface Workspaces {
  resolveByPath(cwd: string): Promise<{ attachSession(id: string): unknown } | undefined>
}
interface DefaultModel {
  currentSelection(): ModelSelection
}

/** @param onId - told the id before the session begins: its start is heard before this resolves. */
export async function openBeside(ctx: Context, old: Agent, onId: (session: string) => void): Promise<Agent> {
  const { header, events } = old.session
  const presets = ctx.get('agentPresets') as Presets | undefined
  const preset = await presets?.resolve(presetOf(events) ?? header.agentPreset)
  const selection = selectionOf(ctx, old)
  const sessionId = SessionId(`session-${randomUUID()}`)
  onId(sessionId)
  const { agent } = await ctx.agents.create({
    sessionId,
    meta: { ...(header.cwd !== undefined && { cwd: header.cwd }), ...(preset !== undefined && { agentPreset: preset.id }) },
    agentOptions: { ...old.options, ...(selection !== undefined && { provider: selection.provider, model: selection.model }) },
    setup: async agentCtx => {
      if (selection !== undefined) installModelSelection(agentCtx, { current: selection, assembled: undefined })
      if (presets !== undefined && preset !== undefined) await presets.mount(agentCtx, preset.id)
    },
  })
  if (header.cwd !== undefined) await attach(ctx, header.cwd, sessionId)
  return agent
}

/** What the conversation used last, else what a new one would use. */
function selectionOf(ctx: Context, old: Agent): ModelSelection | undefined {
  const config = old.session.requestHeader()?.config
  if (config !== undefined) {
    const { provider, model, reasoningEffort } = config
    return { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }
  }
  return (ctx.get('agentDefaultModel') as DefaultModel | undefined)?.currentSelection()
}

function presetOf(events: readonly { readonly type: string; readonly data: unknown }[]): string | undefined {
  const chosen = events.findLast(event => event.type === 'agent-preset/selected')
  return (chosen?.data as { readonly agentPreset?: string } | undefined)?.agentPreset
}

/** Shown in the folder's group; a session without one stands under "Ungrouped". */
async function attach(ctx: Context, cwd: string, session: string): Promise<void> {
  const workspaces = ctx.get('workspaceRegistry') as Workspaces | undefined
  await (await workspaces?.resolveByPath(cwd))?.attachSession(session)
}
