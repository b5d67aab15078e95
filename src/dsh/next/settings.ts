/** next-step's keys as the host's row and its settings take them. What is not set here comes from the person's and the project's files. */
import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import type { Json } from '../../ports/json.ts'
import { nextKeys } from '../../runtime/config-next.ts'
import { allowedOf, rowSchema, rowSettings } from '../row-schema.ts'
import { nextSettingsName } from '../web/next-shown.ts'

export interface NextRowConfig {
  model?: string
  local?: boolean
  prefer?: 'model' | 'local'
  maxChars?: number
  contextChars?: number
  timeoutMs?: number
  maxRounds?: number
  maxTokens?: number
  maxMinutes?: number
  flatRounds?: number
  judgeModel?: string
  risk?: 'hold' | 'allow'
  checkTimeoutMs?: number
}

const { oneOf, text, toggle, whole } = rowSchema<keyof NextRowConfig>(nextKeys)

export const NextRowConfig: z<NextRowConfig> = z.object({
  model: text('model'),
  local: toggle('local'),
  prefer: oneOf('prefer', 'model', 'local'),
  maxChars: whole('maxChars'),
  contextChars: whole('contextChars'),
  timeoutMs: whole('timeoutMs'),
  maxRounds: whole('maxRounds'),
  maxTokens: whole('maxTokens'),
  maxMinutes: whole('maxMinutes'),
  flatRounds: whole('flatRounds'),
  judgeModel: text('judgeModel'),
  risk: oneOf('risk', 'hold', 'allow'),
  checkTimeoutMs: whole('checkTimeoutMs'),
})

/** @returns what is set now. A value that is not allowed does not count. */
export function nextSettings(ctx: Context, row: NextRowConfig, changed: () => void): () => Readonly<Record<string, Json>> {
  const current = rowSettings(ctx, nextSettingsName, NextRowConfig, row, changed)
  return () => allowedOf(nextKeys, current())
}
