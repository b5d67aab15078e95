// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages are what is tested
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { find, mask } from '../../src/text/redact.ts'

const a40 = 'abcdefghij0123456789abcdefghij0123456789'
const jwt = 'eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM'

describe('mask', () => {
  it.each([
    ['a <private>my name</private> b', 'a [masked:private] b'],
    ['a <PRIVATE>never closed', 'a [masked:private]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx', '[masked:pem-key]\nx'],
    ['-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE', '[masked:pem-key]'],
    [`jwt ${jwt}!`, 'jwt [masked:jwt]!'],
    [`ghp_${a40}`, '[masked:github-token]'],
    [`github_pat_${a40}`, '[masked:github-token]'],
    ['glpat-abcDEF123456_78901234', '[masked:gitlab-token]'],
    ['sk-proj-abcdefghijkl1234567890', '[masked:sk-key]'],
    ['AKIAIOSFODNN7QWERTYU', '[masked:aws-key-id]'],
    [`AIza${a40.slice(0, 35)}`, '[masked:google-key]'],
    ['xoxb-1234567890-ab', '[masked:slack-token]'],
    ['https://hooks.slack.com/services/T0001/B0002/abcdefghijk', 'https://hooks.slack.com/services/[masked:slack-hook]'],
    ['sk_live_abcdefghij0123456789', '[masked:stripe-key]'],
    [`npm_${a40.slice(0, 36)}`, '[masked:package-token]'],
    ['https://user:pw@example.org', 'https://user:[masked:url-password]@example.org'],
    ['Authorization: Bearer abcdefgh', 'Authorization: Bearer [masked:auth-header]'],
    ['"authorization": "token abcdefgh12"', '"authorization": "token [masked:auth-header]"'],
    ['x-api-key: 0123456789abcdef', 'x-api-key: [masked:auth-header]'],
    ['DB_PASSWORD = "hunter2-hunter2-x"', 'DB_PASSWORD = "[masked:assignment]"'],
    ['api_key: Abcd123!', 'api_key: [masked:assignment]'],
    ['secret:=aB3aB3aB', 'secret:=[masked:assignment]'],
  ])('hides the secret of %j', (text, expected) => {
    expect(mask(text)).toBe(expected)
  })

  it.each([
    '0123456789abcdef0123456789abcdef01234567',
    '123e4567-e89b-12d3-a456-426614174000',
    'a risk-based-approach-that-is-long-enough1',
    'the password is not here',
    'token=${TOKEN}',
    'token=${TOKEN_NUMBER_12345}',
    'password=xxxxxxxxxxxx',
    'password=<your-password-1234>',
    'password=%PASSWORD_12345678%',
    'password={{ vault.password_1234 }}',
    'secret=$SECRET_1234567890',
    'token = readToken1234567890("x")',
    'private_key: ./keys/id_rsa_1234567890',
    'token: process.env.TOKEN_1234567890',
    'token: os.environ["TOKEN_1234567890"]',
    'token: env.TOKEN_1234567890ab',
    'token: abcdefghijklmnopqrstuvwxyz',
    'password: abcd1234',
    'AKIAIOSFODNN7EXAMPLE',
    'sk-thisisaverylongwordwithoutdigit',
    'AKIAIOSFODNN7QWERTYUX',
  ])('leaves %j alone', text => {
    expect(mask(text)).toBe(text)
  })

  it('masks the worked example', () => {
    expect(
      mask(
        'glpat-abcDEF123456_78901234 x-api-key: 0123456789abcdef https://user:pw@example.org token=${TOKEN} password=xxxxxxxxxxxx',
      ),
    ).toBe(
      '[masked:gitlab-token] x-api-key: [masked:auth-header] https://user:[masked:url-password]@example.org token=${TOKEN} password=xxxxxxxxxxxx',
    )
  })

  it('hides a private block that holds what looks like a placeholder or a mask', () => {
    expect(mask('<private>EXAMPLE [masked:jwt] name</private>.')).toBe('[masked:private].')
  })

  it('takes what is allowed and what is extra from the configuration', () => {
    const rules = { allow: [`ghp_${a40}`], extra: [{ name: 'ours', prefix: 'o.r-', min: 8 }] }
    expect(mask(`ghp_${a40} o.r-12345678 o.r-1234567 xo.r-12345678 oXr-12345678`, rules)).toBe(
      `ghp_${a40} [masked:ours] o.r-1234567 xo.r-12345678 oXr-12345678`,
    )
  })

  it('replaces in the way of the caller', () => {
    expect(mask(`x ghp_${a40} y`, {}, ({ rule, end, start }) => `<${rule} ${end - start}>`)).toBe('x <github-token 44> y')
  })

  it('hides a secret that stands directly behind a hidden one', () => {
    expect(mask(`npm_${a40.slice(0, 36)}npm_${a40.slice(0, 36)}`)).toBe('[masked:package-token][masked:package-token]')
    expect(mask(`<private>x</private>ghp_${a40}`)).toBe('[masked:private][masked:github-token]')
    expect(mask('AKIAIOSFODNN7QWERTYUsk-abcdefghijkl1234567890')).toBe('[masked:aws-key-id][masked:sk-key]')
  })
})

