import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutriggerError } from '../../src/errors.ts'
import type { Json } from '../../src/ports/json.ts'
import { createConfiguration, type Override } from '../../src/runtime/config.ts'
import { configTemplate } from '../../src/runtime/config-template.ts'
import { placesOf } from '../../src/runtime/places.ts'
import type { Configuration } from '../../src/runtime/project.ts'
import { type MemoryFiles, memoryFiles } from '../support/memory-files.ts'

const projectFile = '/place/.outrigger/config.yml'
const personFile = '/home/ada/.config/outrigger/config.yml'

interface Given {
  readonly files: MemoryFiles
  readonly config: Configuration
  /** Writes the file anew, as an editor would. */
  save(path: string, text: string): Promise<void>
}

function given(texts: { readonly project?: string; readonly person?: string } = {}, overrides: readonly Override[] = []): Given {
  const files = memoryFiles({
    '/place/.git/HEAD': 'x',
    ...(texts.project !== undefined && { [projectFile]: texts.project }),
    ...(texts.person !== undefined && { [personFile]: texts.person }),
  })
  const config = createConfiguration(files, placesOf(files, '/place', { HOME: '/home/ada' }), overrides)
  const save = async (path: string, text: string): Promise<void> => {
    files.makeFolder(path.slice(0, path.lastIndexOf('/')))
    await files.replace(path, new TextEncoder().encode(text))
  }
  return { files, config, save }
}

function thrown(run: () => unknown): OutriggerError {
  try {
    run()
  } catch (error) {
    return error as OutriggerError
  }
  throw new Error('nothing was thrown')
}

const valueIn = (config: Configuration, key: string) => config.values().find(value => value.key === key)

