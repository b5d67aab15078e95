/**
 * keel's keys as the host's row and its settings page take them. Every key may be left out: what is not set
 * here comes from the project's and the person's files. Ranges are checked where the files' values are.
 */
import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import type { Json } from '../ports/json.ts'
import { keelKeys } from '../runtime/config-keel.ts'
import { absent, rowSchema, rowSettings } from './row-schema.ts'
import { settingsName } from './web/shown.ts'

export interface KeelRowConfig {
  ignore?: string[]
  frozen?: string[]
  vendored?: string[]
  compare?: 'normalized' | 'exact'
  stamps?: 'inline' | 'file'
  stampNew?: 'auto' | 'manual'
  tell?: boolean
  hold?: 'created' | 'off'
  remindAfterTurns?: number[]
  ack?: { reason?: 'optional' | 'required'; updated?: 'scope' | 'off'; personOnly?: string[] }
  check?: { strict?: boolean; chain?: boolean }
  sweepBudgetMs?: number
  maxSourceMiB?: number
  baselineMiB?: number
  watch?: { max?: number; pollMs?: number }
  statusFile?: boolean
}

const { about, oneOf, texts, toggle, whole } = rowSchema<string>(keelKeys)

export const KeelRowConfig: z<KeelRowConfig> = z.object({
  ignore: texts('ignore'),
  frozen: texts('frozen'),
  vendored: texts('vendored'),
  compare: oneOf('compare', 'normalized', 'exact'),
  stamps: oneOf('stamps', 'inline', 'file'),
  stampNew: oneOf('stampNew', 'auto', 'manual'),
  tell: toggle('tell'),
  hold: oneOf('hold', 'created', 'off'),
  remindAfterTurns: z.array(z.natural()).default(absent).description(about('remindAfterTurns')),
  ack: z
    .object({
      reason: oneOf('ack.reason', 'optional', 'required'),
      updated: oneOf('ack.updated', 'scope', 'off'),
      personOnly: texts('ack.personOnly'),
    })
    .default(absent),
  check: z.object({ strict: toggle('check.strict'), chain: toggle('check.chain') }).default(absent),
  sweepBudgetMs: whole('sweepBudgetMs'),
  maxSourceMiB: whole('maxSourceMiB'),
  baselineMiB: whole('baselineMiB'),
  watch: z.object({ max: whole('watch.max'), pollMs: whole('watch.pollMs') }).default(absent),
  statusFile: toggle('statusFile'),
})

/**
 * Offer keel's keys on the host's settings page, above what the row's own config says.
 *
 * @param changed - called after a person changed one.
 * @returns what is set now, by dotted path: `watch.max`.
 */
export function keelSettings(ctx: Context, row: KeelRowConfig, changed: () => void): () => Readonly<Record<string, Json>> {
  const current = rowSettings(ctx, settingsName, KeelRowConfig, row, changed)
  return () => Object.fromEntries(pathsOf('', current()))
}

/** Keys that are set, groups opened. */
function pathsOf(prefix: string, values: object): readonly (readonly [string, Json])[] {
  return Object.entries(values).flatMap(([key, value]: [string, unknown]) => {
    if (value === undefined || value === null) return []
    const path = `${prefix}${key}`
    return typeof value === 'object' && !Array.isArray(value) ? pathsOf(`${path}.`, value) : [[path, value as Json] as const]
  })
}
