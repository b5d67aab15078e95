/** `edit_run_code`: the changed source of an earlier cell as a new cell. */
import type { Json } from '../ports/json.ts'
import type { Rejection } from './compile/program.ts'
import { chooseTarget, decodeEditRequest, editSource, type FindMatches, isRefused } from './edit/index.ts'
import type { EditFailure, EditInput, EditResult, RunOptions, RunResult } from './types.ts'

export interface EditParts {
  readonly newest: number | undefined
  exists(cell: number): boolean
  source(cell: number): Promise<string | undefined>
  readonly findMatches: FindMatches
  parse(source: string): Promise<Rejection | 'lost' | undefined>
  run(code: string, edit: NonNullable<RunOptions['edit']>): Promise<RunResult>
}

export async function editCell(input: EditInput, parts: EditParts): Promise<EditResult> {
  const request = decodeEditRequest(input)
  if (isRefused(request)) return refused(request.error)
  const chosen = chooseTarget(
    { target: numberOf(input['target']), expectedTarget: numberOf(input['expected_target']) },
    parts.newest,
    parts.exists,
  )
  if (isRefused(chosen)) return refused(chosen.error)
  const target = chosen.cell
  const source = await parts.source(target)
  if (source === undefined) {
    return refused(
      {
        code: 'OUT-E007',
        message: `the source of cell ${target} is not there any more`,
        help: ['Send the whole cell.'],
        subject: 'target',
      },
      target,
    )
  }
  const edited = editSource(source, request, parts.findMatches)
  if (isRefused(edited)) return refused(edited.error, target)
  if (input['dry_run'] === true) return dryRun(edited.source, target, parts)
  const kept = Object.fromEntries(
    ['edits', 'regex_edits', 'inserts', 'prepend', 'append'].flatMap(name =>
      input[name] === undefined ? [] : [[name, input[name] as Json]],
    ),
  )
  return { edited: true, target, ...(await parts.run(edited.source, { target, request: kept })) }
}

async function dryRun(source: string, target: number, { parse }: EditParts): Promise<EditResult> {
  const rejection = await parse(source)
  if (rejection === 'lost') return { ok: true, edited: false, target, parses: false }
  if (rejection === undefined) return { ok: true, edited: false, target, parses: true }
  const { code, name, message, position, help } = rejection
  return {
    ok: true,
    edited: false,
    target,
    parses: false,
    error: { code, name, message, phase: 'parse', state: 'unchanged', position, ...(help.length > 0 && { help }) },
  }
}

function refused({ code, message, help, subject }: EditFailure, target?: number): EditResult {
  return {
    ok: false,
    edited: false,
    ...(target !== undefined && { target }),
    error: { code, message, ...(help !== undefined && help.length > 0 && { help }), ...(subject !== undefined && { subject }) },
  }
}

/** A number that is no cell is refused as a target that is not there. */
const numberOf = (value: unknown): number | undefined =>
  value === undefined ? undefined : typeof value === 'number' ? value : Number.NaN