describe('find', () => {
  it('gives spans in order that do not overlap', () => {
    const text = `password=aB3aB3aB; ghp_${a40}; AKIAIOSFODNN7QWERTYU`
    expect(find(text).map(({ rule, start, end }) => [rule, text.slice(start, end)])).toEqual([
      ['assignment', 'aB3aB3aB'],
      ['github-token', `ghp_${a40}`],
      ['aws-key-id', 'AKIAIOSFODNN7QWERTYU'],
    ])
  })
})

const shards = fc.constantFrom(
  '<private>',
  '</private>',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  jwt,
  `ghp_${a40}`,
  'glpat-',
  a40,
  'sk-',
  'AKIAIOSFODNN7QWERTYU',
  'AIza',
  a40.slice(0, 35),
  'xoxb-1234567890',
  'https://hooks.slack.com/services/',
  'sk_live_',
  'npm_',
  a40.slice(0, 36),
  'https://u:',
  '@',
  'authorization: bearer ',
  'x-api-key=',
  'password',
  '=',
  ':',
  ' ',
  '"',
  'aB3!',
  '.',
  '-',
  '_',
  'x',
  '[masked:jwt]',
  '[masked:',
  ']',
  'EXAMPLE',
  '***',
  '${A}',
  '\n',
  'token',
  'é',
  'o.r-',
)
const extra = [{ name: 'ours', prefix: 'o.r-', min: 8 }]

describe('on any text', () => {
  it('masks once: masking a masked text changes nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(shards, fc.string()), { maxLength: 24 }), parts => {
        const once = mask(parts.join(''), { extra })
        expect(mask(once, { extra })).toBe(once)
        expect(find(once, { extra })).toEqual([])
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['dots', '.'],
    ['token words', 'token'],
    ['token blanks', 'token  '],
    ['colons', 'a:'],
    ['urls', 'http://a:'],
    ['keys', 'AKIAIOSFODNN7QWERTYU'],
    ['begins', '-----BEGIN '],
    ['private', '<private>'],
    ['jwt starts', 'eyJaaaaaaaa.'],
    ['sk', 'sk-'],
    ['headers', 'authorization: bearer '],
    ['npm', `npm_${a40.slice(0, 36)}`],
    ['extras', 'o.r-'],
    ['masks', '[masked:'],
    ['alternating', `npm_${a40.slice(0, 36)}token=${'aB3!'.repeat(64)}q`],
  ])('takes time in proportion to its length: %s', (_, unit) => {
    const time = (size: number) => {
      const text = unit.repeat(Math.ceil(size / unit.length))
      const start = performance.now()
      mask(text, { extra })
      return performance.now() - start
    }
    time(50_000)
    const small = Math.max(time(100_000), 5)
    expect(time(800_000)).toBeLessThan(small * 40)
  })
})
