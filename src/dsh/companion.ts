/**
 * The row that switches companion on in DSH, with its settings and tools. The row `core` owns the runtime and
 * the listeners.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { createCompanionEngine } from '../companion/engine.ts'
import { companionOperations } from '../companion/verbs/index.ts'
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { companionKeys } from '../runtime/config-companion.ts'
import { rowSchema } from './row-schema.ts'
import type {} from './runtime.ts'
import { registerTools } from './tools.ts'
import { testNodes } from './workspace-graph.ts'

export const name = 'outrigger-companion'
export const inject: string[] = ['outrigger', 'tools']

/** What the host's row may set; what it leaves out comes from the project's and the person's files. */
export interface Config {
  compat?: 'none' | 'playform'
  enabled?: boolean
  log?: boolean
  logFile?: string
  threshold?: number
  maxCandidates?: number
  maxNoteChars?: number
  cooldownCalls?: number
  maxNotesPerTurn?: number
  intents?: string[]
  emitOn?: string[]
  exclude?: string[]
  parity?: string[]
  evidence?: string[]
  observe?: boolean
  wholeRuns?: string[]
  refillCalls?: number
  maxStrikes?: number
  atTurnEnd?: 'off' | 'status' | 'hold'
  yieldToKeel?: boolean
}

const { number, oneOf, text, texts, toggle, whole } = rowSchema<keyof Config>(companionKeys)

export const Config: z<Config> = z.object({
  compat: oneOf('compat', 'none', 'playform'),
  enabled: toggle('enabled'),
  log: toggle('log'),
  logFile: text('logFile'),
  threshold: number('threshold'),
  maxCandidates: whole('maxCandidates'),
  maxNoteChars: whole('maxNoteChars'),
  cooldownCalls: whole('cooldownCalls'),
  maxNotesPerTurn: whole('maxNotesPerTurn'),
  intents: texts('intents'),
  emitOn: texts('emitOn'),
  exclude: texts('exclude'),
  parity: texts('parity'),
  evidence: texts('evidence'),
  observe: toggle('observe'),
  wholeRuns: texts('wholeRuns'),
  refillCalls: whole('refillCalls'),
  maxStrikes: whole('maxStrikes'),
  atTurnEnd: oneOf('atTurnEnd', 'off', 'status', 'hold'),
  yieldToKeel: toggle('yieldToKeel'),
})

export function apply(ctx: Context, config: Config = {}): void {
  ctx.effect(() =>
    ctx.outrigger.engine({
      name: 'companion',
      settings: () => settingsOf(config),
      create: project => createCompanionEngine(project.companion(), { nodes: dir => testNodes(ctx.get('workspaceGraph'), dir) }),
    }),
  )
  // The table describes the tools before there is a project; a call runs on the session's own.
  registerTools(ctx, companionOperations(noProject))
}

function noProject(): never {
  throw new OutriggerError('DSH_NO_SESSION', 'no session is open', { hint: 'call it in a session' })
}

function settingsOf(config: Config): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]: [string, unknown]) => value !== undefined && value !== null),
  ) as Readonly<Record<string, Json>>
}
