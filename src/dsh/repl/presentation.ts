/**
 * What the model of an agent is offered. Where programs are the agent's only way to tools, that is `run_code` and `edit_run_code`, in this order, and
 * nothing else; where both ways are open, `edit_run_code` comes beside the rest; an agent with native tools only is left alone. Read once for an agent,
 * at its first prompt; every prompt after it is the same transformation, so that a request's beginning stays the same.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { PromptAssembly } from '@deepseek-ai/dsh-system-prompt'
import { renderToolsSdk, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { declarations, directCallRefused, promptSection } from '../../repl/prompt.ts'
import { differenceOf } from './seam.ts'

export const sectionName = 'outrigger:repl'
const editName = 'edit_run_code'
/** What a model calls directly where programs are the only way to the other tools. */
export const offered: ReadonlySet<string> = new Set(['run_code', editName])
const codeOnly: readonly string[] = ['tools:code-only', 'tools:ptc-only']

const isRunCode = (each: { readonly name: string }): boolean => each.name === 'run_code'

type Mode = 'native' | 'code' | 'both'

interface Presented {
  readonly mode: Mode
  /** `edit_run_code` can be called directly. */
  readonly hasEdit: boolean
  readonly undo: readonly (() => unknown)[]
}

export interface Presentation {
  /** The prompt as the agent's model gets it. */
  transform(agent: Agent, assembly: PromptAssembly): PromptAssembly
  /** The REPL was turned off: the host's own presentation is back. @returns whether that changed anything. */
  withdraw(agent: Agent): boolean
  /** Its programs run in the REPL as far as the host's form of them is known. */
  isServed(agent: Agent): boolean
  /** Programs are the agent's only way to the other tools. */
  isCodeOnly(agent: Agent): boolean
  forget(agent: Agent): void
}

/** @param degraded - told what an agent is not offered, and why. */
export function createPresentation(
  ctx: Context,
  tool: (agent: Agent) => ToolDefinition,
  degraded: (agent: Agent, why: string) => void,
): Presentation {
  const presented = new Map<Agent, Presented>()

  const decide = (agent: Agent, assembly: PromptAssembly): Presented => {
    const mode = modeOf(assembly)
    const undo: (() => unknown)[] = []
    const difference = mode === 'native' ? undefined : differenceOf(assembly.tools.find(isRunCode)?.parameters)
    if (difference !== undefined) {
      degraded(agent, `run_code of this host is another one (${difference}); programs run without the REPL`)
      return { mode: 'native', hasEdit: false, undo }
    }
    if (mode === 'native') return { mode, hasEdit: false, undo }
    const scoped = agent.ctx.tools
    try {
      if (mode === 'code') {
        undo.push(scoped.presentAs('both'))
        undo.push(
          scoped.guard(exec => (exec.parent === undefined && !offered.has(exec.name) ? directCallRefused(exec.name) : undefined)),
        )
      }
      undo.push(scoped.register(tool(agent)))
      return { mode, hasEdit: true, undo }
    } catch (error) {
      // The scope has a declaration or a tool of that name already, and keeps it.
      for (const each of undo.reverse()) each()
      const why = error instanceof Error ? error.message : String(error)
      degraded(agent, `edit_run_code is not offered: ${why}`)
      return { mode, hasEdit: false, undo: [] }
    }
  }

  return {
    transform: (agent, assembly) => {
      let own = presented.get(agent)
      if (own === undefined) {
        own = decide(agent, assembly)
        presented.set(agent, own)
      }
      const { mode, hasEdit } = own
      if (mode === 'native') return assembly
      return {
        ...assembly,
        tools: toolsOf(assembly, own, hasEdit ? tool(agent) : undefined),
        sections: sectionsOf(ctx, agent, assembly, own),
      }
    },
    withdraw: agent => {
      const own = presented.get(agent)
      presented.delete(agent)
      for (const undo of [...(own?.undo ?? [])].reverse()) undo()
      return own !== undefined && own.mode !== 'native'
    },
    isServed: agent => presented.get(agent)?.mode !== 'native',
    isCodeOnly: agent => presented.get(agent)?.mode === 'code',
    forget: agent => void presented.delete(agent),
  }
}

/** As the host presents its tools in this prompt. */
function modeOf({ sections, tools }: PromptAssembly): Mode {
  const section = sections.find(each => codeOnly.includes(each.name))
  if (section !== undefined && section.text !== '') return 'code'
  if (!tools.some(each => each.name === 'run_code')) return 'native'
  return section === undefined && tools.length === 1 ? 'code' : 'both'
}

function toolsOf({ tools }: PromptAssembly, { mode }: Presented, edit: ToolDefinition | undefined): PromptAssembly['tools'] {
  const others = tools.filter(each => each.name !== editName && (mode === 'both' || offered.has(each.name)))
  if (edit === undefined) return others
  const { name, description, parameters } = edit
  return others.flatMap(each => (each.name === 'run_code' ? [each, { name, description, parameters }] : [each]))
}

function sectionsOf(
  ctx: Context,
  agent: Agent,
  { sections }: PromptAssembly,
  { hasEdit, mode }: Presented,
): PromptAssembly['sections'] {
  return sections
    .filter(each => !(hasEdit && mode === 'code' && codeOnly.includes(each.name)))
    .map(each => {
      if (each.name === sectionName) return { ...each, text: promptSection(hasEdit) }
      return each.name === 'tools:sdk' ? { ...each, text: sdkOf(ctx, agent, each.text) } : each
    })
}

/** The declarations for programs: without `edit_run_code`, with ours. A text that the host made in another way is left as it is. */
function sdkOf(ctx: Context, agent: Agent, text: string): string {
  const schemas = ctx.tools.schemas(agent).flatMap(schema => {
    const output = ctx.tools.get(schema.name, agent)?.output.schema
    return schema.name === 'run_code' || output === undefined ? [] : [{ ...schema, output }]
  })
  const own = renderToolsSdk(schemas.filter(schema => schema.name !== editName))
  if (text !== own && text !== renderToolsSdk(schemas)) return text
  return own.endsWith('\n```') ? `${own.slice(0, -'\n```'.length)}\n\n${declarations}\n\`\`\`` : own
}
