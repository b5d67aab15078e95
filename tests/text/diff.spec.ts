import { describe, expect, it } from 'vitest'
import { diffLimits, hunks } from '../../src/text/diff.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const diff = (old: string, now: string) => hunks(bytesOf(old), bytesOf(now))
const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}\n`).join('')

describe('a diff', () => {
  it.each([
    [
      'of a changed line',
      '## Setup\nrun it\n',
      '## Setup\nrun it twice\n',
      '@@ -1,2 +1,2 @@\n ## Setup\n-run it\n+run it twice\n',
    ],
    ['of equal texts', 'a\n', 'a\n', ''],
    ['of something from nothing', '', 'a\n', '@@ -0,0 +1,1 @@\n+a\n'],
    ['of nothing from something', 'a\n', '', '@@ -1,1 +0,0 @@\n-a\n'],
    [
      'with three lines of context',
      numbered('l', 10),
      numbered('l', 10).replace('l5', 'x'),
      '@@ -3,7 +3,7 @@\n l2\n l3\n l4\n-l5\n+x\n l6\n l7\n l8\n',
    ],
    ['of a missing last line end', 'a', 'a\n', '@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n'],
  ])('%s', (_what, old, now, text) => {
    expect(diff(old, now)).toEqual({ kind: 'ok', text })
  })

  it('of distant changes has a hunk for each', () => {
    const old = numbered('l', 40)
    const { text } = diff(old, old.replace('l5\n', 'x\n').replace('l30\n', 'y\n')) as { text: string }
    expect(text.match(/^@@ .* @@$/gmu)).toEqual(['@@ -3,7 +3,7 @@', '@@ -28,7 +28,7 @@'])
  })

  it('of binary content is refused', () => {
    expect(diff('a\0', 'b')).toEqual({ kind: 'binary' })
    expect(diff('a', 'b\0')).toEqual({ kind: 'binary' })
  })

  it('over the limits is refused', () => {
    expect(diff('a', 'b'.repeat(diffLimits.maxBytes + 1))).toEqual({ kind: 'too-large' })
    expect(diff('\n'.repeat(diffLimits.maxLines + 1), 'b')).toEqual({ kind: 'too-large' })
    expect(diff('a', 'b'.repeat(diffLimits.maxBytes)).kind).toBe('ok')
  })

  it('of texts without a line in common replaces the one by the other, in bounded time', () => {
    const startedAt = performance.now()
    const { text } = diff('head\n' + numbered('a', 9000) + 'end\n', 'head\n' + numbered('b', 9000) + 'end\n') as { text: string }
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    const lines = text.split('\n')
    expect(lines.slice(0, 3)).toEqual(['@@ -1,9002 +1,9002 @@', ' head', '-a0'])
    expect(lines.slice(-3)).toEqual(['+b8999', ' end', ''])
  })

  it('of invalid UTF-8 shows replacement characters', () => {
    const result = hunks(Uint8Array.of(0xff), bytesOf('a\n'))
    expect(result).toMatchObject({ kind: 'ok', text: expect.stringContaining('-\uFFFD') })
  })
})
