/** What the browser shows of a session: who is told what, when, and what nobody took. */
import { describe, expect, it } from 'vitest'
import { createDisplay, type Display } from '../../src/dsh/web/display.ts'
import type { ActionOf } from '../../src/session/actions.ts'

const stays = new AbortController().signal

let ids = 0
const notice = (text: string): ActionOf<'notify'> => ({
  kind: 'notify',
  id: `n${++ids}`,
  engine: 'keel',
  level: 'info',
  text,
  ms: 4_000,
})

/** A display that pages read from, with the waiting readers' clock in hand. */
function opened(): { readonly display: Display; readonly close: () => void; expire(): void } {
  const timers = new Set<() => void>()
  const display = createDisplay((_ms, run) => {
    timers.add(run)
    return () => timers.delete(run)
  })
  return { display, close: display.open(), expire: () => [...timers].forEach(run => void run()) }
}

const texts = (shown: { readonly notices: readonly { readonly text: string }[] }) => shown.notices.map(each => each.text)

/** `waits` while it has not settled, else what it gave. */
async function now<T>(promise: Promise<T>): Promise<T | 'waits'> {
  return Promise.race([promise, new Promise<'waits'>(done => setTimeout(() => done('waits'), 5))])
}

describe('a display', () => {
  it('is open while a web server serves it', () => {
    const { display, close } = opened()
    expect(display.isOpen).toBe(true)
    close()
    expect(display.isOpen).toBe(false)
  })

  it('answers a first reader at once, with nothing for a session that says nothing', async () => {
    const { display } = opened()
    expect(await now(display.read('s', undefined, stays))).toMatchObject({ status: null, notices: [] })
  })

  it('lets a reader wait until the status changes, and not for a status that stays', async () => {
    const { display } = opened()
    display.status('s', 'keel 1 behind')
    const { cursor } = await display.read('s', undefined, stays)
    const next = display.read('s', cursor, stays)
    display.status('s', 'keel 1 behind')
    display.status('other', 'keel 9 behind')
    expect(await now(next)).toBe('waits')
    display.status('s', 'keel 2 behind')
    expect(await next).toMatchObject({ status: 'keel 2 behind' })
  })

  it('gives a reader that waited long enough the same again', async () => {
    const { display, expire } = opened()
    display.status('s', 'keel 1 behind')
    const first = await display.read('s', undefined, stays)
    const second = display.read('s', first.cursor, stays)
    expect(await now(second)).toBe('waits')
    expire()
    expect(await second).toEqual(first)
  })

  it('keeps a notice until a page took it, and gives it to every page that reads along', async () => {
    const { display } = opened()
    display.notify('s', notice('one'))
    const first = await display.read('s', undefined, stays)
    expect(texts(first)).toEqual(['one'])
    const late = await display.read('s', undefined, stays)
    expect(texts(late)).toEqual([])
    const both = [display.read('s', first.cursor, stays), display.read('s', late.cursor, stays)]
    display.notify('s', notice('two'))
    expect((await Promise.all(both)).map(texts)).toEqual([['two'], ['two']])
  })

  it('does not count a notice as taken when the page went before the answer', async () => {
    const { display } = opened()
    const { cursor } = await display.read('s', undefined, stays)
    const page = new AbortController()
    const read = display.read('s', cursor, page.signal)
    display.notify('s', notice('one'))
    page.abort()
    await read
    expect(display.end('s')).toHaveLength(1)
  })

  it('answers a cursor of another process as a first reader', async () => {
    const { display } = opened()
    display.status('s', 'keel 1 behind')
    expect(await now(display.read('s', '0123456789ab.1', stays))).toMatchObject({ status: 'keel 1 behind' })
  })

  it('names what nobody took: pushed out by newer ones, or left when the session ends', () => {
    const { display } = opened()
    const sent = Array.from({ length: 22 }, (_, n) => notice(`n${n}`))
    expect(sent.flatMap(each => display.notify('s', each))).toEqual(sent.slice(0, 2).map(each => each.id))
    expect(display.end('s')).toEqual(sent.slice(2).map(each => each.id))
    expect(display.end('s')).toEqual([])
  })

  it('clears the status when the session ends and tells who waits', async () => {
    const { display } = opened()
    display.status('s', 'keel 1 behind')
    const { cursor } = await display.read('s', undefined, stays)
    const next = display.read('s', cursor, stays)
    display.end('s')
    expect(await next).toMatchObject({ status: null })
  })

  it('lets the oldest reader go when too many wait, and all when the server goes', async () => {
    const { display, close } = opened()
    display.status('s', 'keel 1 behind')
    const { cursor } = await display.read('s', undefined, stays)
    const reads = Array.from({ length: 65 }, () => display.read('s', cursor, stays))
    expect(await now(reads[0]!)).toMatchObject({ cursor })
    expect(await now(reads[1]!)).toBe('waits')
    close()
    expect(await now(Promise.all(reads))).toHaveLength(65)
  })
})
