import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/node/files.ts'
import { markOf, type TakeMark } from '../../src/runtime/progress.ts'
import { fakeEngine } from '../support/engines.ts'
import { nextProcess, shared } from '../support/next-world.ts'

let root: string
let commit: string | null
let taken: (readonly string[])[]
let mark: TakeMark
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'mark-')))
  commit = 'aaaa'
  taken = []
  const take = markOf({ root, files: nodeFiles(), git: { head: async () => ({ branch: 'main', commit }) } as never })
  mark = paths => {
    taken.push(paths)
    return take(paths)
  }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (name: string, text: string) => writeFileSync(join(root, name), text)

describe('a mark', () => {
  it('is 12 digits over the head and the contents, and tells each of them apart', async () => {
    const seen = new Set([await mark([])])
    seen.add(await mark(['a.ts']))
    put('a.ts', 'one')
    seen.add(await mark(['a.ts']))
    put('a.ts', 'two')
    seen.add(await mark(['a.ts']))
    commit = 'bbbb'
    seen.add(await mark(['a.ts']))
    commit = null
    seen.add(await mark(['a.ts']))
    expect(seen.size).toBe(6)
    for (const each of seen) expect(each).toMatch(/^[0-9a-f]{12}$/)
  })

  it('is the same for the same bytes, inside the project and outside', async () => {
    put('a.ts', 'one')
    const first = await mark(['a.ts'])
    put('a.ts', 'two')
    put('a.ts', 'one')
    expect(await mark(['a.ts'])).toBe(first)
    const outside = join(root, 'a.ts')
    const before = await mark([outside])
    put('a.ts', 'two')
    expect(await mark([outside])).not.toBe(before)
  })

  it('is taken of a folder, too: it holds nothing', async () => {
    expect(await mark(['.'])).toMatch(/^[0-9a-f]{12}$/)
  })
})

describe('the loop', () => {
  const world = (earlier: Parameters<typeof nextProcess>[4] = {}) =>
    nextProcess(shared(), '1:boot:1', { model: 'test/m', local: false }, 's1', { mark, ...earlier })

  async function round(next: ReturnType<typeof world>, turn: number, text: string, write: () => void): Promise<void> {
    await next.tell({ kind: 'model-answered', ask: next.last('ask-model')!.id, text })
    await next.tell({ kind: 'turn-started', turn, by: 'plugin', offer: next.last('submit')!.offer! })
    write()
    const call = { kind: 'tool-finished', turn, call: `c${turn}`, input: {}, ok: true, output: '' } as const
    await next.tell({ ...call, tool: 'edit', written: ['a.ts'] })
    await next.tell({ kind: 'turn-ended', turn, reason: 'completed', answer: 'Done.' })
  }

  it('makes no progress when each round writes what was there already', async () => {
    const next = world()
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    const texts = ['Write the parser', 'Read the parser', 'Test the parser', 'Time the parser', 'Name the parser', 'End it all']
    for (const [index, text] of texts.entries()) {
      await round(next, index + 2, text, () => put('a.ts', 'the same'))
      if (next.lines().includes('disarm stalled')) break
    }
    expect(next.lines().filter(line => line.startsWith('fire '))).toHaveLength(5)
  })

  it('is idle when a round writes nothing and the head stands still: two of them end it', async () => {
    const next = world()
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    await next.type('arm')
    for (const turn of [2, 3, 4]) {
      const text = ['Write the parser', 'Read the printer', 'Test both of them'][turn - 2]!
      await next.tell({ kind: 'model-answered', ask: next.last('ask-model')!.id, text })
      if (next.lines().includes('disarm stalled')) break
      await next.tell({ kind: 'turn-started', turn, by: 'plugin', offer: next.last('submit')!.offer! })
      await next.tell({ kind: 'turn-ended', turn, reason: 'completed', answer: 'Done.' })
    }
    expect(next.lines().filter(line => line.startsWith('fire '))).toEqual(['fire round-1', 'fire round-2'])
    expect(next.lines()).toContain('disarm stalled')
  })

  it('goes on when each round writes something else', async () => {
    const next = world()
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    const texts = ['Write the parser', 'Read the parser', 'Test the parser', 'Time the parser', 'Name the parser', 'End it all']
    for (const [index, text] of texts.entries()) await round(next, index + 2, text, () => put('a.ts', text))
    expect(next.lines()).not.toContain('disarm stalled')
    expect(next.lines().filter(line => line.startsWith('fire '))).toHaveLength(6)
  })

  it('goes on while commits move the head, though nothing else is written', async () => {
    const next = world()
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    const texts = ['Write the parser', 'Read the parser', 'Test the parser', 'Time the parser', 'Name the parser', 'End it all']
    for (const [index, text] of texts.entries()) {
      await round(next, index + 2, text, () => {
        commit = `c${index}`
      })
    }
    expect(next.lines()).not.toContain('disarm stalled')
  })

  it('is marked after what keel writes at the end of a turn', async () => {
    const keel = fakeEngine('keel', event => {
      if (event.kind === 'turn-ending') put('a.ts', `stamped ${event.turn}`)
      return []
    })
    const next = world({ earlier: [keel.engine] })
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    await round(next, 2, 'Write the parser', () => put('a.ts', 'bare'))
    put('a.ts', 'stamped 2')
    const [after] = keel.heard.slice(-1)
    expect(after?.event).toMatchObject({ kind: 'turn-ended', mark: await mark(['a.ts']) })
  })

  it('is the only thing that is marked: disarmed nothing is hashed', async () => {
    const next = world()
    await next.tell({ kind: 'session-started', source: 'startup' })
    const over = { kind: 'turn-ended', reason: 'completed', answer: 'Done.' } as const
    await next.tell({ ...over, turn: 1 })
    expect(taken).toEqual([])
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 2, reason: 'completed', answer: 'Done.' })
    await next.type('disarm')
    await next.tell({ ...over, turn: 3 })
    expect(taken).toEqual([[], []])
  })
})
