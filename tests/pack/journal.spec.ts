import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeEntry,
  type Journal,
  type NewEntry,
  plainBody,
  preambleOf,
  readJournal,
  storedBody,
} from '../../src/pack/journal.ts'

const entry = (body: string, more: Partial<NewEntry> = {}): NewEntry => ({
  time: '2026-11-30T10:00:00.000Z',
  session: 's-1',
  kind: 'ckpt',
  flags: [],
  key: body.length.toString(16).padStart(12, '0'),
  body,
  ...more,
})

function read(bytes: Uint8Array | string, chunk = 1_000_000): Journal {
  const all = Buffer.from(bytes as string)
  const reader = readJournal()
  for (let at = 0; at < all.length; at += chunk) reader.push(all.subarray(at, at + chunk))
  return reader.end()
}

const bodies = (journal: Journal) => journal.entries.map(({ id, state, body }) => [id, state, body])
const trailer = (text: string): string => storedBody(`<!-- ckpt\n${text}\n-->`)

/** What the next writer makes of a journal: repair, then an entry of the next number. */
function writeOn(text: string, next: NewEntry): string {
  const { end, last } = read(text)
  const used = end.kind === 'torn' && end.number !== null ? Math.max(last, end.number) : last
  const repair = end.kind === 'whole' ? '' : end.kind === 'open' ? end.missing : end.note
  return text + repair + encodeEntry(next, used + 1)
}

