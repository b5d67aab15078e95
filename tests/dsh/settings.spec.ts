import { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { KeelRowConfig, keelSettings } from '../../src/dsh/settings.ts'
import { keelKeys } from '../../src/runtime/config-keel.ts'

const settingsOf = (config: object) => keelSettings(new Context(), KeelRowConfig(config), () => {})()

describe('keel’s row in the host', () => {
  it('sets nothing that its config leaves out, lists and groups included', () => {
    expect(settingsOf({})).toEqual({})
    expect(settingsOf({ ack: {}, watch: {} })).toEqual({})
  })

  it('gives what is set by dotted path', () => {
    expect(settingsOf({ hold: 'off', ignore: ['gen'], ack: { personOnly: ['docs/**'] }, watch: { max: 0 } })).toEqual({
      hold: 'off',
      ignore: ['gen'],
      'ack.personOnly': ['docs/**'],
      'watch.max': 0,
    })
  })

  it('knows exactly the keys of the configuration files', () => {
    const everything = {
      ignore: [],
      frozen: [],
      vendored: [],
      compare: 'exact',
      stamps: 'file',
      stampNew: 'manual',
      tell: false,
      hold: 'off',
      remindAfterTurns: [1],
      ack: { reason: 'required', updated: 'off', personOnly: [] },
      check: { strict: true, chain: true },
      sweepBudgetMs: 100,
      maxSourceMiB: 1,
      baselineMiB: 1,
      watch: { max: 1, pollMs: 300 },
      statusFile: false,
    }
    expect(Object.keys(settingsOf(everything)).sort()).toEqual(keelKeys.map(key => key.path).sort())
  })

  it('refuses another value at load and names the key', () => {
    expect(() => KeelRowConfig({ compare: 'loose' } as never)).toThrow(/compare/)
    expect(() => KeelRowConfig({ watch: { max: -1 } })).toThrow(/max/)
  })
})
