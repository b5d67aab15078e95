import { type Node, Parser } from 'commonmark'
import commonmarkSpec from 'commonmark-spec'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blocks, codeSpans, outlineMarkdown, slugOf } from '../../src/text/markdown.ts'

const examples = commonmarkSpec.tests.map(example => ({
  number: example.number,
  markdown: example.markdown.replaceAll('→', '\t'),
}))

/** Level and text of each top-level heading, by the reference parser. */
function referenceHeadings(text: string): string[] {
  const found: string[] = []
  for (let node = new Parser().parse(text).firstChild; node !== null; node = node.next) {
    if (node.type === 'heading') found.push(`${node.level} ${contentOf(node)}`)
  }
  return found
}

function contentOf(heading: Node): string {
  let content = ''
  const walker = heading.walker()
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { type, literal } = event.node
    if (!event.entering) continue
    content += type === 'text' || type === 'code' ? literal : type.endsWith('break') ? ' ' : ''
  }
  return content
}

/** A line before the text keeps a first `---` from being frontmatter, and changes no block. */
const ourHeadings = (text: string): string[] =>
  outlineMarkdown(`\n${text}`).headings.map(heading => `${heading.level} ${heading.plain}`)

describe('headings', () => {
  it('are compared over all examples of the CommonMark specification', () => {
    expect(examples.length).toBe(652)
  })

  it.each(examples)('equal the reference in example $number', ({ markdown }) => {
    expect(ourHeadings(markdown)).toEqual(referenceHeadings(markdown))
  })

  it.each(['\r\n', '\r'])('are the same with %j as line end', end => {
    for (const { markdown } of examples) {
      expect(ourHeadings(markdown.replaceAll('\n', end))).toEqual(ourHeadings(markdown))
    }
  })

  it('equal the reference on random structure', () => {
    const piece = fc.constantFrom(
      ...[
        '# a',
        '## b #',
        '===',
        '---',
        '- ',
        '* ',
        '1. ',
        '2) ',
        '> ',
        '    ',
        '  ',
        '\t',
        '\n',
        '\n',
        '\n',
        '```',
        '~~~',
        '<!-- x',
        '-->',
      ],
      ...[
        '<div>',
        '</div>',
        '<a href="x">',
        'text',
        '[foo]: /url',
        '[a]:',
        '"t"',
        '`',
        '***',
        '- - -',
        '+',
        '<?',
        '?>',
        '<pre>',
        '</pre>',
      ],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), pieces => {
        const text = `\n${pieces.join('')}`
        const lines = (node: Node) => node.type === 'heading'
        const expected: number[] = []
        for (let node = new Parser().parse(text).firstChild; node !== null; node = node.next)
          if (lines(node)) expected.push(node.level)
        expect(
          blocks(text)
            .filter(block => block.kind === 'heading' && block.depth === 0)
            .map(block => block.level),
        ).toEqual(expected)
      }),
      { numRuns: 3000 },
    )
  })

  it('begin behind the definitions that their paragraph starts with', () => {
    const [heading] = outlineMarkdown('[foo]: /url\nbar\n===\n').headings
    expect(heading).toMatchObject({ line: 2, lastLine: 3, raw: 'bar', span: { start: 12, end: 20 } })
  })

  it('in frontmatter are none, with a BOM before it and any line end', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['\uFEFF--- ', '# no', 'a: b', '---', '# Yes', '...', ''].join(end)
      const outline = outlineMarkdown(new TextEncoder().encode(text))!
      expect(outline.headings.map(heading => heading.raw)).toEqual(['Yes'])
      expect(outline.frontmatter?.start).toBe(3)
      expect(outline.headings[0]!.line).toBe(5)
    }
  })

  it('need a closing line before they count as frontmatter', () => {
    expect(outlineMarkdown('---\n# Yes\n').headings.map(heading => heading.raw)).toEqual(['Yes'])
  })

  it('are byte spans, multi-byte characters counted', () => {
    const bytes = new TextEncoder().encode('é😀\n\n## Zwö ##\nx\n# B\n')
    const [first, second] = outlineMarkdown(bytes)!.headings
    expect(new TextDecoder().decode(bytes.subarray(first!.span.start, first!.span.end))).toBe('## Zwö ##\n')
    expect(new TextDecoder().decode(bytes.subarray(first!.section.start, first!.section.end))).toBe('## Zwö ##\nx\n')
    expect(second!.section.end).toBe(bytes.length)
  })

  it('are not looked for in bytes that are not UTF-8', () => {
    expect(outlineMarkdown(Uint8Array.of(0x23, 0x20, 0xff))).toBeNull()
  })
})

