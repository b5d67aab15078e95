import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkText } from '../../src/keel/report/check-text.ts'
import { dotGraph, htmlGraph, mermaidGraph } from '../../src/keel/report/graph.ts'
import { junitReport } from '../../src/keel/report/junit.ts'
import { sarifReport } from '../../src/keel/report/sarif.ts'
import type { Edge } from '../../src/keel/types.ts'
import type { CheckOutput } from '../../src/keel/verbs/check.ts'
import { type GraphOutput, graphOf } from '../../src/keel/verbs/graph.ts'
import { sarifFile } from '../../src/text/sarif.ts'
import { quickStart, world } from '../support/keel-cli.ts'
import { FakeKeel } from '../support/keel-fake.ts'

const names = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  fc.constantFrom(
    '</script><script>alert(1)</script>',
    '"]-->',
    'a"b\\',
    'a\nb',
    '<!--',
    ']]>',
    '&amp;',
    '\u0000\ufffe',
    '\ud800x',
    'ü é/日本.md',
  ),
)

/** A `check` document over edges with these names; every second is suspect, every third unreadable. */
async function answer(pairs: readonly (readonly [string, string])[]): Promise<CheckOutput> {
  const keel = new FakeKeel()
  for (const [child, ref] of pairs) {
    keel.source(ref, 'now')
    keel.declare(child, ref, 'old')
  }
  await keel.refresh({ kind: 'full' })
  const edges: readonly Edge[] = keel
    .edges()
    .map((edge, index) =>
      index % 3 === 2
        ? { ...edge, state: 'unreadable', reason: null, class: 'unverified' }
        : { ...edge, diff: { status: 'ok', why: null, text: `-${edge.ref}\n+x\n`, basis: 'baseline' } },
    )
  const suspects = edges.filter(edge => edge.state === 'suspect')
  const unverified = edges.filter(edge => edge.class === 'unverified')
  const count = (n: number): CheckOutput['summary'] => ({
    children: pairs.length,
    edges: edges.length,
    clean: 0,
    suspect: n,
    pending: 0,
    okRequested: 0,
    opaque: 0,
    unresolved: 0,
    unreadable: unverified.length,
    skipped: 0,
    unknown: 0,
    chain: 0,
    outOfRange: 0,
    problems: 1,
  })
  return {
    on: true,
    project: '/p',
    verdict: 'suspect',
    exit: 1,
    summary: count(suspects.length),
    suspects,
    unverified,
    pending: [],
    cycles: [],
    problems: [
      { code: 'KEEL_YAML_ITEM', level: 'error', file: pairs[0]![0], line: 2, column: 3, message: 'a map <is> "no" source' },
    ],
    degraded: [],
    edges,
  }
}

