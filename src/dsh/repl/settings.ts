/** The REPL's keys as the host's row and its settings take them. What is not set here comes from the project's and the person's files. */
import type { Context } from '@deepseek-ai/cordis'
import { installSettingsSection, settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import type { ReplConfig } from '../../repl/types.ts'
import { replKeys } from '../../runtime/config-repl.ts'
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

/** A list that is left out stays left out: without this the schema library fills in an empty one. */
const absent = undefined as never

function about(path: keyof ReplRowConfig): string {
  const key = replKeys.find(each => each.path === path)
  return key === undefined ? '' : `${key.about} (${key.allowed})`
}

function oneOf<const T extends string>(path: keyof ReplRowConfig, ...values: readonly T[]): z<T> {
  return z.union(values.map(value => z.const(value))).description(about(path)) as z<T>
}

const toggle = (path: keyof ReplRowConfig): z<boolean> => z.boolean().description(about(path))
const whole = (path: keyof ReplRowConfig): z<number> => z.natural().description(about(path))

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
  envDeny: z.array(z.string()).default(absent).description(about('envDeny')),
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
  let current: () => ReplRowConfig = () => row
  installSettingsSection(ctx, settingsNamespace(replSettingsName), ReplRowConfig, row, {
    setSource: source => {
      current = source
    },
    onChange: changed,
  })
  return () =>
    Object.fromEntries(
      Object.entries(current()).filter(
        ([name, value]) =>
          value !== undefined && value !== null && replKeys.find(key => key.path === name)?.check(value) === undefined,
      ),
    )
}
