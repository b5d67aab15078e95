/**
 * The row of the playform profile, under the name of the hook that it replaces and with that hook's keys: it stands in for
 * `outrigger/dsh/companion`, both at once are one too many.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { identities } from '../companion/config.ts'
import * as companion from './companion.ts'

export const name: string = identities.playform.label
export const inject: string[] = companion.inject
export type Config = companion.Config
export const Config: z<companion.Config> = companion.Config

export function apply(ctx: Context, config: Config = {}): void {
  companion.apply(ctx, { ...config, compat: 'playform' })
}
