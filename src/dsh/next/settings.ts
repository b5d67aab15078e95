/** next-step's keys as the host's row and its settings take them. What is not set here comes from the person's and the project's files. */
import type { Context } from '@deepseek-ai/cordis'
import { installSettingsSection, settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import type { Json } from '../../ports/json.ts'
import { nextKeys } from '../../runtime/config-next.ts'
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

function about(path: keyof NextRowConfig): string {
  const key = nextKeys.find(each => each.path === path)
  return key === undefined ? '' : `${key.about} (${key.allowed})`
}

function oneOf<const T extends string>(path: keyof NextRowConfig, ...values: readonly T[]): z<T> {
  return z.union(values.map(value => z.const(value))).description(about(path)) as z<T>
}

const whole = (path: keyof NextRowConfig): z<number> => z.natural().description(about(path))
const words = (path: keyof NextRowConfig): z<string> => z.string().description(about(path))

export const NextRowConfig: z<NextRowConfig> = z.object({
  model: words('model'),
  local: z.boolean().description(about('local')),
  prefer: oneOf('prefer', 'model', 'local'),
  maxChars: whole('maxChars'),
  contextChars: whole('contextChars'),
  timeoutMs: whole('timeoutMs'),
  maxRounds: whole('maxRounds'),
  maxTokens: whole('maxTokens'),
  maxMinutes: whole('maxMinutes'),
  flatRounds: whole('flatRounds'),
  judgeModel: words('judgeModel'),
  risk: oneOf('risk', 'hold', 'allow'),
  checkTimeoutMs: whole('checkTimeoutMs'),
})

/** @returns what is set now. A value that is not allowed does not count. */
export function nextSettings(ctx: Context, row: NextRowConfig, changed: () => void): () => Readonly<Record<string, Json>> {
  let current: () => NextRowConfig = () => row
  installSettingsSection(ctx, settingsNamespace(nextSettingsName), NextRowConfig, row, {
    setSource: source => {
      current = source
    },
    onChange: changed,
  })
  return () =>
    Object.fromEntries(
      Object.entries(current()).filter(
        ([path, value]) =>
          value !== undefined && value !== null && nextKeys.find(key => key.path === path)?.check(value as Json) === undefined,
      ),
    ) as Readonly<Record<string, Json>>
}
