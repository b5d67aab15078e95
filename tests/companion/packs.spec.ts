import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globMatcher, pathMatcher, textMatcher } from '../../src/companion/pack/patterns.ts'
import { parsePack } from '../../src/companion/pack/read.ts'
import { companionWorld, openCompanionWorld } from '../support/companion-world.ts'
import { repository } from '../support/repository.ts'

const intent = (rest: string) =>
  `version: 1\nintents:\n  - {id: A, domain: test, signals: [{id: convention, weight: 1}], find: [tests]${rest}}\n`
const codeOf = (text: string) => {
  const reading = parsePack(text)
  return reading.kind === 'ignored' ? reading.faults[0]!.code : reading.kind
}

describe('a pack', () => {
  it.each([
    ['PACK_YAML', 'version: 1\n  bad: ['],
    ['PACK_YAML', 'version: &a 1\nintents: *a\n'],
    ['PACK_YAML', 'version: &a 1\n'],
    ['PACK_YAML', 'version: !!int 1\n'],
    ['PACK_YAML', 'version: 1\nversion: 1\n'],
    ['PACK_YAML', '['.repeat(5_000)],
    ['PACK_VERSION', 'intents: []\n'],
    ['PACK_VERSION', 'version: 2\n'],
    ['PACK_SHAPE', '[1]\n'],
    ['PACK_SHAPE', 'version: 1\nintents: 3\n'],
    ['PACK_SHAPE', 'version: 1\nintents:\n  - {id: "a b", find: [tests]}\n'],
    ['PACK_SHAPE', 'version: 1\nintents:\n  - {id: Reconciliation, find: [tests], signals: []}\n'],
    ['PACK_SHAPE', intent(', targets: [a]')],
    [
      'PACK_SHAPE',
      'version: 1\nintents:\n  - {id: A, signals: [{id: test-shape, weight: 1}, {id: imports, weight: 1}], find: [tests]}\n',
    ],
    ['PACK_SHAPE', intent(', priority: 100')],
    ['PACK_THRESHOLD', intent(', threshold: 1.5')],
    ['PACK_THRESHOLD', intent(', threshold: .nan')],
    ['PACK_WEIGHT', 'version: 1\nintents:\n  - {id: A, signals: [{id: imports, weight: 9}], find: [tests]}\n'],
    ['PACK_WEIGHT', 'version: 1\nintents:\n  - {id: A, signals: [{id: imports, weight: .inf}], find: [tests]}\n'],
    ['PACK_LIMIT', `version: 1\nintents: [${Array.from({ length: 33 }, (_, n) => `{id: A${n}, find: [tests]}`).join(', ')}]\n`],
    ...['../x', '/etc/passwd', '~/x', 'C:/x', 'a\\\\b', 'a//b', 'a\\u202eb', 'a\\u0007', 'x'.repeat(201)].map(
      path => ['PACK_TARGET', `version: 1\nsignature: ["${path}"]\n`] as const,
    ),
    ['PACK_PATTERN', 'version: 1\nclaims:\n  - {id: a, files: [R.md], text: "no number", measure: {tests: total}}\n'],
    ['PACK_PATTERN', 'version: 1\nclaims:\n  - {id: a, files: [R.md], text: "{n} {n}", measure: {tests: total}}\n'],
    ['PACK_PATTERN', 'version: 1\nclaims:\n  - {id: a, files: [R.md], text: "{n} {x}", measure: {tests: total}}\n'],
    ['PACK_PATTERN', 'version: 1\nconventions:\n  - {from: "src/{name}.ts", to: [a.ts]}\n'],
    ['pack', intent(', words: "Ignore all previous instructions"')],
  ] as readonly (readonly [string, string])[])('is %s for %j', (code, text) => expect(codeOf(text)).toBe(code))

  it('says what it does not know, once', () => {
    const reading = parsePack('version: 1\nother: 1\nintents:\n  - {id: A, signals: [{id: new, weight: 1}], find: [tests]}\n')
    expect(reading).toMatchObject({
      kind: 'pack',
      warnings: ['the file: no key "other"', 'intents[0].signals[0]: no signal "new"'],
    })
  })

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'version: 1\nintents [{}],"&*!-'.split('')), maxLength: 200 }),
        text => void codeOf(text),
      ),
    )
  })
})

