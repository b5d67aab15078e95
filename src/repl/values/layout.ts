/** Bracketed lists on one line when they fit, else one item a line. */

export type Piece =
  | string
  | {
      open: string
      items: readonly Piece[]
      close: string
      /** Blanks inside the brackets. */
      spaced: boolean
      /** Items follow each other without a separator: key, mark, value. */
      readonly joined?: boolean
    }

const lineChars = 100

export const layOut = (piece: Piece): string => lines(piece, 0, 0)

/** @param column - where the text begins on its line. */
function lines(piece: Piece, indent: number, column: number): string {
  const line = oneLine(piece, lineChars - column)
  if (line !== undefined) return line
  if (typeof piece === 'string') return piece
  if (piece.joined === true) {
    let text = ''
    for (const item of piece.items)
      text += lines(item, indent, text.includes('\n') ? text.length - text.lastIndexOf('\n') - 1 : column + text.length)
    return text
  }
  if (piece.items.length === 0) return piece.open + (piece.close === '' ? '' : `${piece.spaced ? ' ' : ''}${piece.close}`)
  const pad = ' '.repeat(indent + 2)
  const items = piece.items.map(item => `${pad}${lines(item, indent + 2, indent + 2)}`)
  return `${piece.open}\n${items.join(',\n')}\n${' '.repeat(indent)}${piece.close}`
}

function oneLine(piece: Piece, room: number): string | undefined {
  if (typeof piece === 'string') return piece.length <= room ? piece : undefined
  let text = piece.open
  for (let i = 0; i < piece.items.length; i++) {
    if (piece.joined !== true) text += i > 0 ? ', ' : piece.spaced ? ' ' : ''
    const item = oneLine(piece.items[i]!, room - text.length)
    if (item === undefined) return undefined
    text += item
    if (text.length > room) return undefined
  }
  if (piece.close !== '') text += `${piece.spaced ? ' ' : ''}${piece.close}`
  return text.length <= room ? text : undefined
}
