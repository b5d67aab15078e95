/** The section `models`: whom the command line asks. The person's file only; a key itself never stands in it. */
import type { Json } from '../ports/json.ts'
import type { ConfigKey } from './config-keys.ts'

export interface ModelProvider {
  readonly api: 'openai' | 'anthropic'
  readonly baseUrl: string
  /** Name of the environment variable that holds the key; `null`: the endpoint wants none. */
  readonly apiKeyEnv: string | null
}

export interface ModelsConfig {
  /** `provider/model`. */
  readonly default: string | null
  readonly providers: Readonly<Record<string, ModelProvider>>
}

const route = 'provider/model'
const isRoute = (value: Json): boolean => typeof value === 'string' && /^[^/\s]+\/\S+$/.test(value) && value.length <= 300
const providersAllowed =
  'a mapping of names to {api: openai or anthropic, baseUrl: an http or https URL, apiKeyEnv: a variable name}'

export const modelsKeys: readonly ConfigKey[] = [
  {
    path: 'default',
    precedence: 'person-file',
    default: null,
    allowed: route,
    check: value => (isRoute(value) ? undefined : route),
    about: 'Whom the command line asks, as provider/model.',
  },
  {
    path: 'providers',
    precedence: 'person-file',
    default: null,
    allowed: providersAllowed,
    check: value => (areProviders(value) ? undefined : providersAllowed),
    about: 'Endpoints by name: {api, baseUrl, apiKeyEnv}.',
  },
]

/** From the resolved section, whose values were checked. */
export function modelsConfig(section: Readonly<Record<string, Json>>): ModelsConfig {
  const { default: chosen = null, providers } = section
  const all = Object.entries((providers ?? {}) as Readonly<Record<string, Fields>>).map(([name, fields]) => {
    const { api, baseUrl, apiKeyEnv } = fields
    const provider: ModelProvider = {
      api: api === 'anthropic' ? 'anthropic' : 'openai',
      baseUrl: String(baseUrl),
      apiKeyEnv: typeof apiKeyEnv === 'string' ? apiKeyEnv : null,
    }
    return [name, provider] as const
  })
  return { default: typeof chosen === 'string' ? chosen : null, providers: Object.fromEntries(all) }
}

type Fields = Readonly<Record<string, Json>>

function areProviders(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value as Fields).every(([name, fields]) => /^[^/\s]{1,100}$/.test(name) && isProvider(fields))
}

function isProvider(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { api, baseUrl, apiKeyEnv, ...rest } = value as Fields
  if (Object.keys(rest).length > 0 || (api !== 'openai' && api !== 'anthropic')) return false
  if (apiKeyEnv !== undefined && apiKeyEnv !== null && !isVariable(apiKeyEnv)) return false
  return typeof baseUrl === 'string' && isUrl(baseUrl)
}

const isVariable = (value: Json): boolean => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(value)

function isUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}
