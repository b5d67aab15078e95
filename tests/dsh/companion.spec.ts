/** The row of the playform profile with the real runtime, engine and files, on the host's packages in this process. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it } from 'vitest'
import * as companion from '../../src/dsh/companion.ts'
import * as core from '../../src/dsh/core.ts'
import { besides, notice } from '../../src/dsh/messages.ts'
import * as suggester from '../../src/dsh/test-suggester.ts'
import { testNodes } from '../../src/dsh/workspace-graph.ts'
import { playform } from '../support/companion-world.ts'
import { bootLoop, call, flat, type Harness, say, text } from '../support/dsh/in-process.ts'

let folder: string | undefined
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folder = undefined
})

const host = (graph: unknown) => ({
  name: 'host',
  inject: ['tools'],
  apply: (ctx: Context) => {
    ctx.provide('workspaceGraph', graph as never)
    ctx.tools.register(
      defineTool({
        name: 'glob',
        description: 'Find files.',
        parameters: { pattern: { type: 'string', required: true } },
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
        execute: async () => 'found',
      }),
    )
  },
})

describe('the row of the playform profile', () => {
  it('has the name of the hook that it replaces, and no key less', () => {
    expect(suggester.name).toBe('test-suggester')
    expect(companion.name).toBe('outrigger-companion')
    const original = {
      enabled: true,
      log: false,
      logFile: '',
      threshold: 0.5,
      maxCandidates: 3,
      maxNoteChars: 400,
      cooldownCalls: 1,
      maxNotesPerTurn: 2,
      intents: ['Suite'],
      emitOn: ['bash'],
      exclude: ['dist'],
    }
    expect(suggester.Config(original)).toEqual(original)
  })

  it('speaks as that hook, and of the nodes that the host’s graph has and the tree has not', async () => {
    folder = mkdtempSync(join(tmpdir(), 'outrigger-suggester-'))
    execFileSync('git', ['init', '-q', folder])
    for (const [path, content] of Object.entries(playform)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    const graph = {
      nodes: () => [
        { kind: 'Test', path: 'Source/Test/Gone/Test.ts' },
        { kind: 'File', path: 'none.ts' },
      ],
    }
    harness = await bootLoop({
      script: [call(['glob', { pattern: 'Source/Test/*/Test.ts' }]), text('done')],
      cwd: folder,
      plugins: [
        [host(graph), {}],
        [core, {}],
        [suggester, suggester.Config({ logFile: '' })],
      ],
    })
    await say(await harness.create(), 'find')
    const request = harness.adapter.requests[1]!
    const note = flat(request).at(-1)
    expect(note).toBe(
      [
        '[test-suggester] reconciliation package=hook-x drifts=1 expected=34 actual=34',
        "- Source/Test/Gone/Test.ts - the graph's Test node has no file (expected 1, actual 0)",
        'note: the smoke claims drifted from the tree; fix the README count, the suite file or the roster - Target/ is never edited.',
      ].join('\n'),
    )
    expect(request.messages.at(-1)!.source).toEqual({
      kind: 'test-suggester',
      form: 'notice',
      summary: 'Reconciliation 1 drifts',
    })
  })
})

describe('a graph', () => {
  it.each([
    ['none', undefined],
    ['no object', 7],
    ['without nodes', {}],
    ['of other shapes', { nodes: [null, 'x', { kind: 'Test' }, { kind: 'Test', path: 7 }, { kind: 'File', path: 'a' }] }],
    [
      'of other places',
      {
        nodes: [
          { kind: 'Test', path: '/elsewhere/a.ts' },
          { kind: 'Test', path: '../a.ts' },
        ],
      },
    ],
  ])('that is %s says nothing', (_, graph) => {
    expect(testNodes(graph, '/w/p')).toEqual([])
  })

  it.each([
    ['a list', { nodes: [{ kind: 'Test', path: 'a.ts' }] }],
    ['a map', { nodes: new Map([['n', { type: 'Test', file: '/w/p/a.ts' }]]) }],
    ['a function', { nodes: () => new Set([{ kind: 'Test', path: 'a.ts' }]) }],
  ])('may have its nodes as %s', (_, graph) => {
    expect(testNodes(graph, '/w/p')).toEqual([{ path: 'a.ts' }])
  })
})

describe('a result that carries a note of ours already', () => {
  it('gets no second one; those of other engines stay', () => {
    const [ours, keel] = [notice('companion', 'a', 'a'), notice('keel', 'b', 'b')]
    expect(besides([keel, ours], [notice('companion', 'x', 'x'), notice('keel', 'y', 'y')])).toEqual([keel])
    expect(besides([keel, ours], [notice('keel', 'y', 'y')])).toEqual([keel, ours])
  })
})
