/**
 * keel's keys as the host's row and its settings page take them. Every key may be left out: what is not set
 * here comes from the project's and the person's files. Ranges are checked where the files' values are.
 */
import type { Context } from '@deepseek-ai/cordis'
import { installSettingsSection, settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import type { Json } from '../ports/json.ts'

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

/** A list or a group that is left out stays left out: without this the schema library fills in an empty one. */
const absent = undefined as never
const oneOf = <const T extends string>(...values: readonly T[]): z<T> => z.union(values.map(value => z.const(value))) as z<T>
const names = (description: string): z<string[]> => z.array(z.string()).default(absent).description(description)

export const KeelRowConfig: z<KeelRowConfig> = z.object({
  ignore: names('Folder names that keel never enters.'),
  frozen: names('Folder names whose documents are never rewritten.'),
  vendored: names('Folder names whose documents are not documents of this project.'),
  compare: oneOf('normalized', 'exact').description('How contents are compared.'),
  stamps: oneOf('inline', 'file').description('Where stamps are written.'),
  stampNew: oneOf('auto', 'manual').description('Whether an entry without a stamp is stamped by itself.'),
  tell: z.boolean().description('Tell the model by itself. Off: only commands, tools, stamps and status.'),
  hold: oneOf('created', 'off').description('Keep the agent going once when its turn left documents behind.'),
  remindAfterTurns: z
    .array(z.natural())
    .default(absent)
    .description('Turns after which a document left behind is mentioned again.'),
  ack: z
    .object({
      reason: oneOf('optional', 'required').description('Whether an acknowledgement needs a reason.'),
      updated: oneOf('scope', 'off').description('Whether an edit of a document counts as its review.'),
      personOnly: names('Documents that only a person acknowledges.'),
    })
    .default(absent),
  check: z
    .object({
      strict: z.boolean().description('Unverified edges fail a check.'),
      chain: z.boolean().description('Behind a suspect counts as suspect.'),
    })
    .default(absent),
  sweepBudgetMs: z.natural().description('Milliseconds that a look at the project may take.'),
  maxSourceMiB: z.natural().description('Larger sources are not read.'),
  baselineMiB: z.natural().description('Room for old contents to compare with; 0 for none.'),
  watch: z
    .object({
      max: z.natural().description('Files watched at most.'),
      pollMs: z.natural().description('Interval where the system cannot watch.'),
    })
    .default(absent),
  statusFile: z.boolean().description('Write .outrigger/keel/status.md.'),
})

/**
 * Offer keel's keys on the host's settings page, above what the row's own config says.
 *
 * @param changed - called after a person changed one.
 * @returns what is set now, by dotted path: `watch.max`.
 */
export function keelSettings(ctx: Context, row: KeelRowConfig, changed: () => void): () => Readonly<Record<string, Json>> {
  let current: () => KeelRowConfig = () => row
  installSettingsSection(ctx, settingsNamespace('outrigger-keel'), KeelRowConfig, row, {
    setSource: source => {
      current = source
    },
    onChange: changed,
  })
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