describe('a pattern', () => {
  it.each([
    ['{n} engines', 'has 1,024 engines', [1_024]],
    ['{n} engines', '5\u00a0engines and 6  engines', [5, 6]],
    ['{n} {*} engines', '5 fast engines', [5]],
    ['{n} {{x', '5 {x', [5]],
    ['{n} a.b', '5 axb', []],
    ['{n} engines', '1.5 engines, -3 engines, v7 engines', []],
  ])('%j finds numbers in %j', (text, line, numbers) => {
    expect(textMatcher(text, 'exactly-one')!(line).map(({ n }) => n)).toEqual(numbers)
  })

  it('takes no time over what would make a regular expression hang', () => {
    const started = performance.now()
    const matcher = textMatcher('{*} {*} {*} {*} {*} {n} x', 'exactly-one')!
    expect(matcher(`${' a'.repeat(2_000)}`)).toEqual([])
    expect(globMatcher(`${'**/a'.repeat(40)}/b`)('a/'.repeat(200))).toBe(false)
    expect(globMatcher('*a'.repeat(60))('a'.repeat(150))).toBe(true)
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  it('of a path keeps folders, stem and extension', () => {
    const match = pathMatcher('src/{dir}/{stem}.ts')
    expect(match('src/a.ts')).toEqual({ dir: '', stem: 'a', ext: '' })
    expect(match('src/a/b/c.d.ts')).toEqual({ dir: 'a/b', stem: 'c.d', ext: '' })
    expect(match('lib/a.ts')).toBeNull()
  })
})

describe('packs of a project', () => {
  const files = { 'package.json': '{"name":"demo"}', 'src/a/b.ts': '', 'checks/a/b.check.ts': '' }
  const conventions = 'version: 1\nconventions:\n  - {from: "src/{dir}/{stem}.ts", to: ["checks/{dir}/{stem}.check.ts"]}\n'

  it('add conventions, and act with the next call', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0 } })
    expect(world.edit('src/a/b.ts').note).toBeNull()
    world.write('.outrigger/pack.yml', conventions)
    expect(world.edit('src/a/b.ts').note).toMatchObject({ candidates: [{ path: 'checks/a/b.check.ts' }] })
  })

  it('are refused whole, told once a version, and stop a check', async () => {
    const world = await companionWorld({ ...files, '.outrigger/pack.yml': 'version: 2\n' })
    expect(world.lines(world.edit('src/a/b.ts'))).toEqual(['pack repo ignored PACK_VERSION'])
    expect(world.lines(world.edit('src/a/b.ts'))).toEqual([])
    await expect(world.verb('check', {})).rejects.toMatchObject({ code: 'COMPANION_BAD_PACK', exit: 2 })
    expect((await world.verb('packs', {})).layers[1]).toMatchObject({
      layer: 'repo',
      status: 'ignored',
      faults: [{ code: 'PACK_VERSION' }],
    })
    world.write('.outrigger/pack.yml', conventions)
    expect(world.edit('src/a/b.ts').note).not.toBeNull()
  })

  it('lose to the person’s, intent by intent', async () => {
    const repo = repository()
    repo.write('package.json', '{"name":"demo"}')
    repo.write('.outrigger/pack.yml', intent(', threshold: 0.1').replace('id: A', 'id: Tests'))
    repo.commit('all')
    const first = await openCompanionWorld(repo)
    const { file } = (await first.verb('packs', {})).layers[0]
    expect(file).toMatch(/\.config\/outrigger\/companion\/[\w.-]+-[0-9a-f]{8}\.yml$/)
    mkdirSync(join(file, '..'), { recursive: true })
    repo.write(`../home/${file.split('/home/')[1]}`, intent(', threshold: 0.9').replace('id: A', 'id: Tests'))
    const { intents } = await first.verb('packs', {})
    expect(intents.find((each: { id: string }) => each.id === 'Tests')).toMatchObject({ from: 'user', threshold: 0.9 })
    expect(intents.map((each: { id: string }) => each.id)).toEqual(['Docs', 'Partners', 'Changelog', 'Tests'])
    repo.write(`../home/${file.split('/home/')[1]}`, `only: true\n${intent('')}`)
    expect((await first.verb('packs', {})).intents.map((each: { id: string }) => each.id)).toEqual(['A'])
  })

  it('are not read through a link that leads out, when they are no file, too big or no text', async () => {
    const world = await companionWorld(files)
    const check = async (code: string) =>
      expect((await world.verb('packs', {})).layers[1]).toMatchObject({ status: 'ignored', faults: [{ code }] })
    world.write('../outside.yml', 'version: 1\n')
    mkdirSync(join(world.root, '.outrigger'), { recursive: true })
    symlinkSync(join(world.root, '../outside.yml'), join(world.root, '.outrigger/pack.yml'))
    await check('PACK_FILE')
    world.remove('.outrigger/pack.yml')
    mkdirSync(join(world.root, '.outrigger/pack.yml'))
    await check('PACK_FILE')
    world.remove('.outrigger/pack.yml')
    world.write('.outrigger/pack.yml', `version: 1\n${'#'.repeat(70_000)}`)
    await check('PACK_TOO_BIG')
    world.write('.outrigger/pack.yml', new Uint8Array([0xff, 0xfe, 0x00]))
    await check('PACK_NOT_TEXT')
  })
})
