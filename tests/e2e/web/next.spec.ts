/**
 * What a person sees and presses of next-step in the host's web part, in a headless Chromium on the real host with our packed bundle.
 * Pictures of each stage go into the folder that OUTRIGGER_WEB_SHOTS names.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { noBrowser, openPluginSettings, say, seriousFaults } from '../../support/dsh/web.ts'
import { type Clip, webSession } from '../../support/dsh/web-session.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })

const program = join(import.meta.dirname, '../../../dist/cli/main.js')
interface Page {
  readonly document: { querySelector(selector: string): { getBoundingClientRect(): { left: number; width: number } } | null }
}
const check = (exit: number) => ({
  calls: [{ name: 'bash', args: { description: 'run the tests', command: `npm test; exit ${exit}` } }],
})

describe.skipIf(noBrowser !== undefined)('next-step in the web part', () => {
  const { opened, place, picture } = webSession('next', ({ root }) => {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { test: 'echo "not ok 3 - parses dates"; exit 1' } }))
    return {
      env: { DSH_PERMISSION_MODE: 'danger-full-access' },
      turns: [
        check(1),
        { text: 'The tests fail.' },
        { text: 'Looked at it.\n\n## Next steps\n\n1. Write the importer\n2. Write the docs' },
        // Long enough for a person, and a picture, to see it at work.
        { text: 'Thought about it.\n\n## Next steps\n\n1. Write the importer', delayMs: 2_000 },
        { text: 'Thought again.\n\n## Next steps\n\n1. Write the importer' },
        { text: 'And again.\n\n## Next steps\n\n1. Write the importer' },
        { text: 'Hello.' },
      ],
    }
  })
  const bar = (kind?: string) =>
    opened().page.locator(kind === undefined ? '[data-outrigger-next]' : `[data-outrigger-next="${kind}"]`)
  const press = (name: string) => bar().locator(`[data-outrigger-press="${name}"]`)
  const composer = () => opened().page.locator('textarea:not([readonly])').first()
  /** Where the bar and the composer stand at each stage. */
  const places: object[] = []
  const placesOf = async (): Promise<object> => {
    const [one, two] = [await bar().boundingBox(), await composer().boundingBox()]
    return { bar: [one?.x, one?.y, one?.width, one?.height], composer: [two?.x, two?.y, two?.width, two?.height] }
  }
  /** The lower part of the page, as docs/images shows it. */
  const dock = { x: 340, y: 625, width: 872, height: 230 }
  /** @param part - cut out as a picture of its own. */
  const shoot = async (of: string, part?: Clip): Promise<void> => {
    if (part !== undefined) await picture(`dsh-next-${of.slice(2)}`, { clip: part })
    await picture(`next-${of}`)
  }

  const faultsOf = (part: string) => seriousFaults(opened().page, part)
  const inBar = '[data-outrigger-next]'

  it('offers the failing check by its name, as a bar and as faint words that Tab takes', async () => {
    const { page } = opened()
    expect(await bar().count()).toBe(0)
    await say(page, 'Are the tests fine?')
    await bar('offer').waitFor({ timeout: 30_000 })
    expect(await bar().locator('p').textContent()).toMatch(/^Next: Fix the failing check "npm test; exit 1"/)
    const ghost = page.locator('.outrigger-ghost')
    await ghost.waitFor()
    expect(await ghost.getAttribute('aria-hidden')).toBe('true')
    await shoot('1-offer', dock)
    expect(await faultsOf(inBar)).toEqual([])
    await composer().focus()
    await page.keyboard.press('Tab')
    expect(await composer().inputValue()).toMatch(/^Fix the failing check/)
    await ghost.waitFor({ state: 'detached' })
    await shoot('2-taken')
    await composer().fill('')
  })

  it('is an ordinary Tab once something was typed', async () => {
    const { page } = opened()
    await page.locator('.outrigger-ghost').waitFor()
    await composer().focus()
    await page.keyboard.type('x')
    await page.locator('.outrigger-ghost').waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    expect(await composer().inputValue()).toBe('x')
    await composer().fill('')
  })

  it('runs the offer once, as the words of the person, when two tabs press Run', async () => {
    const { page, model, url } = opened()
    const before = model.requests.length
    const other = await page.context().newPage()
    await other.goto(url, { waitUntil: 'load' })
    await other.getByText('A title').first().click()
    const second = other.locator('[data-outrigger-next="offer"] [data-outrigger-press="run"]')
    await second.waitFor()
    // The buttons of this offer, at once: a click that waits would press the one of the next offer.
    const buttons = await Promise.all([press('run').elementHandle(), second.elementHandle()])
    await Promise.all(buttons.map(button => button?.evaluate(element => (element as unknown as { click(): void }).click())))
    await page.getByText('Looked at it.').waitFor()
    await other.getByText('Next: Write the importer').waitFor()
    await other.close()
    expect(model.requests.length - before).toBe(1)
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain('Fix the failing check')
    await bar('offer').waitFor()
    expect(await bar().locator('p').textContent()).toBe('Next: Write the importer')
    places.push(await placesOf())
    await shoot('3-ran')
  })

  it('drives itself when armed, counts its budget, and says why it stopped', async () => {
    const { page } = opened()
    await press('autorun').click()
    await bar()
      .getByText(/Autorun \d\/8 — Stop/)
      .waitFor()
    await bar()
      .getByText(/tokens, \d+ min left/)
      .waitFor()
    await shoot('4-armed', dock)
    expect(await faultsOf(inBar)).toEqual([])
    places.push(await placesOf())
    await bar()
      .getByText(/Autorun stopped after 2 of 8: the rounds made no progress/)
      .waitFor({ timeout: 40_000 })
    expect(await page.getByText('Autorun 1 of 8: Write the importer').count()).toBeGreaterThan(0)
    places.push(await placesOf())
    await shoot('5-stalled', dock)
    expect(await faultsOf(inBar)).toEqual([])
  })

  it('can be read in the dark and in a narrow window', async () => {
    const { page } = opened()
    await page.emulateMedia({ colorScheme: 'dark' })
    await shoot('5-dark')
    expect(await faultsOf(inBar)).toEqual([])
    for (const width of [700, 420]) {
      await page.setViewportSize({ width, height: 860 })
      // The host moves its parts for a moment.
      await page.waitForTimeout(600)
      await shoot(`5-narrow-${width}`)
      const edges = await page.evaluate(() =>
        ['.outrigger-ghost', 'textarea:not([readonly])'].map(each => {
          const { left, width } = (globalThis as unknown as Page).document.querySelector(each)!.getBoundingClientRect()
          return [left, width]
        }),
      )
      expect(edges[0]).toEqual(edges[1])
      const [box, buttons] = [await bar().boundingBox(), await bar().locator('.outrigger-next-buttons').boundingBox()]
      expect(box!.x + box!.width).toBeLessThanOrEqual(width)
      expect(buttons!.x).toBeGreaterThanOrEqual(box!.x)
      expect(buttons!.y + buttons!.height).toBeLessThanOrEqual(box!.y + box!.height)
      expect(buttons!.x + buttons!.width).toBeLessThanOrEqual(box!.x + box!.width)
    }
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.emulateMedia({ colorScheme: 'light' })
  })

  it('keeps its place and the one of the composer, whatever it says', () => {
    expect(places).toHaveLength(3)
    expect(places.map(place => JSON.stringify(place))).toEqual(places.map(() => JSON.stringify(places[0])))
  })

  it('is seen from a terminal, where nobody but a person may arm', () => {
    const terminal = (...args: readonly string[]) =>
      spawnSync(process.execPath, [program, 'next', ...args, '--json'], {
        cwd: place().root,
        env: { ...process.env, HOME: place().work, XDG_RUNTIME_DIR: place().work },
        encoding: 'utf8',
        timeout: 30_000,
      })
    const state = terminal('state')
    expect(state.status, state.stderr).toBe(0)
    expect(JSON.parse(state.stdout)).toMatchObject({
      schema: 'outrigger.next.state/1',
      loop: { armed: false, reason: 'stalled' },
      offer: { status: 'ready', text: 'Write the importer' },
    })
    expect(terminal('arm').status).toBe(2)
  })

  it('goes away on Escape in the empty composer', async () => {
    await opened().page.locator('.outrigger-ghost').waitFor()
    await composer().focus()
    await composer().press('Escape')
    await bar('offer').waitFor({ state: 'detached' })
    await shoot('6-dismissed')
  })

  it('has a card whose model is checked', async () => {
    const { page } = opened()
    await openPluginSettings(page)
    const card = page.locator('[data-outrigger-card="next"]')
    await card.getByRole('button', { name: /next/ }).click()
    const model = card.getByLabel('Model that names the step')
    await model.scrollIntoViewIfNeeded()
    const save = card.getByRole('button', { name: 'Save' })
    await model.fill('no model')
    expect([await save.isDisabled(), await model.getAttribute('aria-invalid')]).toEqual([true, 'true'])
    await model.fill('deepseek-official/deepseek-v4-flash')
    await card.getByLabel('Rounds of an autorun').fill('3')
    await shoot('7-card', { x: 440, y: 405, width: 590, height: 425 })
    expect(await faultsOf('[data-outrigger-card="next"]')).toEqual([])
    await save.click()
    await card.getByText('Unsaved').waitFor({ state: 'detached' })
    expect(parse(readFileSync(join(place().home, 'settings.yaml'), 'utf8'))['outrigger-next']).toEqual({
      model: 'deepseek-official/deepseek-v4-flash',
      maxRounds: 3,
    })
    await page.keyboard.press('Escape')
  })

  it('left no error on the page and asked no other machine', () => {
    const { errors, foreign } = opened()
    expect(errors).toEqual([])
    expect(foreign).toEqual([])
  })
})