describe('a project without configuration', () => {
  it('has the defaults', () => {
    const { config } = given()
    expect(config.keel()).toEqual({
      ignore: null,
      frozen: null,
      vendored: null,
      compare: 'normalized',
      stamps: 'inline',
      stampNew: 'auto',
      tell: true,
      hold: 'created',
      remindAfterTurns: [1, 5],
      ack: { reason: 'optional', updated: 'scope', personOnly: [] },
      check: { strict: false, chain: false },
      sweepBudgetMs: 8000,
      maxSourceMiB: 256,
      baselineMiB: 64,
      watch: { max: 200, pollMs: 2000 },
      statusFile: true,
    })
    expect(config.values().filter(({ key }) => key.startsWith('keel.'))).toHaveLength(20)
    expect(config.values().every(({ from }) => from === 'default')).toBe(true)
    expect(config.values().filter(({ value }) => value === null)).toEqual([])
    expect(config.check('keel')).toEqual([])
    expect(config.faults()).toEqual([])
  })

  it.each(['', '\n# nothing\n', 'keel:\n', 'keel: {}\npack:\nmodels: {}\n', '---\n', '\uFEFFkeel:\n  tell: false\n'])(
    'takes a file that says little (%#)',
    text => {
      const { config } = given({ project: text })
      expect(config.check('keel')).toEqual([])
      expect(config.keel().tell).toBe(!text.includes('false'))
    },
  )

  it('takes the template as it is written, and every key of it uncommented', () => {
    expect(given({ project: configTemplate() }).config.check('keel')).toEqual([])
    const uncommented = configTemplate()
      .split('\n')
      .slice(4)
      .map(line => line.replace(/^# ?/, ''))
      .join('\n')
    const { config } = given({ project: uncommented })
    expect(config.check('keel')).toEqual([])
    expect(
      config
        .values()
        .filter(({ key }) => key.startsWith('keel.'))
        .every(({ from }) => typeof from === 'object'),
    ).toBe(true)
    expect({ ...config.keel(), ignore: null, frozen: null, vendored: null }).toEqual(given().config.keel())
  })
})

describe('faults', () => {
  it('of a section are told all at once, each with its place', () => {
    const { config } = given({ project: 'keel:\n  compare: loose\n  watch: {max: -1}\n  colour: red\n' })
    const error = thrown(() => config.keel())
    expect(error).toMatchObject({ code: 'KEEL_BAD_CONFIG', exit: 2, subject: '.outrigger/config.yml' })
    expect(error.faults).toEqual([
      {
        key: 'keel.compare',
        message: expect.stringContaining('normalized or exact'),
        position: { file: '.outrigger/config.yml', line: 2, column: 12 },
      },
      {
        key: 'keel.watch.max',
        message: expect.stringContaining('from 0 to 10000'),
        position: { file: '.outrigger/config.yml', line: 3, column: 16 },
      },
      {
        key: 'keel.colour',
        message: expect.stringContaining('is no key'),
        position: { file: '.outrigger/config.yml', line: 4, column: 3 },
      },
    ])
    for (const part of [
      'keel.compare',
      'keel.watch.max',
      'keel.colour',
      '.outrigger/config.yml:2',
      '.outrigger/config.yml:3',
      '.outrigger/config.yml:4',
    ]) {
      expect(error.message).toContain(part)
    }
  })

  it.each<[string, string, number, number]>([
    ['keel: [1]', 'keel', 1, 7],
    ['keel: text', 'keel', 1, 7],
    ['keel:\n  tell: "true"', 'keel.tell', 2, 9],
    ['keel:\n  tell: 1', 'keel.tell', 2, 9],
    ['keel:\n  tell:', 'keel.tell', 2, 3],
    ['keel:\n  hold: [created]', 'keel.hold', 2, 9],
    ['keel:\n  ignore: docs', 'keel.ignore', 2, 11],
    ['keel:\n  ignore: [a/b]', 'keel.ignore', 2, 11],
    ['keel:\n  ignore: [""]', 'keel.ignore', 2, 11],
    ['keel:\n  ignore: [1]', 'keel.ignore', 2, 11],
    [`keel:\n  ignore: [${Array(201).fill('a')}]`, 'keel.ignore', 2, 11],
    ['keel:\n  remindAfterTurns: [5, 1]', 'keel.remindAfterTurns', 2, 21],
    ['keel:\n  remindAfterTurns: [1, 1]', 'keel.remindAfterTurns', 2, 21],
    ['keel:\n  remindAfterTurns: [1, 2, 3, 4, 5]', 'keel.remindAfterTurns', 2, 21],
    ['keel:\n  remindAfterTurns: [0]', 'keel.remindAfterTurns', 2, 21],
    ['keel:\n  remindAfterTurns: [101]', 'keel.remindAfterTurns', 2, 21],
    ['keel:\n  sweepBudgetMs: 49', 'keel.sweepBudgetMs', 2, 18],
    ['keel:\n  sweepBudgetMs: 120001', 'keel.sweepBudgetMs', 2, 18],
    ['keel:\n  sweepBudgetMs: 8000.5', 'keel.sweepBudgetMs', 2, 18],
    ['keel:\n  sweepBudgetMs: .inf', 'keel.sweepBudgetMs', 2, 18],
    ['keel:\n  maxSourceMiB: 0', 'keel.maxSourceMiB', 2, 17],
    ['keel:\n  baselineMiB: -1', 'keel.baselineMiB', 2, 16],
    ['keel:\n  watch:\n    pollMs: 199', 'keel.watch.pollMs', 3, 13],
    ['keel:\n  ack: required', 'keel.ack', 2, 8],
    ['keel:\n  ack:\n    reason: never', 'keel.ack.reason', 3, 13],
    ['keel:\n  ack.reason: required', 'keel.ack.reason', 2, 3],
    ['keel:\n  ack: {personOnly: [" "]}', 'keel.ack.personOnly', 2, 21],
    ['keel:\n  Tell: false', 'keel.Tell', 2, 3],
    ['keel:\n  tell: true\n  tell: false', 'keel.tell', 3, 3],
    ['keel:\n  äöü𐍈: 1', 'keel.äöü𐍈', 2, 3],
    ['keel: {"𐍈": 1, zzz: 2}', 'keel.𐍈', 1, 8],
    ['keel:\n  constructor: 1', 'keel.constructor', 2, 3],
    ['keel:\n  __proto__: 1', 'keel.__proto__', 2, 3],
    ['keel:\n  <<: {tell: false}', 'keel.<<', 2, 3],
    ['keel:\n  ? [a]\n  : 1', 'keel.?', 2, 5],
  ])('name the key and the place (%#)', (text, key, line, column) => {
    const [error] = given({ project: text }).config.faults()
    expect(error?.code).toBe('KEEL_BAD_CONFIG')
    expect(error?.faults?.[0]).toMatchObject({ key, position: { line, column } })
  })

  it.each<[string, string, number]>([
    ['a list', '- keel', 1],
    ['text', 'keel', 1],
    ['broken YAML', 'keel:\n  tell: [', 2],
    ['a tab for a blank', 'keel:\n\ttell: true\n', 2],
    ['an unknown section', 'keel: {}\nkell: {}\n', 2],
    ['a section twice', 'keel: {}\nkeel: {}\n', 2],
    ['two documents', 'keel: {}\n---\nkeel: {}\n', 2],
    ['models of a project', 'models:\n  default: a/b\n', 1],
  ])('of the file itself stop every engine: %s', (_what, text, line) => {
    const { config } = given({ project: text })
    const error = thrown(() => config.check('pack'))
    expect(error).toMatchObject({ code: 'CONFIG_BAD', exit: 2 })
    expect(error.faults?.[0]?.position).toMatchObject({ file: '.outrigger/config.yml', line })
    expect(thrown(() => config.keel()).code).toBe('CONFIG_BAD')
  })

  it.each<[string, (files: MemoryFiles) => unknown]>([
    ['cannot be read', files => files.failReads(projectFile, 'EACCES')],
    ['is not a regular file', files => [files.remove(projectFile), files.makeFolder(projectFile)]],
    ['is not UTF-8', files => files.replace(projectFile, new Uint8Array([0x6b, 0xff, 0x0a]))],
    ['has more than 1 MiB', files => files.replace(projectFile, new Uint8Array(1024 * 1024 + 1).fill(0x20))],
  ])('say when the file %s', (why, arrange) => {
    const { files, config } = given({ project: 'keel: {}\n' })
    arrange(files)
    expect(thrown(() => config.keel())).toMatchObject({ code: 'CONFIG_BAD', message: expect.stringContaining(why) })
  })

  it('in both files are told together', () => {
    const { config } = given({ project: 'keel: {tell: 1}\n', person: 'keel: {hold: 2}\n' })
    expect(thrown(() => config.keel()).faults?.map(({ key, position }) => [key, position?.file])).toEqual([
      ['keel.tell', '.outrigger/config.yml'],
      ['keel.hold', personFile],
    ])
  })

  it.each<[string, string, string, readonly string[]]>([
    ['an unknown section', 'kell: {}\nkeel: {tell: 1, hold: 2}\n', 'CONFIG_BAD', ['kell', 'keel.tell', 'keel.hold']],
    ['models of a project', 'keel: {tell: 1}\nmodels: {default: a/b}\n', 'CONFIG_BAD', ['models', 'keel.tell']],
    ['a key of the person', 'pack: {trust: 1}\nkeel: {tell: 1}\n', 'KEEL_BAD_CONFIG', ['keel.tell', 'pack.trust']],
    ['three sections', 'repl: {no: 1}\nnext: 3\nkeel: 2\n', 'KEEL_BAD_CONFIG', ['keel', 'repl.no', 'next']],
  ])('in several places are all told at once: %s', (_what, text, code, keys) => {
    const { config } = given({ project: text })
    for (const run of [() => config.check('keel'), () => config.keel()]) {
      const error = thrown(run)
      expect({ code: error.code, keys: error.faults?.map(fault => fault.key) }).toEqual({ code, keys })
      for (const key of keys) expect(error.message).toContain(key)
    }
  })

  it('of one section leave the others alone, with a line for people', () => {
    const { config } = given({ project: 'keel: {tell: 1}\npack: [1]\n' })
    expect(thrown(() => config.check('keel')).code).toBe('KEEL_BAD_CONFIG')
    expect(thrown(() => config.check('pack')).code).toBe('PACK_BAD_CONFIG')
    const lines = config.check('next')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('keel.tell')
    expect(config.check()).toEqual(lines)
    expect(config.section('next')).toMatchObject({ model: '' })
  })

  it('never come as a crash or a hang, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          fc.string({ unit: 'grapheme', maxLength: 200 }).map(text => new TextEncoder().encode(text)),
        ),
        async bytes => {
          const { files, config } = given()
          files.makeFolder('/place/.outrigger')
          await files.replace(projectFile, bytes)
          for (const error of config.faults()) expect(error.code).toMatch(/^[A-Z]+_BAD_CONFIG$|^CONFIG_BAD$/)
          config.values()
          config.notes()
        },
      ),
      { numRuns: 300 },
    )
  })

  it('of a file that multiplies itself are found in no time', () => {
    const levels = Array.from({ length: 30 }, (_, at) => `  a${at}: &a${at} [${Array(9).fill(at === 0 ? 'x' : `*a${at - 1}`)}]`)
    const start = performance.now()
    const { config } = given({ project: `pack:\n${levels.join('\n')}\n` })
    config.faults()
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it('follow an alias to what it names', () => {
    const { config } = given({ project: 'keel:\n  frozen: &names [a, b]\n  vendored: *names\n' })
    expect(config.keel().vendored).toEqual(['a', 'b'])
    expect(given({ project: 'keel: &self\n  ack: *self\n' }).config.faults()[0]?.code).toBe('KEEL_BAD_CONFIG')
  })
})