describe('a journal', () => {
  it('gives back what was written, whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc
        .array(
          fc.constantFrom('### c01 x y', '\\### a', '<!-- torn c01: 3 of 9 bytes -', 'open: x', '', '\r', '\u0007', '\ud800'),
          { maxLength: 6 },
        )
        .map(rows => rows.join('\n')),
    )
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 50 }), (texts, chunk) => {
        const stored = texts.map(one => trailer(one.replaceAll('-->', '--')))
        const file =
          preambleOf('s') +
          stored.map((body, at) => encodeEntry(entry(body, { key: String(at).padStart(12, '0') }), at + 1)).join('')
        expect(bodies(read(file, chunk))).toEqual(stored.map((body, at) => [`c0${at + 1}`, 'intact', plainBody(body)]))
      }),
      { numRuns: 150 },
    )
  })

  it('takes text that is stored as it is through the escape and back', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\\', '#', ' ', '\n', '<', '!', '-', 'torn ', 'c1', 'é') }), text => {
        expect(plainBody(storedBody(text))).toBe(text)
        expect(storedBody(text)).not.toMatch(/^(?:### |<!-- torn )/m)
      }),
    )
  })

  it('that is torn at any byte loses the torn entry only, also when its repair is torn again', () => {
    const whole = preambleOf('s') + encodeEntry(entry(trailer('open: first')), 1)
    const second = entry(trailer('open: the second, with é and ### inside'), { key: 'bbbbbbbbbbbb' })
    const third = entry(trailer('open: third'), { key: 'cccccccccccc' })
    const fourth = entry(trailer('open: fourth'), { key: 'dddddddddddd' })
    const bytes = Buffer.from(encodeEntry(second, 2))
    const isWhole = (at: number) => at >= bytes.length - 2
    for (let at = 0; at <= bytes.length; at++) {
      const torn = Buffer.concat([Buffer.from(whole), bytes.subarray(0, at)])
      // A character that was cut in half is two writes of bytes; tests join text, so whole characters only.
      if (torn.toString('utf8').includes('\ufffd')) continue
      const texts = (journal: Journal) => journal.entries.flatMap(one => (one.state === 'torn' ? [] : [one.body.split('\n')[1]!]))
      const start = ['open: first', ...(isWhole(at) ? ['open: the second, with é and ### inside'] : [])]
      expect(texts(read(torn)), `torn at ${at}`).toEqual(start)
      const repaired = writeOn(torn.toString('utf8'), third)
      expect(texts(read(repaired)), `written on after ${at}`).toEqual([...start, 'open: third'])
      expect(read(repaired).end.kind).toBe('whole')
      const from = torn.length
      const again = Buffer.from(repaired)
      for (let cut = from + (at % 7); cut < again.length; cut += 7) {
        const second = again.subarray(0, cut).toString('utf8')
        if (second.includes('\ufffd')) continue
        const after = texts(read(writeOn(second, fourth)))
        const isThird = cut >= again.length - 2
        expect(after, `torn at ${at}, then at ${cut}`).toEqual([...start, ...(isThird ? ['open: third'] : []), 'open: fourth'])
      }
    }
  })

  it('lets the same trailer be written again after it was torn', () => {
    const body = trailer('open: x')
    const file = `${preambleOf('s')}${encodeEntry(entry(body), 1).slice(0, -12)}`
    const journal = read(file)
    expect(journal.entries).toMatchObject([{ state: 'torn' }])
    const again = read(writeOn(file, entry(body)))
    expect(bodies(again)).toEqual([
      ['c01', 'torn', ''],
      ['c02', 'intact', body],
    ])
  })

  it('reads entries that somebody changed as they stand', () => {
    const file = preambleOf('s') + encodeEntry(entry(trailer('open: x')), 1) + encodeEntry(entry(trailer('open: yy')), 2)
    const longer = file.replace('open: x', 'open: x and more')
    expect(bodies(read(longer))[0]).toEqual(['c01', 'edited', '<!-- ckpt\nopen: x and more\n-->'])
    const crlf = read(file.replaceAll('\n', '\r\n'))
    expect(crlf.entries.map(one => one.body)).toEqual(['<!-- ckpt\nopen: x\n-->', '<!-- ckpt\nopen: yy\n-->'])
  })

  it('reads entries of one number in the same order whatever their order in the file', () => {
    const early = encodeEntry(entry(trailer('open: early'), { key: 'ffffffffffff' }), 8)
    const late = encodeEntry(entry(trailer('open: late'), { time: '2026-11-30T10:05:00.000Z', key: 'abcdabcdabcd' }), 8)
    const head = preambleOf('s')
    expect(bodies(read(head + late + early))).toEqual(bodies(read(head + early + late)))
    expect(read(head + late + early).entries.map(one => one.id)).toEqual(['c08', 'c08~abcd'])
  })

  it('gives lines that a union merge wrote once back to both entries', () => {
    const one = encodeEntry(entry(trailer('open: main\nopen: same'), { key: 'aaaaaaaaaaaa' }), 2)
    const other = encodeEntry(
      entry(trailer('open: other\nopen: same'), { key: 'bbbbbbbbbbbb', time: '2026-11-30T10:05:00.000Z' }),
      2,
    )
    const merged = preambleOf('s') + one.slice(0, -'open: same\n-->\n\n'.length) + other
    const { entries } = read(merged)
    expect(entries.map(({ state, body }) => [state, body])).toEqual([
      ['intact', '<!-- ckpt\nopen: main\nopen: same\n-->'],
      ['intact', '<!-- ckpt\nopen: other\nopen: same\n-->'],
    ])
  })

  it('keeps one entry of equal keys', () => {
    const text = encodeEntry(entry(trailer('open: x')), 1)
    expect(read(preambleOf('s') + text + text.replace('c01', 'c02')).entries).toHaveLength(1)
  })

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 30 }), (bytes, chunk) => {
        expect(read(bytes, chunk).entries).toEqual(read(bytes).entries)
      }),
    )
    const piece = fc.constantFrom(
      '### c01 t s key=abc len=5\n',
      '### c1',
      '\n',
      '-->',
      '<!-- ckpt',
      '<!-- torn c01: 1 of 5 bytes -->',
      '\n\n',
      'é',
      '### c02 t s\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.integer({ min: 1, max: 9 }), (pieces, chunk) => {
        const text = pieces.join('')
        expect(read(text, chunk).entries).toEqual(read(text).entries)
        const on = read(writeOn(text, entry(trailer('open: new'), { key: 'eeeeeeeeeeee' })))
        expect(on.entries.some(one => one.key === 'eeeeeeeeeeee' && one.state === 'intact')).toBe(true)
      }),
      { numRuns: 400 },
    )
  })
})
