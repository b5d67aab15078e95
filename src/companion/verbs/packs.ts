/** `packs`: which packs count here, and what they add up to. */
import type { Operation } from '../../session/operation.ts'
import { bestOf, documentNumber, shownConfidence } from '../confidence.ts'
import { activationLine } from '../engine.ts'
import { defaultSignature } from '../pack/builtin.ts'
import type { PackFault } from '../pack/types.ts'
import { rootAbove } from '../playform/workspace.ts'
import { type Companion, gateNow, isEnabled, labelOf } from '../project.ts'
import type { Compat, Layer, WeightedSignal } from '../types.ts'
import { decoder, type GetCompanion } from './shared.ts'

export interface PacksOutput {
  readonly compat: Compat
  readonly root: string
  readonly foreign: boolean
  readonly signature: readonly string[] | null
  readonly layers: readonly {
    readonly layer: Layer
    readonly file: string | null
    readonly status: 'used' | 'absent' | 'ignored'
    readonly faults: readonly PackFault[]
    readonly warnings: readonly string[]
  }[]
  readonly intents: readonly {
    readonly id: string
    readonly domain: string
    readonly priority: number
    readonly threshold: number | null
    readonly gate: number
    readonly kMax: number
    readonly reachable: boolean
    readonly enabled: boolean
    readonly from: Layer
    readonly signals: readonly WeightedSignal[]
    readonly targets: readonly string[]
    readonly find: readonly string[]
  }[]
  readonly conventions: readonly { readonly from: string; readonly to: readonly string[] }[]
  readonly claims: readonly {
    readonly id: string
    readonly files: readonly string[]
    readonly text: string
    readonly measure: unknown
    readonly required: boolean
  }[]
  /** The line that a session would log. */
  readonly activation: string
}

const input = { type: 'object', properties: {}, additionalProperties: false } as const

export function packsOperation(get: GetCompanion): Operation<object, PacksOutput> {
  return {
    name: 'companion.packs',
    summary: 'Shows which packs count here, their intents with their gates, and what is wrong in a pack that is ignored.',
    input,
    readOnly: true,
    decode: decoder<object>(input),
    run: async () => packs(get()),
    render,
    exitCode: output => (output.layers.some(({ status }) => status === 'ignored') ? 1 : 0),
    examples: ['outrigger companion packs', 'outrigger companion packs --json'],
  }
}

function packs(companion: Companion): PacksOutput {
  const { deps } = companion
  const config = companion.config()
  const found = config.compat === 'playform' ? rootAbove(companion, config, deps.root) : null
  const root = found?.root ?? deps.root
  const compiled = found?.compiled ?? companion.compiled(config)
  const signature = compiled.signature ?? (config.compat === 'playform' ? defaultSignature : null)
  const carries = (file: string) => {
    try {
      return deps.files.stat(`${deps.root}/${file}`)?.kind === 'file'
    } catch {
      return false
    }
  }
  const isForeign =
    config.compat === 'playform' ? found === null : signature !== null && (signature.length === 0 || !signature.every(carries))
  return {
    compat: config.compat,
    root: root.replaceAll('\\', '/'),
    foreign: isForeign,
    signature,
    layers: compiled.layers.map(({ layer, file, status, faults, warnings }) => ({ layer, file, status, faults, warnings })),
    intents: compiled.intents.map(intent => {
      const gate = gateNow(intent, config)
      const best = bestOf(intent)
      const { id, domain, priority, threshold, from, signals, targets, find } = intent
      return {
        id,
        domain,
        priority,
        threshold,
        gate,
        kMax: documentNumber(best),
        reachable: best >= gate,
        enabled: isEnabled(intent, config),
        from,
        signals,
        targets,
        find,
      }
    }),
    conventions: compiled.conventions.map(({ from, to }) => ({ from, to })),
    claims: compiled.claims.map(({ id, files, text, measure, required }) => ({ id, files, text, measure, required })),
    activation: `${labelOf(config)}: ${activationLine(companion, config)}`,
  }
}

function render(output: PacksOutput): string {
  return [
    `profile ${output.compat}, root ${output.root}${output.foreign ? ' (foreign)' : ''}`,
    ...output.layers.flatMap(({ layer, file, status, faults, warnings }) => [
      `${layer}: ${status}${file === null ? '' : ` ${file}`}`,
      ...faults.map(({ code, message }) => `  ${code}: ${message}`),
      ...warnings.map(warning => `  warning: ${warning}`),
    ]),
    ...output.intents.map(
      ({ id, priority, gate, kMax, reachable, enabled, from, signals }) =>
        `${id} (${from}) priority ${priority}, gate ${shownConfidence(gate)}, at most ${shownConfidence(kMax)}${reachable ? '' : ', never reached'}${enabled ? '' : ', off'}: ${signals
          .map(signal => `${signal.id} ${signal.weight}`)
          .join(', ')}`,
    ),
    output.activation,
  ].join('\n')
}
