import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** Where the engine has Temporal only behind a flag, values of it are tested in a process that has the flag. */
const flags = 'Temporal' in globalThis ? [] : ['--harmony-temporal']
const supported = spawnSync(process.execPath, [...flags, '-e', 'Temporal.Now']).status === 0

const program = `
  const { captureRealm, encode, materialize, noHost, parseGraph, printGraph, valueLimits } = await import('./src/repl/values/index.ts')
  const realm = captureRealm(globalThis)
  const ran = []
  const values = [
    Temporal.Instant.from('2020-01-01T00:00:00.123456789Z'),
    Temporal.ZonedDateTime.from('2020-01-01T00:00+01:00[Europe/Berlin]'),
    Temporal.PlainDateTime.from('2020-01-01T00:00:01'),
    Temporal.PlainDate.from('2020-01-01'),
    Temporal.PlainTime.from('01:02:03'),
    Temporal.PlainYearMonth.from('2020-01'),
    Temporal.PlainMonthDay.from('01-02'),
    Temporal.Duration.from('P1DT2H'),
  ]
  Temporal.PlainDate.prototype.toString = () => ran.push('toString')
  const bytes = value => encode(value, { realm, host: noHost, limits: valueLimits }).bytes
  const first = bytes(values)
  const back = materialize(parseGraph(first), realm, { resolve: () => undefined })
  console.log(JSON.stringify({
    text: printGraph(parseGraph(first)),
    same: Buffer.from(bytes(back.value)).equals(Buffer.from(first)),
    kinds: back.value.map((each, i) => Object.getPrototypeOf(each) === Object.getPrototypeOf(values[i])),
    lost: back.lost, ran,
  }))
`

describe.skipIf(!supported)('values of Temporal', () => {
  it('are stored and come back, and run nothing', () => {
    const out = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(JSON.parse(out)).toMatchObject({ same: true, kinds: Array(8).fill(true), lost: [], ran: [] })
    expect((JSON.parse(out) as { text: string }).text).toContain('PlainDate(2020-01-01)')
  })
})
