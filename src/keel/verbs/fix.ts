/** `fix`: references that can be put right, proposed or applied; and stamps moved to their other home. */

import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { names } from '../../text/fit.ts'
import type { KeelDeps } from '../deps.ts'
import { fixText } from '../report/text.ts'
import type { BoundaryResult, FixResult, KeelProject, Suggestion } from '../types.ts'
import { type Answer, decoder, inTurn, isOn, type KeelVerbs, pathsField, projectPath, sweep, whoOf } from './shared.ts'

export interface FixInput {
  readonly paths?: readonly string[]
  readonly apply?: boolean
  readonly only?: Suggestion['basis']
  readonly stamps?: 'inline' | 'file'
}

export interface FixOutput extends Answer {
  readonly proposals: FixResult['proposals']
  readonly written?: readonly string[]
  readonly skipped?: FixResult['skipped']
  /** With `stamps`: those that were moved, or with `dryRun` those that would be. */
  readonly stamped?: BoundaryResult['stamped']
  readonly dryRun?: true
  readonly degraded: readonly string[]
}

const input = {
  type: 'object',
  properties: {
    paths: pathsField,
    apply: {
      type: 'boolean',
      description: 'do it: rewrite the references, whose stamps stay, or move the stamps; without it nothing is written',
      default: false,
    },
    only: {
      type: 'string',
      description: 'only what was found this way: by content, by a rename in git, by likeness',
      enum: ['content', 'git', 'similar'],
    },
    stamps: {
      type: 'string',
      description: 'move every stamp into the documents or into the stamps file; without --apply it only says which',
      enum: ['inline', 'file'],
    },
  },
  additionalProperties: false,
} as const

export function fixOperation(verbs: KeelVerbs): Operation<FixInput, FixOutput> {
  return {
    name: 'keel.fix',
    tool: 'keel_fix',
    summary: 'Proposes, or with apply makes, corrections of references whose file, heading or lines moved.',
    guidance:
      'A stamp says which content of a source was reviewed; a fix changes only where the reference points and keeps the stamp. Look at the proposals before you apply them.',
    input,
    cliOnly: ['stamps'],
    positional: ['paths'],
    readOnly: false,
    decode: decoder<FixInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => fix(keel, deps, given, caller)),
    render: fixText,
    exitCode: isLeft,
    wrote: ({ written = [] }) =>
      written.length === 0 ? undefined : { what: 'fixed', text: `rewrote references or stamps in ${names(written, 3)}` },
    examples: ['outrigger keel fix docs --apply --only content', 'outrigger keel fix --stamps file --apply'],
  }
}

/** 1: something could be put right or moved, and was not. */
function isLeft({ proposals, stamped = [], skipped = [], dryRun }: FixOutput): 0 | 1 {
  const isOpen = proposals.some(proposal => !proposal.applied)
  const isUnmoved = dryRun === true && stamped.length > 0
  return isOpen || isUnmoved || skipped.length > 0 ? 1 : 0
}

async function fix(keel: KeelProject, deps: KeelDeps, given: FixInput, caller: Caller): Promise<FixOutput> {
  await sweep(keel, caller)
  if (given.stamps !== undefined) return moveStamps(keel, given, given.stamps)
  const paths = given.paths?.map(path => projectPath(path, keel, deps, caller))
  const proposals = await keel.fixes({
    ...(paths !== undefined && paths.length > 0 && { paths }),
    ...(given.only !== undefined && { only: given.only }),
  })
  if (given.apply !== true || proposals.length === 0) {
    const { degraded } = keel.assessment()
    return { on: isOn(keel), proposals: proposals.map(proposal => ({ ...proposal, applied: false })), degraded }
  }
  const result = await keel.applyFixes(proposals, { who: await whoOf(caller, deps), onBusy: 'refuse' })
  await keel.save()
  const { proposals: done, written, skipped } = result
  return { on: isOn(keel), proposals: done, written, skipped, degraded: keel.assessment().degraded }
}

async function moveStamps(keel: KeelProject, given: FixInput, to: 'inline' | 'file'): Promise<FixOutput> {
  if (given.only !== undefined || (given.paths !== undefined && given.paths.length > 0)) {
    throw new OutriggerError('BAD_INPUT', 'stamps are moved all together', {
      subject: 'stamps',
      hint: 'leave PATH and --only out',
    })
  }
  const isDry = given.apply !== true
  const { stamped, written, skipped } = await keel.moveStamps(to, { onBusy: 'refuse', dryRun: isDry })
  await keel.save()
  const { degraded } = keel.assessment()
  return { on: isOn(keel), proposals: [], written, skipped, stamped, degraded, ...(isDry && { dryRun: true as const }) }
}
