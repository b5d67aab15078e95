/** The configuration of next-step: every key with its kind, checked at load and again where a number is used. */
import type { Fault } from '../errors.ts'
import { defaultNextConfig, isModelName, type NextConfig, type NumberKey, ranges } from './types.ts'

/** What is allowed for a key, in words. */
export function allowedFor(key: keyof NextConfig): string {
  switch (key) {
    case 'model':
    case 'judgeModel':
      return "'' or provider/model"
    case 'local':
      return 'true or false'
    case 'prefer':
      return 'model or local'
    case 'risk':
      return 'hold or allow'
    default:
      return `an integer from ${ranges[key][0]} to ${ranges[key][1]}`
  }
}

export function isAllowed(key: keyof NextConfig, value: unknown): boolean {
  switch (key) {
    case 'model':
    case 'judgeModel':
      return value === '' || isModelName(value)
    case 'local':
      return typeof value === 'boolean'
    case 'prefer':
      return value === 'model' || value === 'local'
    case 'risk':
      return value === 'hold' || value === 'allow'
    default:
      return isInRange(key, value)
  }
}

export function isInRange(key: NumberKey, value: unknown): boolean {
  const [min, max] = ranges[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}

export const nextConfigKeys: readonly (keyof NextConfig)[] = Object.keys(defaultNextConfig) as (keyof NextConfig)[]

/** A whole configuration from what was given, or every fault of it. */
export function readConfig(given: Readonly<Record<string, unknown>>): {
  readonly config: NextConfig
  readonly faults: readonly Fault[]
} {
  const faults: Fault[] = []
  const config: Record<string, unknown> = { ...defaultNextConfig }
  for (const [key, value] of Object.entries(given)) {
    const known = nextConfigKeys.find(one => one === key)
    if (known === undefined) faults.push({ key, message: `there is no key "${key.slice(0, 60)}"` })
    else if (!isAllowed(known, value)) faults.push({ key, message: `allowed is ${allowedFor(known)}` })
    else config[known] = value
  }
  return { config: config as unknown as NextConfig, faults }
}
