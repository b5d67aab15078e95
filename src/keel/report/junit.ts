/** The answer of `check` as JUnit XML: a suite per document, a case per edge. Pure. */
import { withoutDirectionSigns } from '../../text/data.ts'
import { sourceName } from '../naming.ts'
import type { Edge, LocatedProblem } from '../types.ts'
import type { CheckOutput } from '../verbs/check.ts'
import { reasons, unverifiedStates } from './reasons.ts'

export function junitReport(output: CheckOutput): string {
  const inRange = new Set([...output.suspects, ...output.unverified].map(edge => edge.id))
  const edges = (output.edges ?? [...output.suspects, ...output.unverified]).filter(
    edge => inRange.has(edge.id) || (edge.state !== 'suspect' && edge.class !== 'unverified'),
  )
  const errors = output.problems.filter(problem => problem.level === 'error')
  const suites = Map.groupBy(edges, edge => edge.child)
  for (const problem of errors) if (!suites.has(problem.file)) suites.set(problem.file, [])
  const names = [...suites.keys()].sort()
  const count = (of: readonly Edge[], test: (edge: Edge) => boolean): number => of.filter(test).length
  const total = edges.length + errors.length
  const failed = count(edges, isSuspect) + errors.length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="keel" tests="${total}" failures="${failed}" skipped="${count(edges, isSkipped)}">`,
    ...names.flatMap(child => {
      const own = suites.get(child)!
      const problems = errors.filter(problem => problem.file === child)
      const fails = count(own, isSuspect) + problems.length
      const head = `tests="${own.length + problems.length}" failures="${fails}" skipped="${count(own, isSkipped)}"`
      return [
        `  <testsuite name="${attribute(child)}" ${head}>`,
        ...own.map(caseOf),
        ...problems.map(problemCase),
        '  </testsuite>',
      ]
    }),
    '</testsuites>',
    '',
  ].join('\n')
}

const isSuspect = (edge: Edge): boolean => edge.state === 'suspect'
const isSkipped = (edge: Edge): boolean => edge.class === 'unverified' && edge.state !== 'suspect'

function caseOf(edge: Edge): string {
  const head = `    <testcase classname="${attribute(edge.child)}" name="${attribute(sourceName(edge))}"`
  if (isSuspect(edge)) {
    const reason = edge.reason!
    const message = `${edge.child}:${edge.line}:${edge.column} ${sourceName(edge)} ${reasons[reason].means}`
    return `${head}>\n      <failure type="${reason}" message="${attribute(message)}">${text(edge.diff?.text ?? '')}</failure>\n    </testcase>`
  }
  if (isSkipped(edge)) {
    const why = unverifiedStates.get(edge.state)?.means ?? edge.state
    return `${head}>\n      <skipped message="${attribute(`${sourceName(edge)} ${why}`)}"/>\n    </testcase>`
  }
  return `${head}/>`
}

function problemCase(problem: LocatedProblem): string {
  const where = `line ${problem.line}`
  return `    <testcase classname="${attribute(problem.file)}" name="${attribute(where)}">\n      <failure type="${problem.code}" message="${attribute(problem.message)}"></failure>\n    </testcase>`
}

/** What XML 1.0 cannot hold becomes U+FFFD. */
function allowed(value: string): string {
  return withoutDirectionSigns(value.toWellFormed()).replace(
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    '\ufffd',
  )
}

function text(value: string): string {
  return allowed(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function attribute(value: string): string {
  return text(value)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, sign => `&#${sign.charCodeAt(0)};`)
}