describe('sections', () => {
  it('run to the next heading of the same or a higher level', () => {
    const text = '# A\n## B\n### C\n## D\n# E\n'
    const outline = outlineMarkdown(text)
    expect(outline.headings.map(({ section }) => text.slice(section.start, section.end))).toEqual([
      '# A\n## B\n### C\n## D\n',
      '## B\n### C\n',
      '### C\n',
      '## D\n',
      '# E\n',
    ])
  })

  it('end at an empty heading, which has no name', () => {
    const text = '# A\nx\n#\ny\n'
    const [a, empty] = outlineMarkdown(text).headings
    expect(text.slice(a!.section.start, a!.section.end)).toBe('# A\nx\n')
    expect(empty).toMatchObject({ raw: '', text: '', plain: '' })
  })
})

describe('names of a heading', () => {
  it.each([
    ['# A \\# *b* `c` #', { raw: 'A \\# *b* `c`', text: 'A # *b* `c`', plain: 'A # b c', legacy: 'A \\# *b* `c` #' }],
    ['## [Link](x "t") & ![i](p)&amp;', { raw: '[Link](x "t") & ![i](p)&amp;', plain: 'Link & i&' }],
    ['## [ref] <b>x</b>\n\n[ref]: /u', { plain: 'ref x' }],
    ['## [none] x', { plain: '[none] x' }],
    ['two\n  lines\n---', { raw: 'two lines', legacy: 'two lines', level: 2 }],
    ['# Setup {#install}', { raw: 'Setup {#install}', id: 'install' }],
    ['# Trailing#', { raw: 'Trailing#', legacy: 'Trailing#' }],
    ['# Größe: 1. Teil_x – y', { slug: 'größe-1-teil_x--y' }],
  ])('%j', (text, names) => {
    expect(pick(outlineMarkdown(text).headings[0]!, names)).toEqual(names)
  })

  it('make repeated slugs distinct and skip those that are taken', () => {
    const text = '# a\n# a\n# a-1\n# a\n# !\n# ?\n'
    expect(outlineMarkdown(text).headings.map(heading => heading.slug)).toEqual(['a', 'a-1', 'a-1-1', 'a-2', '', '-1'])
  })

  it('keep letters, marks, numbers and connectors of every script in slugs', () => {
    expect(slugOf('日本語 Ⅷ à‿b 🎉-c')).toBe('日本語-ⅷ-à‿b--c')
  })
})

describe('blocks', () => {
  it('are listed with kinds, depths and places', () => {
    const text = '> - a\n>\n>   ```js x\n>   code\n\n<!-- c -->\n***\n[r]: /u\ntext `x`\n'
    expect(blocks(text).map(({ kind, depth, start, end }) => [kind, depth, text.slice(start, end)])).toEqual([
      ['quote', 0, '> - a\n>\n>   ```js x\n>   code\n'],
      ['item', 1, '> - a\n>\n>   ```js x\n>   code\n'],
      ['paragraph', 2, '> - a\n'],
      ['fence', 2, '>   ```js x\n>   code\n'],
      ['html', 0, '<!-- c -->\n'],
      ['rule', 0, '***\n'],
      ['definition', 0, '[r]: /u\n'],
      ['paragraph', 0, 'text `x`\n'],
    ])
    expect(blocks(text).find(block => block.kind === 'fence')!.info).toBe('js x')
  })

  it('tell the seven kinds of HTML apart', () => {
    const starts = ['<pre>\n</pre>', '<!-- -->', '<? ?>', '<!DOCTYPE x>', '<![CDATA[ ]]>', '<div>', '<my-tag a="b">']
    expect(starts.map(text => blocks(text)[0]!.html)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('give the code spans of a paragraph', () => {
    const text = 'a `b` ``c ` d`` \\`e` `f\n'
    expect(codeSpans(text, blocks(text)[0]!).map(span => span.content)).toEqual(['b', 'c ` d', ' '])
  })

  const million = 1_000_000
  it.each([
    ['opening brackets', '['.repeat(million)],
    ['wikilinks left open', '[['.repeat(million / 2)],
    ['number signs', '#'.repeat(million)],
    ['comments left open', '<!--'.repeat(million / 4)],
    ['quote marks', '>'.repeat(million)],
    ['list marks', `${'* '.repeat(million / 2)}a`],
    ['nested items and blank lines', `${'- * '.repeat(million / 8)}a${'\n'.repeat(million / 2)}`],
    ['a tag left open', `<a${' b'.repeat(million / 2)}`],
    ['backticks', '`a'.repeat(million / 2)],
    ['definitions', '[a]: b\n'.repeat(million / 7)],
    ['definitions and underlines', '[a]: b\n===\n'.repeat(million / 11)],
    ['a heading of brackets', `# ${'[[a'.repeat(million / 3)}`],
  ])('of a million characters of %s take linear time', (_, text) => {
    const before = process.cpuUsage()
    outlineMarkdown(text).headings[0]?.slug
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(8000)
  })
})

function pick(from: object, like: object): object {
  return Object.fromEntries(Object.keys(like).map(key => [key, Reflect.get(from, key)]))
}