describe('precedence', () => {
  const both = (project: string, person: string, overrides: readonly Override[] = []): Configuration =>
    given({ project, person }, overrides).config

  it.each<[string, Json, Json]>([
    ['compare', 'exact', 'normalized'],
    ['stamps', 'file', 'inline'],
    ['stampNew', 'manual', 'auto'],
    ['ignore', ['a'], ['b']],
    ['frozen', ['a'], ['b']],
    ['vendored', ['a'], ['b']],
    ['ack.reason', 'required', 'optional'],
    ['ack.updated', 'off', 'scope'],
    ['ack.personOnly', ['*.md'], []],
    ['check.strict', true, false],
    ['check.chain', true, false],
  ])("of keel.%s is the project's", (path, project, person) => {
    const yaml = (value: Json): string =>
      `keel: ${JSON.stringify(path.split('.').reduceRight((inner: Json, name) => ({ [name]: inner }), value))}\n`
    expect(valueIn(both(yaml(project), yaml(person)), `keel.${path}`)).toEqual({
      key: `keel.${path}`,
      value: project,
      from: { file: '.outrigger/config.yml', line: 1 },
    })
    expect(valueIn(given({ person: yaml(person) }).config, `keel.${path}`)).toMatchObject({
      value: person,
      from: { file: personFile },
    })
  })

  it.each<[string, Json, Json]>([
    ['tell', true, false],
    ['hold', 'created', 'off'],
    ['remindAfterTurns', [1], []],
    ['sweepBudgetMs', 100, 200],
    ['maxSourceMiB', 1, 2],
    ['baselineMiB', 1, 2],
    ['watch.max', 1, 2],
    ['watch.pollMs', 300, 400],
    ['statusFile', true, false],
  ])("of keel.%s is the person's", (path, project, person) => {
    const yaml = (value: Json): string =>
      `keel: ${JSON.stringify(path.split('.').reduceRight((inner: Json, name) => ({ [name]: inner }), value))}\n`
    expect(valueIn(both(yaml(project), yaml(person)), `keel.${path}`)).toEqual({
      key: `keel.${path}`,
      value: person,
      from: { file: personFile, line: 1 },
    })
    expect(valueIn(given({ project: yaml(project) }).config, `keel.${path}`)).toMatchObject({ value: project })
  })

  it('goes key by key, with the line of each', () => {
    const config = both('keel:\n  check:\n    strict: true\n', 'keel:\n  tell: false\n  check:\n    chain: true\n')
    expect(config.keel()).toMatchObject({ tell: false, check: { strict: true, chain: true } })
    expect(valueIn(config, 'keel.check.strict')?.from).toEqual({ file: '.outrigger/config.yml', line: 3 })
    expect(valueIn(config, 'keel.check.chain')?.from).toEqual({ file: personFile, line: 4 })
    expect(valueIn(config, 'keel.hold')?.from).toBe('default')
  })

  it('puts an option before a host before the files', () => {
    const host: Override = { from: 'host', section: 'keel', values: { tell: false, 'check.strict': true } }
    const option: Override = { from: 'option', section: 'keel', values: { 'check.strict': false } }
    for (const overrides of [
      [host, option],
      [option, host],
    ]) {
      const config = both('keel: {check: {strict: true}}', 'keel: {tell: true}', overrides)
      expect(valueIn(config, 'keel.tell')).toMatchObject({ value: false, from: 'host' })
      expect(valueIn(config, 'keel.check.strict')).toMatchObject({ value: false, from: 'option' })
    }
  })

  it('checks what a host says like a file', () => {
    const config = both('', '', [{ from: 'host', section: 'keel', values: { tell: 'yes', colour: 1 } }])
    expect(thrown(() => config.keel()).faults?.map(fault => fault.key)).toEqual(['keel.tell', 'keel.colour'])
  })

  it('joins the lists that are a union', () => {
    const config = both(
      'pack: {testCommands: [b, a]}\ncompanion: {exclude: [x]}\nrepl: {envDeny: [A]}\n',
      'pack: {testCommands: [a, c]}\nrepl: {envDeny: [B]}\n',
    )
    expect(config.section('pack')).toMatchObject({ testCommands: ['a', 'c', 'b'] })
    expect(config.section('companion')).toMatchObject({ exclude: ['x'] })
    expect(config.section('repl')).toMatchObject({ envDeny: ['B', 'A'] })
  })

  it('lets a project lower a limit or turn something off, and says what it ignores', () => {
    const config = both(
      'repl:\n  wallMs: 100\n  heapMb: 500\n  maxWorkers: 9\n  rssMb: 0\nnext:\n  maxRounds: 9\n  local: false\n',
      'repl: {wallMs: 200, heapMb: 100}\nnext: {maxRounds: 8, local: true}\n',
    )
    expect(config.section('repl')).toMatchObject({ wallMs: 100, heapMb: 100, maxWorkers: 8, rssMb: 2048 })
    expect(config.section('next')).toMatchObject({ maxRounds: 8, local: false })
    expect(config.notes()).toEqual([
      '.outrigger/config.yml:3: repl.heapMb is ignored: a project may only lower it or turn it off',
      '.outrigger/config.yml:5: repl.rssMb is ignored: a project may only lower it or turn it off',
      '.outrigger/config.yml:4: repl.maxWorkers is ignored: a project may only lower it or turn it off',
      '.outrigger/config.yml:7: next.maxRounds is ignored: a project may only lower it or turn it off',
    ])
    expect(config.check('keel')).toEqual(config.notes())
  })

  it("keeps to the person's file what only a person may set", () => {
    const config = both(
      'repl: {prelude: [x], env: minimal, cordisTools: true, computeMs: 500}\n',
      'repl: {prelude: [mine], computeMs: 900}\n',
    )
    expect(config.section('repl')).toMatchObject({ prelude: ['mine'], env: 'inherit', cordisTools: false, computeMs: 500 })
    expect(config.notes()).toHaveLength(3)
    expect(thrown(() => both('pack: {trust: all}\n', '').section('pack'))).toMatchObject({ code: 'PACK_BAD_CONFIG' })
    expect(both('', 'pack: {trust: all}\nmodels: {default: a/b}\n').section('models')).toEqual({ default: 'a/b' })
  })
})

