/**
 * Text content of headings: what stays of their inlines when marks, link targets and HTML tags are taken away.
 * Inlines are rules of their own and few headings have any, so the reference parser reads those that do,
 * all at once, together with the link definitions of the document.
 */
import { type Node, Parser } from 'commonmark'
import type { Block } from './markdown-blocks.ts'

/** Nothing else begins an inline. */
const mayHaveInlines = /[\\`*_[\]<&!]/

/** A heading longer than this is no name that anybody writes down; its source stands for its text. */
const maxLength = 4000

/**
 * @param list - the blocks of `text`, for its link definitions.
 * @param raws - inline source of each heading.
 * @returns the text of each, in the same order.
 */
export function plainTexts(text: string, list: readonly Block[], raws: readonly string[]): string[] {
  const plains = [...raws]
  const read: number[] = []
  raws.forEach((raw, index) => {
    if (raw.length <= maxLength && mayHaveInlines.test(raw)) read.push(index)
  })
  if (read.length === 0) return plains
  const known = read.some(index => raws[index]!.includes('[')) ? definitions(text, list) : []
  const document = new Parser().parse([...known, ...read.map(index => `# ${raws[index]} #`)].join('\n\n'))
  let at = 0
  for (let node = document.firstChild; node !== null; node = node.next) {
    if (node.type === 'heading') plains[read[at++]!] = contentOf(node)
  }
  return plains
}

function definitions(text: string, list: readonly Block[]): string[] {
  return list
    .filter(block => block.kind === 'definition')
    .map(block => {
      const lines: string[] = []
      for (let i = 0; i < block.lines!.length; i += 2) lines.push(text.slice(block.lines![i], block.lines![i + 1]))
      return lines.join('\n')
    })
}

function contentOf(heading: Node): string {
  let content = ''
  const walker = heading.walker()
  for (let event = walker.next(); event !== null; event = walker.next()) {
    if (!event.entering) continue
    const { type, literal } = event.node
    if (type === 'text' || type === 'code') content += literal ?? ''
    else if (type === 'softbreak' || type === 'linebreak') content += ' '
  }
  return content
}