describe('SARIF', () => {
  it('says where, why and what about, with a fingerprint that outlives lines and stamps', async () => {
    const made = world({ ...quickStart, 'docs/ü x.md': '---\nsources:\n  - gone.md\n  - "[[nowhere]]"\n  - {a: b}\n---\n' })
    await made.json('stamp')
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    const { code, out } = await made.keel('check', '--format', 'sarif')
    expect(code).toBe(1)
    const log = JSON.parse(out)
    expect(log).toMatchObject({ version: '2.1.0', $schema: 'https://json.schemastore.org/sarif-2.1.0.json' })
    expect(log.runs).toHaveLength(1)
    const [run] = log.runs
    expect(run).toMatchObject({ columnKind: 'utf16CodeUnits', automationDetails: { id: 'outrigger/keel/' } })
    expect(run.tool.driver.name).toBe('outrigger-keel')
    for (const result of run.results) expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId)
    const changed = run.results.find((result: { ruleId: string }) => result.ruleId === 'keel/changed')
    expect(changed).toMatchObject({
      level: 'error',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'docs/quick.md', uriBaseId: '%SRCROOT%' },
            region: { startLine: 4, startColumn: 5, endLine: 4, endColumn: 33 },
          },
        },
      ],
      relatedLocations: [{ physicalLocation: { artifactLocation: { uri: 'guide.md' }, region: { startLine: 3, endLine: 5 } } }],
      partialFingerprints: { 'keelEdge/v1': 'b9b871566cd8c128' },
    })
    expect(run.results.map((result: { ruleId: string; level: string }) => [result.ruleId, result.level])).toEqual([
      ['keel/changed', 'error'],
      ['keel/source-missing', 'error'],
      ['keel/unresolved', 'warning'],
      ['keel/problem', 'error'],
    ])
    expect(run.results[1].locations[0].physicalLocation.artifactLocation.uri).toBe('docs/%C3%BC%20x.md')
  })

  it('is JSON with addresses that decode to the names, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 5 }), async pairs => {
        const log = JSON.parse(sarifReport(await answer(pairs)))
        for (const { locations } of log.runs[0].results) {
          const { uri } = locations[0].physicalLocation.artifactLocation
          expect(uri).toMatch(/^[\x21-\x7e]*$/)
          const name = decodeURIComponent(uri.replace(/^file:\/\//, ''))
          expect(pairs.some(([child]) => child.toWellFormed() === name)).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('names files outside of the project by their address', () => {
    expect(sarifFile('/srv/a b.md')).toEqual({ uri: 'file:///srv/a%20b.md' })
    expect(sarifFile('C:/a/b.md')).toEqual({ uri: 'file:///C:/a/b.md' })
    expect(sarifFile('a:b/c.md')).toEqual({ uri: 'a%3Ab/c.md', uriBaseId: '%SRCROOT%' })
  })
})

/** Elements are closed in order, text and attributes hold only what XML 1.0 allows. */
function assertWellFormed(xml: string): void {
  const open: string[] = []
  const pattern = /<\?xml [^?]*\?>|<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+)/g
  let at = 0
  for (const match of xml.matchAll(pattern)) {
    expect(match.index).toBe(at)
    at += match[0].length
    const [, closing, name, attributes = '', selfClosing, text = ''] = match
    for (const part of [attributes, text]) {
      expect(part.replace(/&(?:amp|lt|gt|quot|#\d+);/g, '')).not.toContain('&')
      expect(part).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u)
    }
    if (name === undefined) continue
    if (closing === '/') expect(open.pop()).toBe(name)
    else if (selfClosing !== '/') open.push(name)
  }
  expect(at).toBe(xml.length)
  expect(open).toEqual([])
}

describe('JUnit', () => {
  it('has a suite for each document and a case for each edge, with the diff', async () => {
    const made = world({ ...quickStart, 'docs/two.md': '---\nsources: guide.md#Use\n---\n' })
    await made.json('stamp')
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run <it> twice'))
    const { out } = await made.keel('check', '--format', 'junit')
    assertWellFormed(out)
    expect(out).toContain('<testsuites name="keel" tests="2" failures="1" skipped="0">')
    expect(out).toContain('<testcase classname="docs/two.md" name="guide.md#Use"/>')
    expect(out).toMatch(
      /<failure type="changed" message="[^"]+">@@ -1,2 \+1,2 @@\n ## Setup\n-run it\n\+run &lt;it&gt; twice\n<\/failure>/,
    )
  })

  it('is well-formed for any name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 6 }), async pairs => {
        assertWellFormed(junitReport(await answer(pairs)))
      }),
      { numRuns: 100 },
    )
  })
})

