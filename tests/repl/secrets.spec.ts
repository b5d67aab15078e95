/** Secrets in what a session writes: of the environment they come back, of any other sort they stay where they are. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecretBytes } from '../../src/repl/secret-bytes.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { mask } from '../../src/text/redact.ts'
import { startSession } from '../support/repl/session.ts'
import { temporaryFolder } from '../support/temporary.ts'

const token = 'very-secret-value-1'
const wide = 'wîde-secret-välue-\u2713'
const found = `ghp_${'a1B2'.repeat(9)}`

/** Of every file below. */
function contentOf(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
  expect(files.length).toBeGreaterThan(0)
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))))
}

/** In the file as it is, and in what lies there as base64. */
function leaks(folder: string, secret: string): boolean {
  const content = contentOf(folder)
  if (content.includes(secret) || content.includes(Buffer.from(secret, 'utf16le'))) return true
  const encoded = content.toString('latin1').match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? []
  return encoded.some(text => {
    const bytes = Buffer.from(text, 'base64')
    return bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'utf16le'))
  })
}

describe('a session that is killed', () => {
  it('has its secrets again, and none of them in a file', async () => {
    const folder = temporaryFolder()
    const cwd = temporaryFolder()
    const env = { API_TOKEN: token, OTHER_KEY: wide }
    const open = async (variables: Record<string, string>) =>
      startSession({
        cwd,
        store: await openSqliteStore(join(folder, 'state.db'), { isDead: () => true }),
        env: variables,
        more: { mask },
      })
    const first = await open(env)
    await first.run(
      'const shared = { token: process.env.API_TOKEN, list: ["Bearer " + process.env.OTHER_KEY] }; const own = [shared]',
    )
    await first.run('require("fs").writeFileSync("effect", ""); shared.more = 1; own.push(1)')
    await first.run(`const apart = ["gh", "p_${found.slice(4)}"].join(""); const box = { apart }; const plain = [1]`)
    await first.run('require("fs").writeFileSync("effect", ""); return [box, plain, shared]')
    await first.session.save('all')
    await first.session.close()
    for (const secret of [token, wide, found]) expect([secret, leaks(folder, secret)]).toEqual([secret, false])

    const second = await open(env)
    const back = await second.run('return [shared.token, shared.list, own[0] === shared, own[1], typeof box, plain]')
    expect(back.value).toEqual([token, [`Bearer ${wide}`], true, 1, 'undefined', [1]])
    expect(back.recovery?.bindings).toContainEqual({ name: 'shared', status: 'snapshot', cell: 1 })
    expect(back.recovery?.bindings).toContainEqual({ name: 'box', status: 'lost', reason: 'secret', cell: 3 })
    await second.session.close()

    const third = await open({})
    const gone = await third.run('return typeof shared')
    expect(gone.value).toBe('undefined')
    expect(gone.recovery?.bindings).toContainEqual({ name: 'shared', status: 'lost', reason: 'secret', cell: 1 })
    for (const secret of [token, wide, found]) expect([secret, leaks(folder, secret)]).toEqual([secret, false])
  })
})

describe('bytes without their secrets', () => {
  it('are made whole again where the secrets are known', async () => {
    const secrets = createSecretBytes(
      new Map([
        [wide, 'OTHER_KEY'],
        [token, 'API_TOKEN'],
      ]),
      mask,
    )
    const others = createSecretBytes(new Map(), mask)
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom(token, wide).map(text => new Uint8Array(Buffer.from(text))),
      fc.constantFrom(token, wide).map(text => new Uint8Array(Buffer.from(text, 'utf16le'))),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async parts => {
        const bytes = Buffer.concat(parts)
        const before = Buffer.from(bytes)
        const hidden = await secrets.hide(bytes)
        if (hidden === undefined) return
        expect(bytes.equals(before)).toBe(true)
        for (const secret of [token, wide]) expect(Buffer.from(hidden.bytes).includes(secret)).toBe(false)
        expect(Buffer.from(secrets.show(hidden.bytes, hidden.places)!).equals(before)).toBe(true)
        if (hidden.places.length > 0) expect(others.show(hidden.bytes, hidden.places)).toBeUndefined()
      }),
    )
  })

  it('are none where something only looks like a secret, however long the text is', async () => {
    const secrets = createSecretBytes(new Map(), mask)
    for (const length of [40, 51, 97, 122]) {
      const text = found.padEnd(length, ' ')
      expect(await secrets.hide(Buffer.concat([Buffer.from([length]), Buffer.from(text)]))).toBeUndefined()
    }
    expect(await secrets.hide(Buffer.from(found, 'utf16le'))).toBeUndefined()
    expect((await secrets.hide(Buffer.from('nothing at all')))?.places).toEqual([])
  })
})
