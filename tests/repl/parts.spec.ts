/** Frames, marks in raw output, logs under a limit, arguments of tools, texts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LogBuffer } from '../../src/repl/logs.ts'
import { RawOutput } from '../../src/repl/raw-output.ts'
import { cutMiddle, failureText } from '../../src/repl/render.ts'
import { acceptsNothing, faultOfArguments } from '../../src/repl/tool-arguments.ts'
import { encodeFrame, FrameReader, fenceText, MalformedFrame } from '../../src/repl/worker/protocol.ts'
import { startSession } from '../support/repl/session.ts'

const nonce = new Uint8Array(16).fill(7)

/** The bytes in pieces as a pipe would cut them. */
function inPieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((start, i) => bytes.slice(start, places[i] ?? bytes.length))
}

describe('frames', () => {
  it('come out as they went in, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(0 as const, 1 as const), fc.uint8Array({ maxLength: 300 })), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(([type, payload]) => encodeFrame(type, nonce, payload)))
          const reader = new FrameReader(nonce)
          const read: [number, number[]][] = []
          for (const piece of inPieces(bytes, cuts))
            for (const { type, payload } of reader.push(piece)) read.push([type, [...payload]])
          expect(read).toEqual(frames.map(([type, payload]) => [type, [...payload]]))
        },
      ),
    )
  })

  it('that are none are told, and nothing else is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.array(fc.nat(), { maxLength: 6 }), (bytes, cuts) => {
        const reader = new FrameReader(nonce, 1_000)
        try {
          for (const piece of inPieces(bytes, cuts))
            for (const frame of reader.push(piece)) expect(frame.payload.length).toBeLessThanOrEqual(1_000)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedFrame)
        }
      }),
    )
  })

  it.each([
    ['of another nonce', encodeFrame(0, new Uint8Array(16), new Uint8Array(1))],
    ['of an unknown type', encodeFrame(2 as 0, nonce, new Uint8Array(1))],
    ['too long', new Uint8Array([255, 255, 255, 255])],
    ['too short', new Uint8Array([1, 0, 0, 0])],
  ])('%s are malformed', (_, bytes) => {
    expect(() => [...new FrameReader(nonce).push(bytes)]).toThrow(MalformedFrame)
  })
})

describe('raw output', () => {
  it('is text between marks, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (texts, cuts) => {
          const clean = texts.map(text => text.replaceAll('\u0000outrigger', ''))
          const bytes = Buffer.from(clean.map((text, i) => text + fenceText('ab', i + 1)).join(''))
          const heard: string[] = ['']
          const raw = new RawOutput(
            'ab',
            text => (heard[heard.length - 1] += text),
            cell => {
              expect(cell).toBe(heard.length)
              heard.push('')
            },
          )
          for (const piece of inPieces(bytes, cuts)) raw.push(piece)
          raw.end()
          expect(heard).toEqual([...clean, ''])
        },
      ),
    )
  })
})

