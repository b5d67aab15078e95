import { expect, it } from 'vitest'
import { world } from '../support/keel-cli.ts'

it('doctor says of a file that sets nothing that it is there', async () => {
  const made = world({})
  expect((await made.run('doctor')).out).toContain('may change them')
  await made.run('init')
  const { out } = await made.run('doctor')
  expect(out).toContain('is there and sets nothing')
  expect(out).not.toContain('composes')
})

it('help of hook lists the events', async () => {
  expect((await world({}).run('help', 'hook')).out).toContain('PostToolUseFailure')
})
