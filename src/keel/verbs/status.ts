/** `status`, `off` and `on`: the state of the project at a glance, and whether sessions hear of it. */
import type { Caller, Operation } from '../../session/operation.ts'
import { statusReport, switchText } from '../report/text.ts'
import type { Edge, KeelProject } from '../types.ts'
import { degradedNotes, watched } from '../watching.ts'
import { type Answer, decoder, inTurn, isOn, type KeelVerbs, sweep } from './shared.ts'

export interface StatusOutput extends Answer {
  readonly children: number
  readonly sources: number
  readonly suspects: readonly (Edge & { readonly since: string })[]
  readonly sweptAt: string
  readonly degraded: readonly string[]
  readonly watch: {
    readonly mode: 'host' | 'native' | 'poll' | 'none'
    readonly watched: number
    readonly unwatched: number
  }
}

type NoInput = Record<string, never>
const noInput = { type: 'object', properties: {}, additionalProperties: false } as const

export function statusOperation(verbs: KeelVerbs): Operation<NoInput, StatusOutput> {
  return {
    name: 'keel.status',
    summary: 'Shows how many documents are behind their sources, and since when.',
    input: noInput,
    readOnly: true,
    decode: decoder<NoInput>(noInput),
    run: (_given, caller) => inTurn(verbs, keel => status(keel, caller)),
    render: statusReport,
    examples: ['outrigger keel status', 'outrigger keel status --json'],
  }
}

async function status(keel: KeelProject, caller: Caller): Promise<StatusOutput> {
  const { children, sources, edges, sweptAt } = await sweep(keel, caller)
  const { paths, unwatched } = watched(keel)
  // The program itself watches nothing; in a host it is the host that does.
  const isHost = caller.door === 'dsh' || caller.door === 'claude-code'
  return {
    on: isOn(keel),
    children,
    sources,
    suspects: edges.filter(edge => edge.state === 'suspect').map(edge => ({ ...edge, since: keel.since(edge) })),
    sweptAt: new Date(sweptAt).toISOString(),
    degraded: degradedNotes(keel),
    watch: {
      mode: isHost ? 'host' : 'none',
      watched: isHost ? paths.length : 0,
      unwatched: isHost ? unwatched : paths.length + unwatched,
    },
  }
}

export interface SwitchOutput extends Answer {
  readonly file: string
  readonly changed: boolean
  /** After `on`. */
  readonly children?: number
  readonly suspects?: number
}

export function offOperation(verbs: KeelVerbs): Operation<NoInput, SwitchOutput> {
  return {
    name: 'keel.off',
    summary: 'Silences keel in sessions of this project; check and the other verbs still work.',
    input: noInput,
    readOnly: false,
    decode: decoder<NoInput>(noInput),
    run: () => inTurn(verbs, keel => keel.setOff(true)),
    render: switchText,
    wrote: ({ changed, file }) => (changed ? { what: 'off', text: `sessions are silent (${file})` } : undefined),
    examples: ['outrigger keel off', 'outrigger keel off --json'],
  }
}

export function onOperation(verbs: KeelVerbs): Operation<NoInput, SwitchOutput> {
  return {
    name: 'keel.on',
    summary: 'Lets sessions of this project hear keel again, and looks at everything.',
    input: noInput,
    readOnly: false,
    decode: decoder<NoInput>(noInput),
    run: (_given, caller) => inTurn(verbs, keel => turnOn(keel, caller)),
    render: switchText,
    wrote: ({ changed }) => (changed ? { what: 'on', text: 'sessions hear keel again' } : undefined),
    examples: ['outrigger keel on', 'outrigger keel on --json'],
  }
}

async function turnOn(keel: KeelProject, caller: Caller): Promise<SwitchOutput> {
  const { on, file, changed } = await keel.setOff(false)
  const { children, edges } = await sweep(keel, caller)
  return { on, file, changed, children, suspects: edges.filter(edge => edge.state === 'suspect').length }
}
