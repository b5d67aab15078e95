/** The REPL's keys as the host's row and its settings take them. What is not set here comes from the project's and the person's files. */
import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import type { ReplConfig } from '../../repl/types.ts'
import { replKeys } from '../../runtime/config-repl.ts'
import { allowedOf, rowSchema, rowSettings } from '../row-schema.ts'
import { replSettingsName } from '../web/repl-shown.ts'

export interface ReplRowConfig {
  enabled?: boolean
  computeMs?: number
  wallMs?: number
  heapMb?: number
  rssMb?: number
  outputBytes?: number
  modelChars?: number
  previewChars?: number
  idleMs?: number
  maxWorkers?: number
  maxNestedRuns?: number
  env?: 'inherit' | 'minimal'
  envDeny?: string[]
  decorators?: 'auto' | 'standard' | 'legacy'
  jsx?: 'off' | 'react-jsx'
  tips?: boolean
  tipCooldown?: number
  tipEscalation?: number
  canonicalizeCalls?: boolean
  cordisTools?: boolean
}

const { oneOf, texts, toggle, whole } = rowSchema<keyof ReplRowConfig>(replKeys)

export const ReplRowConfig: z<ReplRowConfig> = z.object({
  enabled: toggle('enabled'),
  computeMs: whole('computeMs'),
  wallMs: whole('wallMs'),
  heapMb: whole('heapMb'),
  rssMb: whole('rssMb'),
  outputBytes: whole('outputBytes'),
  modelChars: whole('modelChars'),
  previewChars: whole('previewChars'),
  idleMs: whole('idleMs'),
  maxWorkers: whole('maxWorkers'),
  maxNestedRuns: whole('maxNestedRuns'),
  env: oneOf('env', 'inherit', 'minimal'),
  envDeny: texts('envDeny'),
  decorators: oneOf('decorators', 'auto', 'standard', 'legacy'),
  jsx: oneOf('jsx', 'off', 'react-jsx'),
  tips: toggle('tips'),
  tipCooldown: whole('tipCooldown'),
  tipEscalation: whole('tipEscalation'),
  canonicalizeCalls: toggle('canonicalizeCalls'),
  cordisTools: toggle('cordisTools'),
})

/**
 * Offer the keys among the host's settings, above what the row's own config says.
 *
 * @param changed - called after one of them changed.
 * @returns what is set now. A value out of its range does not count.
 */
export function replSettings(ctx: Context, row: ReplRowConfig, changed: () => void): () => Partial<ReplConfig> {
  const current = rowSettings(ctx, replSettingsName, ReplRowConfig, row, changed)
  return () => allowedOf(replKeys, current())
}