describe('a graph', () => {
  const graph = async (pairs: readonly (readonly [string, string])[]): Promise<GraphOutput> => {
    const { edges } = await answer(pairs)
    return { on: true, ...graphOf(edges!) }
  }

  it('escapes names for Mermaid and DOT', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 5 }), async pairs => {
        const output = await graph(pairs)
        for (const line of mermaidGraph(output).trimEnd().split('\n').slice(1)) {
          expect(line).toMatch(/^ {2}n\d+(?:\["[^"\n\r<>]*"\]| --> n\d+)$/)
        }
        for (const line of dotGraph(output).trimEnd().split('\n').slice(3, -1)) {
          expect(line).toMatch(/^ {2}"(?:[^"\\\n\r]|\\.)*"(?: -> "(?:[^"\\\n\r]|\\.)*")?(?: \[[a-z]+=[a-z0-9]+\])?;$/)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('as a page loads nothing and cannot be broken out of', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 5 }), async pairs => {
        const output = await graph(pairs)
        const page = htmlGraph(output)
        expect(page.match(/<script/g)).toHaveLength(2)
        expect(page.match(/<\/script/g)).toHaveLength(2)
        expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'`)
        expect(page).not.toMatch(/https?:|src=|@import|url\(/)
        const data = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(page)![1]!
        expect(JSON.parse(data)).toEqual(
          JSON.parse(JSON.stringify({ nodes: output.nodes, edges: output.edges, cycles: output.cycles })),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('never turns the direction of a name, in any form', async () => {
    const pairs = [['a\u202egnp.md', 'b\u2067.md']] as const
    const output = await graph(pairs)
    for (const text of [mermaidGraph(output), dotGraph(output), htmlGraph(output), junitReport(await answer(pairs))]) {
      expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      expect(text).toContain('a\ufffdgnp.md')
    }
  })

  it('as a page has a script that parses', async () => {
    const script = /<script>([\s\S]*)<\/script>/.exec(htmlGraph(await graph([['a.md', 'b.md']])))![1]!
    expect(() => new Function(script)).not.toThrow()
  })

  it('is narrowed to what hangs together with a file', async () => {
    const sources = (...list: string[]): string => `---\nsources: [${list.join(', ')}]\n---\n`
    const made = world({ 'a.md': 'a\n', 'b.md': sources('a.md'), 'c.md': sources('b.md', 'x.md'), 'x.md': 'x\n' })
    const ids = async (...args: string[]): Promise<string[]> =>
      (await made.json('graph', ...args)).json.nodes.map((node: { id: string }) => node.id)
    expect(await ids()).toEqual(['a.md', 'b.md', 'c.md', 'x.md'])
    expect(await ids('b.md')).toEqual(['a.md', 'b.md', 'c.md'])
    expect(await ids('b.md', '--direction', 'up')).toEqual(['a.md', 'b.md'])
    expect(await ids('a.md', '--direction', 'down', '--depth', '1')).toEqual(['a.md', 'b.md'])
    expect(await ids('a.md', '--suspects')).toEqual(['a.md'])
    const { code, out } = await made.keel('graph', '--format', 'html', '--out', 'graph.html')
    expect(code).toBe(0)
    expect(out).toBe('written: graph.html\n')
    expect(readFileSync(join(made.root, 'graph.html'), 'utf8')).toMatch(/^<!doctype html>/)
  })
})

describe('the text of a check', () => {
  /** Without the diffs, which are quoted over several lines. */
  const bare = (output: CheckOutput): CheckOutput => ({
    ...output,
    suspects: output.suspects.map(({ diff: _, ...edge }) => edge),
    unverified: output.unverified.map(({ diff: _, ...edge }) => edge),
  })

  it('counts what it leaves out, and shows it on demand', async () => {
    const output = bare(await answer(Array.from({ length: 200 }, (_, index) => [`d${index}.md`, `s${index}`] as const)))
    const text = checkText(output)
    expect(text.split('\n').length).toBeLessThan(90)
    expect(text).toMatch(/… and \d+ more that are behind/)
    expect(checkText(output, { all: true })).not.toContain('more that are behind')
  })

  it('keeps every name on its line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 5 }), async pairs => {
        const text = checkText(bare(await answer(pairs)))
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/)
        expect(text.split('\n')[0]).toMatch(/:\d+:\d+ +[a-z-]+ /)
      }),
      { numRuns: 50 },
    )
  })
})
