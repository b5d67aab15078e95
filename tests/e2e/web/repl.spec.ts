/**
 * What a person sees of the REPL in the host's web part, in a headless Chromium on the real host with our packed bundle. Pictures of each stage go into
 * the folder that OUTRIGGER_WEB_SHOTS names.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { noBrowser, openPluginSettings, say } from '../../support/dsh/web.ts'
import { webSession } from '../../support/dsh/web-session.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })

const cell = (code: string) => ({ calls: [{ name: 'run_code', args: { description: 'a cell of the test', code } }] })

describe.skipIf(noBrowser !== undefined)('the REPL in the web part', () => {
  const { opened, place, picture } = webSession('repl', ({ root }) => {
    writeFileSync(join(root, 'notes.txt'), 'one\n')
    return {
      env: { DSH_TOOLS_MODE: 'code' },
      turns: [
        cell('const orders = [{ id: 1 }, { id: 2 }]; let read = 0; const watched = { get secret() { read++; return 1 } }'),
        { text: 'Kept.' },
        cell('return read'),
        { text: 'Looked.' },
      ],
    }
  })
  const chip = () => opened().page.locator('[data-outrigger-repl]')
  const name = (of: string) => opened().page.locator(`[data-outrigger-name="${of}"]`)
  const answered = (text: string) => opened().page.getByText(text, { exact: true }).waitFor()

  it('shows how many names there are, and lists them without running a getter', async () => {
    const { page, model } = opened()
    expect(await chip().count()).toBe(0)
    await say(page, 'Keep something')
    await answered('Kept.')
    await chip().waitFor({ timeout: 20_000 })
    expect(await chip().textContent()).toMatch(/^REPL 3 names · (durable|volatile)$/)
    await picture('repl-1-chip')
    await chip().click()
    await name('orders').waitFor()
    expect(await name('orders').textContent()).toContain('[{ id: 1 }, { id: 2 }]')
    expect(await name('watched').textContent()).toContain('secret: [getter]')
    await picture('repl-2-names')
    await chip().click()
    await name('orders').waitFor({ state: 'detached' })
    await say(page, 'Was it read?')
    await answered('Looked.')
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain('"0"')
  })

  it('has a card whose values are checked and count from the next cell on', async () => {
    const { page } = opened()
    await openPluginSettings(page)
    const card = page.locator('[data-outrigger-card="repl"]')
    await card.getByRole('button', { name: /repl/ }).click()
    const compute = card.getByLabel('Computing time of a cell (ms)')
    await compute.scrollIntoViewIfNeeded()
    await picture('repl-3-card')
    const save = card.getByRole('button', { name: 'Save' })
    await compute.fill('soon')
    expect([await save.isDisabled(), await compute.getAttribute('aria-invalid')]).toEqual([true, 'true'])
    await compute.fill('5000')
    await card.getByLabel('Make programs of direct calls').selectOption('false')
    await save.scrollIntoViewIfNeeded()
    await picture('repl-4-edited')
    await save.click()
    await card.getByText('Unsaved').waitFor({ state: 'detached' })
    const file = join(place().home, 'settings.yaml')
    expect(parse(readFileSync(file, 'utf8'))['outrigger-repl']).toEqual({ computeMs: 5000, canonicalizeCalls: false })
    await page.keyboard.press('Escape')
  })

  it('left no error on the page and asked no other machine', () => {
    const { errors, foreign } = opened()
    expect(errors).toEqual([])
    expect(foreign).toEqual([])
  })
})
