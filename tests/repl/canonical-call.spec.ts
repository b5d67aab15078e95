/** Direct calls as programs: which are, and that the program hands the tool what the model wrote. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalCall } from '../../src/repl/canonical-call.ts'

const isTool = (name: string): boolean => ['read', 'my-tool', 'mcp.list', 'constructor'].includes(name)
const code = (name: string, text: string): string | undefined => canonicalCall(name, text, isTool)?.code

it.each([
  ['read', '{"path":"a"}', 'return await tools.read({ "path": "a" })'],
  ['read', '{}', 'return await tools.read({})'],
  ['tools.read', '{"a":[1,{"b":null}]}', 'return await tools.read({ "a": [1, { "b": null }] })'],
  ['my-tool', '{"x":true}', 'return await tools["my-tool"]({ "x": true })'],
  ['mcp.list', '{}', 'return await tools["mcp.list"]({})'],
  ['constructor', '{}', 'return await tools.constructor({})'],
  ['host.invoke', '{"name":"read","arguments":{"path":"a"}}', 'return await tools.read({ "path": "a" })'],
  ['host.invoke', '{"name":"read"}', 'return await tools.read({})'],
  ['read', '{"path":"a"}}', 'return await tools.read({ "path": "a" })'],
  ['read', ' {"path":"a"}}\n', 'return await tools.read({ "path": "a" })'],
  ['read', '{"n":-0,"big":1e999}', 'return await tools.read({ "n": -0, "big": 1e999 })'],
  ['read', '{"__proto__":{"a":1}}', 'return await tools.read({ ["__proto__"]: { "a": 1 } })'],
])('%s %s becomes %s', (name, text, expected) => {
  expect(code(name, text)).toBe(expected)
})

it.each([
  ['a tool that is not there', 'write', '{}'],
  ['a tool of another namespace', 'other.read', '{}'],
  ['a name of objects', 'toString', '{}'],
  ['arguments that are no JSON', 'read', '{"path":'],
  ['two superfluous braces', 'read', '{"path":"a"}}}'],
  ['a superfluous bracket', 'read', '{"path":"a"}]'],
  ['no arguments at all', 'read', ''],
  ['a list', 'read', '[1]'],
  ['a text', 'read', '"a"'],
  ['an invocation of nothing', 'host.invoke', '{"arguments":{}}'],
  ['an invocation of what is not there', 'host.invoke', '{"name":"write","arguments":{}}'],
  ['an invocation with more fields', 'host.invoke', '{"name":"read","arguments":{},"when":"now"}'],
  ['an invocation with a list', 'host.invoke', '{"name":"read","arguments":[]}'],
  ['arguments that make too long a program', 'read', JSON.stringify({ path: 'x'.repeat(1_048_576) })],
])('%s stays what it is', (_, name, text) => {
  expect(canonicalCall(name, text, isTool)).toBeUndefined()
})

describe('the description', () => {
  it.each([
    ['{}', 'Call tools.read'],
    ['{"description":"Look into it"}', 'Look into it'],
    ['{"description":"  "}', 'Call tools.read'],
    ['{"description":7}', 'Call tools.read'],
    [JSON.stringify({ description: 'x'.repeat(500) }), 'x'.repeat(200)],
  ])('of %s is %s', (text, description) => {
    expect(canonicalCall('read', text, isTool)?.description).toBe(description)
  })
})

/** What the tool gets when the program runs. */
async function handedOver(text: string): Promise<unknown> {
  const made = canonicalCall('read', text, isTool)
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (tools: object) => Promise<unknown>
  return new AsyncFunction('tools', made!.code)({ read: async (args: unknown) => args })
}

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '"', '\\', '\u2028', '\ud83d'))
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1, 1e300),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(entries => Object.fromEntries(entries)),
  ),
})).value

it('hands every value over as it was written', async () => {
  const object = fc.array(fc.tuple(key, value), { maxLength: 5 }).map(entries => Object.fromEntries(entries))
  await fc.assert(
    fc.asyncProperty(object, async args => {
      const text = JSON.stringify(args)
      const handed = await handedOver(text)
      expect(isDeepStrictEqual(handed, JSON.parse(text))).toBe(true)
      expect(Object.getPrototypeOf(handed)).toBe(Object.prototype)
    }),
    { numRuns: 400 },
  )
})

it('hands deep values over, too, without a deep program', async () => {
  for (const depth of [100, 127, 128, 129, 1_000, 20_000]) {
    const text = `{"__proto__":${'[{"a":'.repeat(depth / 2)}-0${'}]'.repeat(depth / 2)}}`
    const made = canonicalCall('read', text, isTool)!
    expect(made.code.includes('JSON.parse(')).toBe(depth > 127)
    const handed = (await handedOver(text)) as Record<string, unknown>
    let inner: unknown = Object.getOwnPropertyDescriptor(handed, '__proto__')?.value
    for (let i = 0; i < Math.floor(depth / 2); i++) inner = (inner as { a: unknown }[])[0]!.a
    expect(inner).toBe(-0)
  }
})

it('makes programs of nothing but objects, whatever the bytes are', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map(text => `${text}}`),
      ),
      text => {
        const made = canonicalCall('read', text, isTool)
        let whole: unknown
        for (const each of [text.trimEnd().replace(/\}$/, ''), text]) {
          try {
            whole = JSON.parse(each)
          } catch {}
        }
        const isObject = typeof whole === 'object' && whole !== null && !Array.isArray(whole)
        expect(made !== undefined).toBe(isObject)
      },
    ),
    { numRuns: 500 },
  )
})
