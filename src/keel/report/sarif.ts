/** The answer of `check` as SARIF: one result a suspect, one rule a reason. Pure. */
import { type SarifLocation, type SarifResult, type SarifRule, sarifFile, sarifLog } from '../../text/sarif.ts'
import { hintOf } from '../messages.ts'
import { sourceName } from '../naming.ts'
import type { Edge, LocatedProblem } from '../types.ts'
import type { CheckOutput, EdgePlace } from '../verbs/check.ts'
import { type ReasonText, reasons, todoOf, unverifiedStates } from './reasons.ts'

const problemRule: SarifRule = {
  id: 'keel/problem',
  shortDescription: 'A declaration of sources that cannot be read',
  help: 'Correct the line: a source is a path, a path with an anchor, or a link, as one item of a list.',
  level: 'error',
}

const rules: readonly SarifRule[] = [
  ...Object.entries(reasons).map(([reason, text]) => ruleOf(reason, text, 'error')),
  ...[...unverifiedStates].map(([state, text]) => ruleOf(state, text, 'warning')),
  problemRule,
]

function ruleOf(name: string, text: ReasonText, level: 'error' | 'warning'): SarifRule {
  return { id: `keel/${name}`, shortDescription: `The source ${text.means}`, help: todoOf(text, 'CHILD', 'SOURCE'), level }
}

export function sarifReport(output: CheckOutput): string {
  const places = new Map((output.places ?? []).map(place => [place.id, place]))
  const results = [
    ...[...output.suspects, ...output.unverified].map(edge => resultOf(edge, places.get(edge.id))),
    ...output.problems.filter(problem => problem.level === 'error').map(problemResult),
  ]
  const tool = { name: 'outrigger-keel', automation: 'outrigger/keel/', rules }
  return `${JSON.stringify(sarifLog(tool, results), null, 2)}\n`
}

function resultOf(edge: Edge, place: EdgePlace | undefined): SarifResult {
  const name = edge.reason ?? edge.state
  const text = edge.reason === null ? unverifiedStates.get(edge.state)! : reasons[edge.reason]
  const hint = hintOf(edge)
  const todo = todoOf(text, edge.child, sourceName(edge))
  const source = sourceLocation(edge, place)
  return {
    ruleId: `keel/${name}`,
    level: edge.class === 'unverified' ? 'warning' : 'error',
    message: `${sourceName(edge)} ${text.means}${hint === null ? '' : ` (${hint})`}. To do: ${todo}`,
    location: {
      physicalLocation: {
        artifactLocation: sarifFile(edge.child),
        region: {
          startLine: edge.line,
          startColumn: edge.column,
          endLine: place?.endLine ?? edge.line,
          endColumn: place?.endColumn ?? edge.column + 1,
        },
      },
    },
    ...(source !== null && { related: [source] }),
    fingerprints: { 'keelEdge/v1': edge.id },
  }
}

function sourceLocation(edge: Edge, place: EdgePlace | undefined): SarifLocation | null {
  if (edge.target === null) return null
  const lines = place?.source
  return {
    id: 1,
    physicalLocation: {
      artifactLocation: sarifFile(edge.target),
      ...(lines != null && { region: { startLine: lines.firstLine, endLine: lines.lastLine } }),
    },
    message: { text: 'the source' },
  }
}

function problemResult(problem: LocatedProblem): SarifResult {
  return {
    ruleId: problemRule.id,
    level: 'error',
    message: problem.message,
    location: {
      physicalLocation: {
        artifactLocation: sarifFile(problem.file),
        region: { startLine: problem.line, startColumn: problem.column },
      },
    },
    fingerprints: { 'keelProblem/v1': `${problem.code} ${problem.file}` },
  }
}
