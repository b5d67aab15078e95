/** The parts of the browser half that decide something, without a browser. */
import { describe, expect, it } from 'vitest'
import { fields, valueAt, writesOf } from '../../src/dsh/client/fields.ts'
import { follow, type Surroundings } from '../../src/dsh/client/follow.ts'
import { KeelRowConfig } from '../../src/dsh/settings.ts'
import type { Shown } from '../../src/dsh/web/shown.ts'

type Asked = { readonly url: string; answer(status: number, body?: object): void; fail(): void; readonly signal: AbortSignal }

/** A page whose requests, visibility and pauses the test has in hand. */
function pageWith(isVisible = true) {
  const asked: Asked[] = []
  const pauses: { readonly ms: number; end(): void }[] = []
  let changed: () => void = () => {}
  const page = {
    asked,
    pauses,
    show: (value: boolean) => {
      isVisible = value
      changed()
    },
  }
  const around: Surroundings = {
    fetch: (url, { signal }) =>
      new Promise((done, failed) => {
        signal.addEventListener('abort', () => failed(new Error('aborted')))
        const answer = (status: number, body: object = {}) => done({ status, json: async () => body })
        asked.push({ url, signal, answer, fail: () => failed(new Error('no connection')) })
      }),
    isVisible: () => isVisible,
    onVisibility: listener => {
      changed = listener
      return () => {
        changed = () => {}
      }
    },
    wait: ms => new Promise(end => pauses.push({ ms, end })),
  }
  return { page, around }
}

const settle = () => new Promise(done => setTimeout(done, 2))
const shown = (cursor: string, status: string | null = null): Shown => ({ cursor, status, notices: [] })

describe('a page that follows a session', () => {
  it('asks for what comes after each answer', async () => {
    const { page, around } = pageWith()
    const seen: (Shown | undefined)[] = []
    const stop = follow('s 1', each => seen.push(each), around)
    await settle()
    page.asked[0]?.answer(200, shown('e.1', 'keel 1 behind'))
    await settle()
    expect(page.asked.map(({ url }) => url)).toEqual([
      '/outrigger/session?session=s+1',
      '/outrigger/session?session=s+1&after=e.1',
    ])
    expect(seen).toEqual([shown('e.1', 'keel 1 behind')])
    stop()
    expect(page.asked[1]?.signal.aborted).toBe(true)
  })

  it('holds no connection while it is hidden, and goes on where it was', async () => {
    const { page, around } = pageWith()
    const stop = follow('s', () => {}, around)
    await settle()
    page.asked[0]?.answer(200, shown('e.1'))
    await settle()
    page.show(false)
    await settle()
    expect(page.asked[1]?.signal.aborted).toBe(true)
    expect(page.asked).toHaveLength(2)
    page.show(true)
    await settle()
    expect(page.asked[2]?.url).toMatch(/after=e\.1$/)
    stop()
  })

  it('shows nothing while the host does not answer, and asks ever less often', async () => {
    const { page, around } = pageWith()
    const seen: (Shown | undefined)[] = []
    const stop = follow('s', each => seen.push(each), around)
    for (let n = 0; n < 7; n++) {
      await settle()
      if (n % 2 === 0) page.asked[n]?.fail()
      else page.asked[n]?.answer(502)
      await settle()
      page.pauses[n]?.end()
    }
    await settle()
    expect(page.pauses.map(({ ms }) => ms)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    expect(new Set(seen)).toEqual(new Set([undefined]))
    stop()
  })

  it('gives up where it is refused', async () => {
    const { page, around } = pageWith()
    follow('s', () => {}, around)
    await settle()
    page.asked[0]?.answer(403)
    await settle()
    expect([page.asked.length, page.pauses.length]).toEqual([1, 0])
  })
})

describe('the settings card', () => {
  it('knows the keys that the row takes, each with choices the row takes', () => {
    expect(fields.map(field => field.path)).toEqual([
      'tell',
      'hold',
      'stampNew',
      'ack.reason',
      'ack.updated',
      'check.strict',
      'statusFile',
    ])
    for (const { path, choices, about } of fields) {
      expect(choices).toHaveLength(2)
      expect(about).toMatch(/Default: (?!undefined)\w+\.$/)
      for (const { value } of choices) {
        const section = Object.fromEntries(writesOf({}, new Map([[path, value]])))
        expect(valueAt(KeelRowConfig(section), path)).toBe(value)
      }
    }
  })

  it('leaves the person’s other keys of a group alone', () => {
    const user = { ack: { reason: 'required', personOnly: ['legal/**'] }, check: { strict: true } }
    const drafts = new Map<string, string | boolean | undefined>([
      ['ack.updated', 'off'],
      ['ack.reason', undefined],
      ['check.strict', undefined],
      ['tell', false],
    ])
    expect([...writesOf(user, drafts)]).toEqual([
      ['ack', { personOnly: ['legal/**'], updated: 'off' }],
      ['check', undefined],
      ['tell', false],
    ])
  })
})
