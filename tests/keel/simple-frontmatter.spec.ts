import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFrontmatter } from '../../src/keel/frontmatter.ts'
import { readSimple } from '../../src/keel/simple-frontmatter.ts'
import { findFrontmatter } from '../../src/text/frontmatter-fence.ts'

/** A comment takes the block to the YAML parser and moves nothing that stands before it. */
const byYaml = (block: string) => {
  const text = `---\n${block}# end\n---\n`
  const { items, problems } = readFrontmatter(text, findFrontmatter(text)!)
  return { items, problems }
}

const simple = (block: string) => {
  const text = `---\n${block}---\n`
  const { innerStart, innerEnd } = findFrontmatter(text)!
  return readSimple(text, innerStart, innerEnd)
}

describe('simple frontmatter', () => {
  const words = [
    'a',
    '1.5',
    'null',
    '~',
    'true',
    '0x1F',
    '1e3',
    '.5',
    '.inf',
    'x-y',
    'two words',
    'a - b',
    'a: b',
    'a #b',
    '- x',
    '@x',
    '',
  ]
  const key = fc.tuple(fc.constantFrom('title', 'source', 'sources', 'Source', 'x', 'null', '1'), fc.constantFrom(...words))
  const refs = [
    'a.md',
    'a/b',
    'a',
    '1.5',
    '0x1.F',
    'null',
    '~',
    'a.md#One',
    'a.md #One',
    'a%20b.md',
    'a:b.md',
    'a.md:',
    '.a.md',
    '-a.md',
    'a.md ',
  ]
  const stamps = ['', ' @0123456789ab', ' @0123456789a', ' @ok', '  @0123456789ab', ' @0123456789ab ', ' @0123456789ab#x']
  const item = fc.tuple(
    fc.constantFrom('- ', '  - ', '  -  ', '-', '    - ', '\t- '),
    fc.constantFrom(...refs),
    fc.constantFrom(...stamps),
  )
  const line = fc.oneof(
    key.map(([name, value]) => `${name}: ${value}\n`),
    fc.constantFrom('source:\n', 'sources:\n', 'sources: \n', '\n', '...\n', '--- \n', 'sources:\r\n'),
    item.map(parts => `${parts.join('')}\n`),
  )
  /** Mostly of the simple kind, with something else here and there. */
  const mostly = <T>(usual: readonly T[], any: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: any })
  const usualItem = fc
    .tuple(mostly(refs.slice(0, 2), fc.constantFrom(...refs)), mostly(stamps.slice(0, 2), fc.constantFrom(...stamps)))
    .map(parts => parts.join(''))
  const usualKey = fc
    .tuple(fc.constantFrom('title', 'x'), mostly(words.slice(0, 3), fc.constantFrom(...words)))
    .map(parts => `${parts.join(': ')}\n`)
  const usual = fc
    .record({
      before: fc.array(usualKey, { maxLength: 2 }),
      name: fc.constantFrom('source', 'sources'),
      dash: fc.constantFrom('- ', '  - ', '  -  '),
      list: fc.array(usualItem, { minLength: 1, maxLength: 3 }),
      after: fc.array(mostly(['x: y\n'], line), { maxLength: 1 }),
    })
    .map(({ before, name, dash, list, after }) =>
      [...before, `${name}:\n`, ...list.map(one => `${dash}${one}\n`), ...after].join(''),
    )

  it('reads what the YAML parser reads, or leaves it to it', () => {
    let read = 0
    fc.assert(
      fc.property(
        fc.oneof(
          usual,
          fc.array(line, { maxLength: 6 }).map(lines => lines.join('')),
        ),
        block => {
          if (findFrontmatter(`---\n${block}---\n`)?.innerEnd !== 4 + block.length) return
          const items = simple(block)
          if (items === null) return
          read += 1
          expect({ items, problems: [] }).toEqual(byYaml(block))
        },
      ),
      { numRuns: 2000 },
    )
    expect(read).toBeGreaterThan(200)
  })

  it.each([
    ['title: Quick start\nsources:\n  - guide/setup.md @0123456789ab\n  - a.md#One\nlayout: page\n', 2],
    ['source:\n- a.md\n', 1],
  ])('is read line by line (%#)', (block, count) => {
    expect(simple(block)).toHaveLength(count)
    expect({ items: simple(block), problems: [] }).toEqual(byYaml(block))
  })

  it.each([
    'sources:\n  - a.md\nsource:\n  - b.md\n',
    'sources:\n  - null\n',
    'sources:\n  - a.md\n - b.md\n',
    'sources:\n',
    'sources: a.md\n',
  ])('of another kind is left to the parser (%#)', block => {
    expect(simple(block)).toBeNull()
  })
})
