/**
 * The seven kinds of HTML blocks of CommonMark: what begins one, and what ends it.
 * Every test looks at one line only and costs at most a few passes over it.
 */

/** 1 script, pre, style, textarea · 2 comment · 3 `<?` · 4 `<!X` · 5 CDATA · 6 block tags · 7 any other whole tag. */
export type HtmlKind = 1 | 2 | 3 | 4 | 5 | 6 | 7

const rawText = /^<(?:script|pre|textarea|style)(?:[ \t>]|$)/i

const blockTags =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|' +
  'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|' +
  'menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul'
const blockTag = new RegExp(`^</?(?:${blockTags})(?:[ \\t]|/?>|$)`, 'i')

const attributeValue = '(?:[^\\s"\'=<>`]+|\'[^\']*\'|"[^"]*")'
const attribute = `(?:[ \\t]+[A-Za-z_:][\\w.:-]*(?:[ \\t]*=[ \\t]*${attributeValue})?)`
const wholeTag = new RegExp(`^(?:<[A-Za-z][A-Za-z0-9-]*${attribute}*[ \\t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t]*>)[ \\t]*$`)

/**
 * @param line - from its `<` to the end of the line, without the line end.
 * @param interrupts - the line stands after an open paragraph, which kind 7 cannot end.
 */
export function htmlBlockKind(line: string, interrupts: boolean): HtmlKind | null {
  if (line.startsWith('<!')) {
    if (line.startsWith('<!--')) return 2
    if (line.startsWith('<![CDATA[')) return 5
    return /^[A-Za-z]/.test(line.slice(2, 3)) ? 4 : null
  }
  if (line.startsWith('<?')) return 3
  if (rawText.test(line)) return 1
  if (blockTag.test(line)) return 6
  return !interrupts && wholeTag.test(line) ? 7 : null
}

/** Whether a block of this kind ends with this line. Kinds 6 and 7 end before a blank line instead. */
export function endsHtmlBlock(kind: HtmlKind, line: string): boolean {
  switch (kind) {
    case 1:
      return /<\/(?:script|pre|textarea|style)>/i.test(line)
    case 2:
      return line.includes('-->')
    case 3:
      return line.includes('?>')
    case 4:
      return line.includes('>')
    case 5:
      return line.includes(']]>')
    case 6:
    case 7:
      return false
  }
}
