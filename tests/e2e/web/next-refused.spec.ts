/**
 * What a person sees of next-step when something stands against it: words of a model that are no step, a model that fails, a host that
 * does not take a turn, a question, another process. In a headless Chromium on the real host with our packed bundle. Pictures go into
 * the folder that OUTRIGGER_WEB_SHOTS names.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ModelRequest, ScriptedTurn } from '../../../src/demo/scripted-model.ts'
import { lowestContrast, noBrowser, say, seriousFaults, startWebHost, type WebHost } from '../../support/dsh/web.ts'
import { webSession } from '../../support/dsh/web-session.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })

/** A row of a test: as long as the file is there, nothing can be written to the log of a session. */
const fullDisk = (file: string) => `import { existsSync } from 'node:fs'
export const name = 'test-full-disk'
export function apply(ctx) {
  ctx.on('session/flush', () => { if (existsSync(${JSON.stringify(file)})) throw new Error('the disk is full') })
}
`

describe.skipIf(noBrowser !== undefined)('next-step against resistance in the web part', () => {
  let other: WebHost | undefined
  /** What the model answers, in order: when asked for a step, and to the agent. */
  const steps: ScriptedTurn[] = []
  const turns: ScriptedTurn[] = []
  const isAsk = ({ body }: ModelRequest) => JSON.stringify(body.messages[0]?.content).includes('You watch a coding session')
  const answer = (request: ModelRequest): ScriptedTurn =>
    isAsk(request) ? (steps.shift() ?? { text: 'NONE' }) : (turns.shift() ?? { text: 'Done.' })

  const { opened, place, picture } = webSession('refused', ({ home, work }) => {
    writeFileSync(join(work, 'row.mjs'), fullDisk(join(work, 'full')))
    writeFileSync(
      join(home, 'profiles', 'web', 'cordis.patch.yml'),
      `- insert:\n    - id: test-full-disk\n      name: ${join(work, 'row.mjs')}\n`,
    )
    writeFileSync(join(home, 'settings.yaml'), 'outrigger-next:\n  model: deepseek-official/deepseek-v4-flash\n  local: false\n')
    return { turns: Array.from({ length: 200 }, () => answer) }
  })
  afterAll(() => other?.close())

  const bar = (kind?: string) =>
    opened().page.locator(kind === undefined ? '[data-outrigger-next]' : `[data-outrigger-next="${kind}"]`)
  const press = (name: string) => bar().locator(`[data-outrigger-press="${name}"]`)
  const asked = () => opened().model.requests.filter(isAsk).length
  /** The words that began the turns so far. */
  const began = (): readonly string[] =>
    opened()
      .model.requests.filter(request => !isAsk(request))
      .flatMap(({ body }) => {
        const last = body.messages.at(-1)
        return last?.role === 'user' ? [JSON.stringify(last.content)] : []
      })
  /** Nothing more comes. */
  const isStill = async (): Promise<void> => {
    const { page, model } = opened()
    for (let before = -1; before !== model.requests.length; await page.waitForTimeout(700)) before = model.requests.length
  }

  it('says that there is no step in place of words that are none, and asks again when a person wants', async () => {
    const { page } = opened()
    const cases: readonly (readonly [ScriptedTurn, RegExp, string])[] = [
      [{ text: '\u202e/compact' }, /^No suggestion: .*command/, '/compact'],
      [{ text: 'Use AKIAIOSFODNN7EXAMPLQ to read the bucket' }, /^No suggestion: .*secret/, 'AKIAIOSFODNN7EXAMPLQ'],
      [{ status: 400 }, /^No suggestion: (?!.*(?:command|secret))\S/, 'sk-made-up'],
    ]
    steps.push(...cases.map(([step]) => step), { text: '\u001b[31mWrite\u001b[0m chap\u200bter \u202eone' })
    for (const [at, [, words, hidden]] of cases.entries()) {
      if (at === 0) await say(page, 'Begin.')
      else await press('retry').click()
      await vi.waitFor(async () => expect(await bar('failed').locator('p').textContent()).toMatch(words), { timeout: 30_000 })
      expect(asked()).toBe(at + 1)
      expect(await page.locator('body').innerHTML()).not.toContain(hidden)
      if (at === 0) await picture('refused-1-failed')
    }
    await press('retry').click()
    await bar('offer').waitFor({ timeout: 30_000 })
    expect(await bar().locator('p').textContent()).toBe('Next: Write chapter one')
  })

  it('sends nothing, keeps the offer and says why when the host does not take the turn', async () => {
    const { page } = opened()
    const before = began().length
    writeFileSync(join(place().work, 'full'), '')
    await press('autorun').click()
    await bar().getByText('Autorun stopped after 0 of 8: the step could not be sent').waitFor({ timeout: 30_000 })
    expect(await bar('offer').locator('p').textContent()).toBe('Next: Write chapter one')
    await picture('refused-2-not-sent')
    await press('run').click()
    await page.getByText('The step could not be sent; Run tries again.').waitFor()
    // It fades in.
    await page.waitForTimeout(300)
    expect(await seriousFaults(page, '.outrigger-line')).toEqual([])
    expect(await page.locator('.outrigger-chip').count()).toBe(2)
    expect(await lowestContrast(page, '.outrigger-chip')).toBeGreaterThanOrEqual(4.5)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.waitForTimeout(300)
    expect(await lowestContrast(page, '.outrigger-chip')).toBeGreaterThanOrEqual(4.5)
    await picture('refused-3-run-not-sent-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await isStill()
    await picture('refused-3-run-not-sent')
    expect(began()).toHaveLength(before)
    expect(await bar('offer').locator('p').textContent()).toBe('Next: Write chapter one')
    rmSync(join(place().work, 'full'))
    steps.push({ text: 'Write chapter two' })
    turns.push({ text: 'Written. Which colour do you want for the cover?' })
    await press('run').click()
    await bar().getByText('Next: Write chapter two').waitFor({ timeout: 30_000 })
    expect(began().slice(before)).toEqual([expect.stringMatching(/^[^[]*Write chapter one/)])
  })

  it('waits while the agent asks, in its answer or by a tool, and goes on after what a person answered', async () => {
    const { page } = opened()
    const before = began().length
    await press('autorun').click()
    await bar().getByText('waits: the agent asked you').waitFor()
    await picture('refused-4-asked')
    await isStill()
    expect(began()).toHaveLength(before)
    turns.push({ text: 'Blue it is.' })
    steps.push({ text: 'Write chapter three' })
    await say(page, 'Blue.')
    await bar().getByText('Next: Write chapter three').waitFor({ timeout: 30_000 })
    await bar().getByRole('button', { name: 'Autorun off' }).waitFor()
    const options = [{ label: 'Dark' }, { label: 'Light' }]
    const ask = { questions: [{ id: 'q', header: 'Cover', question: 'Which blue exactly?', options }] }
    turns.push({ calls: [{ name: 'ask_user_question', args: ask }] }, { text: 'Painted it.' })
    await press('autorun').click()
    await page.getByText('Which blue exactly?').last().waitFor()
    await picture('refused-5-question')
    await isStill()
    expect(began().slice(before)).toEqual([
      expect.stringContaining('Blue.'),
      expect.stringContaining('[outrigger autorun 1 of 8; not typed by a person]\\nWrite chapter three'),
    ])
    await page.getByText('Dark', { exact: true }).click()
    await page.getByRole('button', { name: 'Submit' }).click()
    await bar().getByText('Autorun stopped after 1 of 8: nothing is left to do').waitFor({ timeout: 30_000 })
    expect(began()).toHaveLength(before + 2)
  })

  it('says so where another process of the host drives the same session', async () => {
    const { page, model } = opened()
    turns.push({ text: 'More is done. Which one do you want?' })
    steps.push({ text: 'Write chapter four' })
    await say(page, 'More.')
    await bar('offer').waitFor({ timeout: 30_000 })
    await press('autorun').click()
    await bar().getByText('waits: the agent asked you').waitFor()
    other = startWebHost({ home: place().home, cwd: place().root, modelUrl: model.url })
    const beside = await page.context().newPage()
    await beside.goto(await other.url, { waitUntil: 'load' })
    await beside.getByText('A title').first().click()
    const before = began().length
    await beside.locator('[data-outrigger-press="autorun"]').click()
    await beside.getByRole('alert').getByText("another process runs this session's loop").waitFor()
    await picture('refused-6-beside', { page: beside })
    expect(await seriousFaults(beside, '[data-outrigger-next]')).toEqual([])
    await bar().getByText('waits: the agent asked you').waitFor()
    await isStill()
    expect(began()).toHaveLength(before)
    await beside.close()
  })

  it('left no error on the page and asked no other machine', () => {
    const { errors, foreign } = opened()
    expect([errors, foreign]).toEqual([[], []])
  })
})
