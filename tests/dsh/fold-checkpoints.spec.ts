import { describe, expect, it } from 'vitest'
import { createFolder, folded, kindsOf, type PageText } from '../../src/dsh/client/fold-checkpoints.ts'

const whole = '\n<!-- ckpt\ndecision: b — faster\n- **open**: measure it · OPEN: tell\nretire_done: c01\n-->'

function world() {
  const timers: (() => void)[] = []
  const folder = createFolder((_, run) => timers.push(run))
  const node = (data: string, isCode = false): PageText => ({
    data,
    isConnected: true,
    parentElement: { closest: () => (isCode ? {} : null) },
  })
  return {
    folder,
    node,
    settle: () => {
      for (const run of timers.splice(0)) run()
    },
  }
}

describe('a checkpoint on the page', () => {
  it('is one line with its keywords, each once', () => {
    expect(kindsOf(whole)).toEqual(['decision', 'open', 'retire_done'])
    expect(folded(whole)).toBe('\n▸ ckpt: decision, open, retire_done')
    expect(folded('<!-- ckpt -->')).toBe('\n▸ ckpt')
    expect(folded('<!-- ckpt open: x --> and more')).toBe('\n▸ ckpt: open and more')
  })

  it('opens and closes at a click, and the page may set the text anew', () => {
    const { folder, node } = world()
    const text = node(whole)
    folder.look(text)
    expect(text.data).toBe('\n▸ ckpt: decision, open, retire_done')
    folder.look(text)
    expect(folder.toggle(text)).toBe(true)
    expect(text.data).toBe(`\n▾ ${whole.trim()}`)
    folder.look(text)
    folder.toggle(text)
    expect(text.data).toBe('\n▸ ckpt: decision, open, retire_done')
    text.data = 'another answer'
    folder.look(text)
    expect(text.data).toBe('another answer')
    expect(folder.toggle(text)).toBe(false)
  })

  it('is hidden while it is written, and shown as it is when it never ends', () => {
    const { folder, node, settle } = world()
    const text = node('<!-- ckpt\ndecision: b')
    folder.look(text)
    expect(text.data).toBe('')
    text.data = whole
    folder.look(text)
    settle()
    expect(text.data).toBe('\n▸ ckpt: decision, open, retire_done')
    const endless = node('<!-- ckpt\ndecision: b')
    folder.look(endless)
    settle()
    expect(endless.data).toBe('<!-- ckpt\ndecision: b')
    folder.look(endless)
    expect(endless.data).toBe('<!-- ckpt\ndecision: b')
  })

  it.each([
    ['code', '<!-- ckpt\nopen: x\n-->', true],
    ['another comment', '<!-- note -->', false],
    ['a word that begins like it', '<!-- ckpts -->', false],
    ['a mention in a sentence', 'write <!-- ckpt --> there', false],
  ])('is left alone in %s', (_, data, isCode) => {
    const { folder, node } = world()
    const text = node(data, isCode)
    folder.look(text)
    expect(text.data).toBe(data)
  })
})
