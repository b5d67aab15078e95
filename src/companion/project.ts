/** companion in one project: its knowledge, its packs, its settings of now. Sessions and verbs share one. */
import type { ClaimCache } from './claims/check-claims.ts'
import { createObservations, type Observations } from './claims/observations.ts'
import { gateOf, raiseOf } from './confidence.ts'
import { identities, isLiteral } from './config.ts'
import type { CompanionDeps } from './deps.ts'
import { createLayers } from './pack/layers.ts'
import type { Compiled } from './pack/types.ts'
import { createKnowledge, type Knowledge } from './sources.ts'
import type { CompanionConfig, Intent } from './types.ts'

export interface Companion {
  readonly deps: CompanionDeps
  readonly knowledge: Knowledge
  /** Runs of tests that any session of the project was seen to make. */
  readonly observations: Observations
  readonly claimCache: ClaimCache
  /** As it is now. Throws `COMPANION_BAD_CONFIG`. */
  config(): CompanionConfig
  /** The packs of a root; the project's own when left out. */
  compiled(config: CompanionConfig, root?: string): Compiled
}

export function createCompanion(deps: CompanionDeps): Companion {
  const layers = createLayers(deps)
  const knowledge = createKnowledge(deps, () => deps.config().history)
  return {
    deps,
    knowledge,
    observations: createObservations(),
    claimCache: new Map(),
    config: () => deps.config(),
    compiled: (config, root = deps.root) => layers.compile(root, config.compat),
  }
}

export const labelOf = (config: CompanionConfig): string => identities[config.compat].label

/** The gate of an intent as it is now. */
export const gateNow = (intent: Intent, config: CompanionConfig): number =>
  gateOf(intent, raiseOf(config, isLiteral(config, 'gate')))

/** Is this intent switched on? Ids that nobody knows switch nothing on. */
export const isEnabled = (intent: Intent, config: CompanionConfig): boolean =>
  config.intents.length === 0 || config.intents.includes(intent.id)
