/**
 * What a person sees of pack in the host's web part, in a headless Chromium on the real host with our packed bundle. Pictures of each stage go into the folder
 * that OUTRIGGER_WEB_SHOTS names.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { textsOf } from '../../../src/demo/scripted-model.ts'
import { noBrowser, say } from '../../support/dsh/web.ts'
import { webSession } from '../../support/dsh/web-session.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })

const decided = 'Chosen.\n\n<!-- ckpt\ndecision: use b — faster\nopen: measure it\n-->'

describe.skipIf(noBrowser !== undefined)('pack in the web part', () => {
  const { opened, place, picture } = webSession('pack', ({ root }) => {
    writeFileSync(join(root, 'notes.txt'), 'one\n')
    return {
      turns: [
        { match: 'You keep the notes of work stream', repeat: true, status: 400 },
        { text: decided },
        { text: 'I have the notes.' },
      ],
    }
  })
  const review = () => opened().page.locator('[data-outrigger-review]')
  const status = () => opened().page.locator('[data-outrigger-status]')
  const type = async (line: string): Promise<void> => {
    const composer = opened().page.locator('textarea:not([readonly])').first()
    await composer.fill(line)
    await composer.press('Enter')
    if ((await composer.inputValue()) !== '') await composer.press('Enter')
  }

  it('shows one line for a checkpoint in the conversation, and says that one waits for a stream', async () => {
    const { page } = opened()
    await say(page, 'Choose')
    await page.getByText('Chosen.', { exact: true }).waitFor()
    await status().getByText('1 checkpoint(s) have no stream yet; name one: /pack save <name>').waitFor({ timeout: 20_000 })
    const body = () => page.locator('body').textContent()
    expect(await body()).toContain('▸ ckpt: decision, open')
    expect(await body()).not.toContain('use b — faster')
    await picture('pack-1-waiting')
  })

  it('opens the review where the model does not answer, and stays when the person says so', async () => {
    await type('/pack billing')
    await review().waitFor({ timeout: 20_000 })
    expect(await review().textContent()).toContain('+ decisions: use b — faster (c01.1)')
    await picture('pack-2-review')
    await review().getByRole('button', { name: 'stay [x]' }).click()
    await review().waitFor({ state: 'detached' })
    expect(existsSync(join(place().root, '.outrigger/pack/billing/state.md'))).toBe(true)
  })

  it('goes on to a session of its own from the review', async () => {
    const { page, model } = opened()
    await type('/pack')
    await review().waitFor({ timeout: 20_000 })
    await review().focus()
    await page.keyboard.press('c')
    await review().waitFor({ state: 'detached' })
    await page
      .getByText(/the work goes on in a new session/)
      .first()
      .waitFor({ timeout: 20_000 })
    await picture('pack-3-opened')
    expect(readFileSync(join(place().root, '.outrigger/pack/billing/state.md'), 'utf8')).toContain('use b — faster')
    expect(textsOf(model.requests[0], 'system').join()).toContain('<!-- ckpt')
  })
})
