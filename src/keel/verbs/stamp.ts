/** `stamp`: write the stamps that wait. `scan`: look at everything again, and write none. */

import type { Caller, Operation } from '../../session/operation.ts'
import { names } from '../../text/fit.ts'
import type { KeelDeps } from '../deps.ts'
import { scanText, stampText } from '../report/text.ts'
import type { BoundaryResult, KeelProject } from '../types.ts'
import {
  type Answer,
  decoder,
  inTurn,
  isOn,
  type KeelVerbs,
  pathsField,
  projectPath,
  refreshOptions,
  sweep,
  whoOf,
} from './shared.ts'

export interface StampInput {
  readonly paths?: readonly string[]
  readonly dryRun?: boolean
}

export interface StampOutput extends Answer, Pick<BoundaryResult, 'stamped' | 'written' | 'skipped'> {
  readonly dryRun?: true
  readonly degraded: readonly string[]
}

const stampInput = {
  type: 'object',
  properties: { paths: pathsField, dryRun: { type: 'boolean', description: 'say what would be written, write nothing' } },
  additionalProperties: false,
} as const

export function stampOperation(verbs: KeelVerbs): Operation<StampInput, StampOutput> {
  return {
    name: 'keel.stamp',
    summary: 'Writes a stamp beside every source that has none yet, and for every @ok.',
    input: stampInput,
    positional: ['paths'],
    readOnly: false,
    decode: decoder<StampInput>(stampInput),
    run: (given, caller) => inTurn(verbs, (keel, deps) => stamp(keel, deps, given, caller)),
    render: stampText,
    wrote: ({ stamped, written }) =>
      written.length === 0 ? undefined : { what: 'stamped', text: `stamped ${stamped.length} in ${names(written, 3)}` },
    examples: ['outrigger keel stamp', 'outrigger keel stamp docs --dry-run'],
  }
}

async function stamp(keel: KeelProject, deps: KeelDeps, given: StampInput, caller: Caller): Promise<StampOutput> {
  await sweep(keel, caller)
  const who = await whoOf(caller, deps)
  const isDry = given.dryRun === true
  const { stamped, written, skipped } = await keel.boundary({
    ...(given.paths !== undefined &&
      given.paths.length > 0 && { paths: given.paths.map(path => projectPath(path, keel, deps, caller)) }),
    ...(isDry && { dryRun: true }),
    onBusy: 'refuse',
    who,
    byAgent: who.kind === 'agent',
  })
  await keel.save()
  const { degraded } = keel.assessment()
  return { on: isOn(keel), stamped, written: isDry ? [] : written, skipped, degraded, ...(isDry && { dryRun: true }) }
}

export interface ScanOutput extends Answer {
  readonly children: number
  readonly sources: number
  readonly found: readonly string[]
  readonly gone: readonly string[]
  readonly pending: number
  readonly suspects: number
  readonly degraded: readonly string[]
}

const scanInput = { type: 'object', properties: {}, additionalProperties: false } as const

export function scanOperation(verbs: KeelVerbs): Operation<Record<string, never>, ScanOutput> {
  return {
    name: 'keel.scan',
    summary: 'Reads every document and source again, whatever was known about them.',
    input: scanInput,
    readOnly: false,
    decode: decoder<Record<string, never>>(scanInput),
    run: (_given, caller) => inTurn(verbs, keel => scan(keel, caller)),
    render: scanText,
    examples: ['outrigger keel scan', 'outrigger keel scan --json'],
  }
}

async function scan(keel: KeelProject, caller: Caller): Promise<ScanOutput> {
  const { children, sources, found, gone, edges } = await keel.refresh(
    { kind: 'full', ignoreCache: true, searchMoves: true },
    refreshOptions(caller, keel),
  )
  await keel.save()
  return {
    on: isOn(keel),
    children,
    sources,
    found,
    gone,
    pending: edges.filter(edge => edge.state === 'pending-stamp' || edge.state === 'ok-requested').length,
    suspects: edges.filter(edge => edge.state === 'suspect').length,
    degraded: keel.assessment().degraded,
  }
}
