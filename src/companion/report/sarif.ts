/** The answer of `check` as SARIF: one result a finding, in the same order. Pure. */
import { createHash } from 'node:crypto'
import { type SarifResult, type SarifRule, sarifFile, sarifLog } from '../../text/sarif.ts'
import type { CheckOutput, DriftDocument, UntouchedDocument } from '../verbs/check.ts'

const rules: readonly SarifRule[] = [
  {
    id: 'companion/claim',
    shortDescription: 'A number in a document differs from what was counted',
    help: 'Correct the text, or the code if the text is right.',
    level: 'error',
  },
  {
    id: 'companion/table',
    shortDescription: 'The total of a table differs from its rows',
    help: 'Correct the total, or the row that is wrong.',
    level: 'error',
  },
  {
    id: 'companion/pattern',
    shortDescription: 'A required claim stands nowhere',
    help: 'Write the claim again, or take it out of the pack.',
    level: 'error',
  },
  {
    id: 'companion/suite',
    shortDescription: 'A suite and what is said of it differ',
    help: 'Correct the count in the README, the file of the suite or the roster.',
    level: 'error',
  },
  {
    id: 'companion/untouched',
    shortDescription: 'A file changed and its companion did not',
    help: 'Look whether the companion still holds; change it, or leave it.',
    level: 'warning',
  },
]

const ruleOfReason: Readonly<Record<string, string>> = {
  'the claim differs from the last whole run': 'companion/claim',
  'the claim differs from the tree': 'companion/claim',
  'the table total differs from its rows': 'companion/table',
  'the claim pattern matched nothing': 'companion/pattern',
}

export function checkSarif(output: CheckOutput): string {
  const results = [...output.drifts.map(driftResult), ...output.untouched.map(untouchedResult)]
  return `${JSON.stringify(sarifLog({ name: 'outrigger companion', automation: 'outrigger/companion/', rules }, results), null, 2)}\n`
}

function driftResult({ file, line, reason, expected, actual }: DriftDocument): SarifResult {
  const ruleId = ruleOfReason[reason] ?? 'companion/suite'
  return {
    ruleId,
    level: 'error',
    message: `${reason} (expected ${expected}, actual ${actual})`,
    location: { physicalLocation: { artifactLocation: sarifFile(file), region: { startLine: line } } },
    fingerprints: { 'companionDrift/v1': fingerprint(ruleId, file, reason) },
  }
}

function untouchedResult({ path, companion, intent, because }: UntouchedDocument): SarifResult {
  return {
    ruleId: 'companion/untouched',
    level: 'warning',
    message: `${companion} did not change with ${path}: ${because.join('; ')}`,
    location: { physicalLocation: { artifactLocation: sarifFile(path), region: { startLine: 1 } } },
    fingerprints: { 'companionUntouched/v1': fingerprint(intent, path, companion) },
  }
}

/** Without lines, so that a finding stays itself when text above it moves. */
const fingerprint = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)