describe('a file that changes', () => {
  it('is read again when its stamp moves, and only then', async () => {
    const { config, save } = given({ project: 'keel: {tell: false}\n' })
    expect(config.keel().tell).toBe(false)
    expect(config.refresh()).toBe(false)
    await save(projectFile, 'keel: {tell: true}\n')
    expect(config.keel().tell).toBe(false)
    expect(config.refresh()).toBe(true)
    expect(config.keel().tell).toBe(true)
    await save(projectFile, 'keel: {tell: true} # the same\n')
    expect(config.refresh()).toBe(false)
  })

  it('is seen when it comes and when it goes', async () => {
    const { files, config, save } = given()
    expect(config.keel().tell).toBe(true)
    await save(personFile, 'keel: {tell: false}\n')
    expect(config.refresh()).toBe(true)
    expect(config.keel().tell).toBe(false)
    files.remove(personFile)
    expect(config.refresh()).toBe(true)
    expect(config.keel().tell).toBe(true)
  })

  it.each(['keel: {tell: maybe}\n', 'keel: [\n', 'keel: {tell: false}\nkell: {}\n'])(
    'keeps its last good version when it turns bad, and says so (%#)',
    async bad => {
      const { config, save } = given({ project: 'keel: {tell: false}\n' })
      config.keel()
      await save(projectFile, bad)
      expect(config.refresh()).toBe(false)
      expect(config.keel().tell).toBe(false)
      expect(config.faults()).toHaveLength(1)
      expect(config.notes()).toEqual([expect.stringMatching(/; the version before it counts$/)])
      expect(config.check('keel')).toEqual(config.notes())
      await save(projectFile, 'keel: {tell: true}\n')
      expect(config.refresh()).toBe(true)
      expect(config.notes()).toEqual([])
      expect(config.keel().tell).toBe(true)
    },
  )

  it('that was bad from the beginning counts once it is good', async () => {
    const { config, save } = given({ project: 'keel: {tell: maybe}\n' })
    expect(thrown(() => config.keel()).code).toBe('KEEL_BAD_CONFIG')
    await save(projectFile, 'keel: {tell: false}\n')
    expect(config.refresh()).toBe(true)
    expect(config.keel().tell).toBe(false)
  })
})
