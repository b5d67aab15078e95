import { describe, expect, it } from 'vitest'
import { quickStart, world } from '../support/keel-cli.ts'

describe('a document with merge markers', () => {
  it('is refused as such, whichever of its edges is meant', async () => {
    const made = world({
      ...quickStart,
      'd.md': '---\nsources:\n<<<<<<< a\n  - guide.md @111111111111\n=======\n  - guide.md @222222222222\n>>>>>>> b\n---\n',
    })
    for (const more of [[], ['guide.md'], ['--all']]) {
      const { code, json } = await made.json('ok', 'd.md', ...more, '--reason', 'checked')
      expect([code, json.error.code]).toEqual([2, 'KEEL_CONFLICTED_FILE'])
    }
  })
})

describe('check of a path', () => {
  it('refuses one that is not there and that no edge knows', async () => {
    const made = world(quickStart)
    const { code, json } = await made.json('check', 'docs/quikc.md')
    expect([code, json.error]).toMatchObject([2, { code: 'KEEL_UNKNOWN_FILE', subject: 'docs/quikc.md' }])
    expect((await made.json('check', '--changed', 'docs/quikc.md')).code).toBe(0)
    expect((await made.json('check', 'docs')).code).toBe(0)
    made.remove('guide.md')
    expect((await made.json('check', 'guide.md')).json.suspects).toMatchObject([{ reason: 'source-missing' }])
  })
})

describe('blame', () => {
  it('has its time in UTC with milliseconds', async () => {
    const made = world(quickStart)
    await made.json('stamp')
    made.git('add', '-A')
    made.git('commit', '-qm', 'one')
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    made.git('add', '-A')
    made.git('commit', '-qm', 'two')
    const { json } = await made.json('why', 'docs/quick.md', '--blame')
    expect(json.derivesFrom[0].blame.date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})