describe('logs', () => {
  it('keep the beginning and the end, and count what is between', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n'), maxLength: 3 }), fc.nat({ max: 40_000 })), {
          maxLength: 12,
        }),
        parts => {
          const buffer = new LogBuffer(10_000)
          const texts = parts.map(([unit, times]) => unit.repeat(times))
          for (const text of texts) buffer.add('stdout', text)
          const whole = texts.map(text => text.replace(/\r?\n$/, '')).join('')
          const kept = buffer
            .entries()
            .map(entry => entry.text)
            .join('')
          expect(Buffer.byteLength(kept) + buffer.omittedBytes).toBe(Buffer.byteLength(whole))
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(10_000 + 64 * 1024)
          expect(kept.isWellFormed()).toBe(true)
          if (buffer.omittedBytes === 0) expect(kept).toBe(whole)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('arguments', () => {
  const schema = {
    type: 'object',
    properties: {
      description: { type: 'string' },
      list: { type: 'array', items: { $ref: '#/$defs/item' } },
      mode: { enum: ['a', 'b'] },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['description'],
    additionalProperties: false,
    $defs: { item: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
  }
  it.each([
    [{}, 'arguments.description is required (string)'],
    [{ description: 1 }, 'arguments.description must be string, not number'],
    [{ description: '', list: [{ n: 1 }, {}] }, 'arguments.list[1].n is required (integer)'],
    [{ description: '', list: [{ n: 1.5 }] }, 'arguments.list[0].n must be integer, not number'],
    [{ description: '', mode: 'c' }, 'arguments.mode must be one of "a", "b"'],
    [{ description: '', either: 4 }, 'arguments.either must be string or null, not number'],
    [{ description: '', 'no-such': 4 }, 'arguments["no-such"] is no argument; there are description, list, mode, either'],
    [[], 'arguments must be object, not array'],
    [{ description: '', either: null, list: [], mode: 'a' }, undefined],
  ])('%j: %s', (given, fault) => {
    expect(faultOfArguments(schema, given)).toBe(fault)
  })

  it('may be left out only where nothing is required', () => {
    expect([acceptsNothing(schema), acceptsNothing({ type: 'object' }), acceptsNothing(undefined)]).toEqual([false, true, true])
  })
})

describe('texts', () => {
  it('of a failure show the place', () => {
    expect(
      failureText(
        {
          code: 'OUT-X001',
          name: 'TypeError',
          message: "Cannot read properties of undefined (reading 'c')",
          phase: 'run',
          state: 'partial',
          position: { line: 2, column: 14 },
          frame: { text: '  return e.b.c.d', column: 14 },
          help: ['e.b is undefined here'],
        },
        7,
        ['e'],
      ),
    ).toBe(`OUT-X001 TypeError: Cannot read properties of undefined (reading 'c')
  cell 7, 2:14 |     return e.b.c.d
               |                ^
  names set before this point keep their new values: e
  help: e.b is undefined here`)
  })

  it('that are too long keep both ends', () => {
    expect(cutMiddle('a'.repeat(80) + 'b'.repeat(80), 40, 'see v7')).toBe(
      `${'a'.repeat(30)}\n… 120 characters omitted; see v7 …\n${'b'.repeat(10)}`,
    )
  })
})

describe('programs', () => {
  const tools = [
    {
      name: 'read',
      description: 'Read a file.\nMore.',
      parameters: { type: 'object', properties: { path: { type: 'string', description: 'which' } }, required: ['path'] },
    },
  ]

  it('find what they can call', async () => {
    const { run } = await startSession()
    expect((await run('return (await capabilities.tree()).tools', { tools })).value).toEqual({ read: 'Read a file.' })
    expect((await run('return (await capabilities.find("file"))[0]', { tools })).value).toEqual({
      symbol: 'tools.read',
      description: 'Read a file.',
    })
    const { value } = await run('return (await capabilities.inspect({ symbols: ["tools.read", "tools.nope"] }))', { tools })
    expect(value).toEqual({
      declarations: '/** Read a file.\nMore. */\ntools.read(args: {\n  path: string // which\n}): Promise<unknown>',
      unknown: ['tools.nope'],
    })
  })

  it('run programs, which know no names of the session and use the same tools', async () => {
    const { run } = await startSession()
    await run('const here = 1')
    const result = await run(
      'return await code.run({ code: "console.log(typeof here); return await tools.read({ path: \'x\' })" })',
      {
        tools,
        call: async ({ arguments: args }) => ({ ok: true, value: { got: args } }),
      },
    )
    expect(result.value).toEqual({ logs: ['undefined'], result: { got: { path: 'x' } } })
    expect(result.calls).toEqual([{ call: 1, name: 'code.run', outcome: 'ok' }])
    expect(await run('await code.run({ code: "throw new Error(\'inside\')" })')).toMatchObject({
      error: { name: 'CodeExecutionError', message: expect.stringContaining('inside') },
    })
  })

  it('cannot keep what belongs to a cell', async () => {
    const { run } = await startSession()
    await run('const kept = tools.read', { tools })
    expect(await run('await kept({ path: "x" })', { tools })).toMatchObject({ error: { code: 'OUT-L001' } })
  })
})
