import { describe, expect, it } from 'vitest'
import { gitBlobHex, hex12 } from '../../src/text/git-blob.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('content ids', () => {
  it.each([
    ['a\n', '78981922613b'],
    ['a\r\n', '533790e525df'],
    ['\uFEFFa\n', '7a2a9ee4f512'],
    ['a', '2e65efe2a145'],
    ['a \t\nb\n\n\n', 'ad185e6dabdc'],
    ['', 'e69de29bb2d1'],
  ])('of %j is %s', (text, expected) => {
    expect(hex12(bytes(text))).toBe(expected)
  })

  it('have forty digits, as git prints them', () => {
    expect(gitBlobHex(bytes(''))).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
  })

  it('differ for different bytes that are both invalid UTF-8', () => {
    expect(hex12(Uint8Array.of(0xff))).not.toBe(hex12(Uint8Array.of(0xfe)))
  })
})
