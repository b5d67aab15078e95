/** Slash commands of the host: what a person types to ask Outrigger. The host shows the answer; the model does not see it. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-commands'
import { errorText } from '../cli/print.ts'
import { OutriggerError } from '../errors.ts'
import type { DoctorCheck, DoctorOutput } from '../runtime/doctor.ts'
import { operationsOf } from '../runtime/operations.ts'
import type { Project } from '../runtime/project.ts'
import type { Caller } from '../session/operation.ts'

export interface Reply {
  readonly ok: boolean
  readonly text: string
}

/** @param run - what stands after the command's name, trimmed, to a reply; what it throws becomes an error reply with its hint. */
export function registerCommand(
  ctx: Context,
  command: { readonly name: string; readonly description: string; readonly hint?: string },
  run: (agent: Agent, args: string, signal: AbortSignal) => Promise<Reply>,
): void {
  ctx.commands.register({
    name: command.name,
    description: command.description,
    ...(command.hint !== undefined && { input: { hint: command.hint } }),
    handler: async ({ agent, rawInput, signal }) => {
      const reply = await run(agent, rawInput.trim(), signal).catch(failed)
      return reply.ok ? { kind: 'success', text: reply.text } : { kind: 'error', text: reply.text }
    },
  })
}

const failed = (error: unknown): Reply => ({ ok: false, text: errorText(error).trimEnd() })

/** Who asks when a person typed a command. */
function personCaller(project: Project, session: string, signal: AbortSignal): Caller {
  return { door: 'dsh', actor: project.actor('person'), session, signal, progress: () => {} }
}

/** `/outrigger`: doctor. @param checks - what only the host's process knows. */
export function registerDoctorCommand(ctx: Context, checks: () => readonly DoctorCheck[]): void {
  registerCommand(
    ctx,
    { name: 'outrigger', description: 'Show whether Outrigger works here and what to do if not' },
    async (agent, args, signal) => {
      if (args !== '' && args !== 'doctor') return { ok: false, text: 'use /outrigger' }
      const { project, session } = await ctx.outrigger.live(agent)
      const doctor = operationsOf(project).find(operation => operation.name === 'doctor')
      if (doctor === undefined) throw new OutriggerError('DSH_NO_DOCTOR', 'this build has no doctor')
      const input: unknown = doctor.decode({})
      const found = (await doctor.run(input, personCaller(project, session, signal))) as DoctorOutput
      const at = found.checks.findLastIndex(({ id }) => id === 'next') + 1
      const output: DoctorOutput = { ...found, checks: found.checks.toSpliced(at, 0, ...checks()) }
      return { ok: true, text: doctor.render(output, input) }
    },
  )
}
