/**
 * One starter of turns: the host's own goal driver and our loop, as a person sees and changes who goes on, in a headless Chromium on the real
 * host with our packed bundle. Pictures go into the folder that OUTRIGGER_WEB_SHOTS names.
 */
import { describe, expect, it, vi } from 'vitest'
import type { ModelRequest, ScriptedTurn } from '../../../src/demo/scripted-model.ts'
import { noBrowser, say } from '../../support/dsh/web.ts'
import { webSession } from '../../support/dsh/web-session.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })

/** Each turn writes a chapter, slowly enough for a person, and names the next one. */
const chapter = ({ n, body }: ModelRequest): ScriptedTurn =>
  body.messages.at(-1)?.role === 'tool'
    ? { text: `Chapter written.\n\n## Next steps\n\n1. Write chapter ${n}` }
    : { calls: [{ name: 'write', args: { file_path: `${n}.txt`, content: `${n}\n` } }], delayMs: 500 }

describe.skipIf(noBrowser !== undefined)('next-step beside a goal in the web part', () => {
  const { opened, picture } = webSession('goal', () => ({
    env: { DSH_PERMISSION_MODE: 'danger-full-access' },
    turns: Array.from({ length: 400 }, () => chapter),
  }))
  const bar = () => opened().page.locator('[data-outrigger-next]')
  const shoot = async (name: string): Promise<void> => {
    await picture(`goal-${name}`)
    await picture(`dsh-next-goal-${name}`, { clip: { x: 340, y: 640, width: 872, height: 205 } })
  }
  /** The first Enter takes the completion of a command. */
  const command = async (line: string): Promise<void> => {
    const { page } = opened()
    const box = page.locator('textarea:not([readonly])').first()
    await box.fill(line)
    while ((await box.inputValue()) !== '') {
      await box.press('Enter')
      await page.waitForTimeout(150)
    }
  }
  /** Who began the turns so far, in order, from what reached the model. */
  const starters = (): readonly string[] =>
    opened().model.requests.flatMap(({ body }) => {
      const last = body.messages.at(-1)
      const words = JSON.stringify(last?.content)
      if (last?.role !== 'user') return []
      if (words.includes('<goal_round>')) return [/Objective: \\*"([^"\\]*)/.exec(words)?.[1] ?? 'goal']
      return [words.includes('[outrigger autorun ') ? 'autorun' : 'person']
    })
  const since = (count: number) => new Set(starters().slice(count))
  const isStill = async (): Promise<void> => {
    const { page, model } = opened()
    for (let before = -1; before !== model.requests.length; await page.waitForTimeout(900)) before = model.requests.length
  }

  it('takes the turns over from the driver of an armed goal, and says so', async () => {
    const { page } = opened()
    await say(page, 'Begin.')
    await page.locator('[data-outrigger-next="offer"]').waitFor({ timeout: 30_000 })
    await command('/goal ship it')
    await vi.waitFor(() => expect(starters().filter(each => each === 'ship it').length).toBeGreaterThan(1), { timeout: 30_000 })
    await command('/next arm --rounds 200')
    await bar()
      .getByText(/^Autorun \d+\/200 — Stop$/)
      .waitFor()
    await bar().getByText('This loop now starts the turns; the goal keeps its objective but not its own rounds.').waitFor()
    await shoot('1-displaced')
    // A round of the goal that was under way is finished.
    await vi.waitFor(() => expect(starters().at(-1)).toBe('autorun'), { timeout: 30_000 })
    const before = starters().length
    await vi.waitFor(() => expect(starters().length).toBeGreaterThan(before + 1), { timeout: 30_000 })
    expect(since(before)).toEqual(new Set(['autorun']))
    expect(await page.getByText('Ongoing Goal').count()).toBe(1)
  })

  it('goes on when the goal is revised', async () => {
    await command('/goal edit ship it well')
    await opened().page.getByText('ship it well', { exact: true }).first().waitFor()
    const before = starters().length
    await vi.waitFor(() => expect(starters().length).toBeGreaterThan(before + 1), { timeout: 30_000 })
    expect(since(before)).toEqual(new Set(['autorun']))
    expect(
      await bar()
        .getByText(/^Autorun \d+\/200 — Stop$/)
        .count(),
    ).toBe(1)
  })

  it('steps back when a person resumes the goal', async () => {
    await command('/goal resume')
    await bar()
      .getByText(/^Autorun stopped after \d+ of 200: the goal drives itself again$/)
      .waitFor({ timeout: 30_000 })
    await vi.waitFor(() => expect(starters().at(-1)).toBe('ship it well'), { timeout: 30_000 })
    const before = starters().length
    await vi.waitFor(() => expect(starters().length).toBeGreaterThan(before + 1), { timeout: 30_000 })
    expect(since(before)).toEqual(new Set(['ship it well']))
    await shoot('2-resumed')
  })

  it('ends when the goal is paused, and starts nothing beside it', async () => {
    await command('/next arm --rounds 200')
    await vi.waitFor(() => expect(starters().at(-1)).toBe('autorun'), { timeout: 30_000 })
    await command('/goal pause')
    await bar()
      .getByText(/^Autorun stopped after \d+ of 200: the goal was paused$/)
      .waitFor({ timeout: 30_000 })
    await isStill()
    const before = starters().length
    // Armed beside a goal that rests, it waits and says why.
    await command('/next arm --rounds 200')
    await bar()
      .getByText(/^waits: the goal is paused or blocked$/)
      .waitFor({ timeout: 30_000 })
    await shoot('3-paused')
    await isStill()
    expect(starters()).toHaveLength(before)
  })

  it('ends when the goal is cleared; armed by its button it goes on until the button is pressed', async () => {
    const before = starters().length
    await command('/goal clear')
    await bar()
      .getByText(/^Autorun stopped after 0 of 200: the goal was cleared$/)
      .waitFor({ timeout: 30_000 })
    await isStill()
    expect(starters()).toHaveLength(before)
    await bar().getByRole('button', { name: 'Autorun off' }).click()
    await vi.waitFor(() => expect(starters().length).toBeGreaterThan(before + 1), { timeout: 30_000 })
    expect(since(before)).toEqual(new Set(['autorun']))
    await bar()
      .getByRole('button', { name: /^Autorun \d+\/8 — Stop$/ })
      .click()
    await bar().getByRole('button', { name: 'Autorun off' }).waitFor()
    await isStill()
    const after = starters().length
    await shoot('4-stopped')
    await isStill()
    expect(starters()).toHaveLength(after)
    const { errors, foreign } = opened()
    expect([errors, foreign]).toEqual([[], []])
  })
})
