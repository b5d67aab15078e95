/**
 * What a person sees in the host's web part, in a headless Chromium on the real host with our packed bundle. Pictures of
 * each stage go into the folder that OUTRIGGER_WEB_SHOTS names.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { textsOf } from '../../../src/demo/scripted-model.ts'
import { createRepository, type Repository } from '../../../src/demo/stage.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { noBrowser, openPluginSettings, openWeb, say, type Web } from '../../support/dsh/web.ts'

/** A browser and a host process take ten seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 })
if (noBrowser !== undefined) process.stderr.write(`the tests of the web part are skipped: ${noBrowser}\n`)

const changeSource = { calls: [{ name: 'bash', args: { command: 'echo beta > a.md', description: 'Change it' } }] }
const changeAgain = { calls: [{ name: 'bash', args: { command: 'echo gamma > a.md', description: 'Change it' } }] }
const acknowledge = { calls: [{ name: 'keel_ok', args: { child: 'b.md', reason: 'it only names the file' } }] }

describe.skipIf(noBrowser !== undefined)('the web part', () => {
  let prepared: PreparedHome
  let work: string
  let home: string
  let repository: Repository
  let web: Web | undefined

  beforeAll(async () => {
    prepared = await prepareHome('web')
    work = temporaryFolder('e2e-browser')
    home = prepared.copy()
    const files = { 'a.md': 'alpha\n', 'b.md': '---\nsources:\n  - a.md\n---\n# B\n' }
    repository = await createRepository(join(work, 'project'), join(work, 'person'), files)
    web = await openWeb({
      home,
      cwd: repository.root,
      turns: [
        { text: 'Hello.' },
        changeSource,
        { text: 'Changed.' },
        { text: 'I leave the document.' },
        acknowledge,
        { text: 'Reviewed.' },
        changeAgain,
        { text: 'Changed without a hold.' },
      ],
    })
  })
  afterAll(async () => {
    await web?.close()
    prepared?.remove()
    if (work !== undefined) rmSync(work, { recursive: true, force: true, maxRetries: 3 })
  })

  const opened = (): Web => {
    if (web === undefined) throw new Error('the web part did not come up')
    return web
  }
  const status = () => opened().page.locator('[data-outrigger-status]')
  const notice = () => opened().page.locator('[data-outrigger-notice]')
  const answered = (text: string) => opened().page.getByText(text, { exact: true }).waitFor()

  const picture = async (name: string): Promise<void> => {
    const folder = process.env.OUTRIGGER_WEB_SHOTS
    if (folder === undefined) return
    mkdirSync(folder, { recursive: true })
    await opened().page.screenshot({ path: join(folder, `${name}.png`) })
  }

  it('shows nothing while nothing is behind', async () => {
    const { page } = opened()
    await say(page, 'Hello')
    await answered('Hello.')
    await page.locator('[data-outrigger-line]').waitFor({ state: 'attached' })
    expect([await status().count(), await notice().count()]).toEqual([0, 0])
    await picture('1-quiet')
  })

  it('shows a notice for some seconds and a status that stays; neither moves the composer', async () => {
    const { page } = opened()
    const box = page.locator('textarea').first()
    const before = await box.boundingBox()
    await say(page, 'Change a.md')
    await notice().waitFor({ timeout: 30_000 })
    expect(await notice().textContent()).toBe('keel: 1 document(s) to review')
    expect(await notice().getAttribute('data-outrigger-notice')).toBe('warning')
    await picture('2-notice')
    await answered('I leave the document.')
    await status().waitFor()
    expect(await status().textContent()).toBe('keel 1 behind')
    await notice().waitFor({ state: 'detached', timeout: 10_000 })
    expect(await box.boundingBox()).toEqual(before)
    expect(await status().count()).toBe(1)
    await picture('3-status')
  })

  it('shows the status to a page that comes later, and takes it back after the review', async () => {
    const { page } = opened()
    await page.reload({ waitUntil: 'load' })
    await status().waitFor({ timeout: 20_000 })
    expect(await notice().count()).toBe(0)
    await say(page, 'Review it')
    await answered('Reviewed.')
    await status().waitFor({ state: 'detached' })
  })

  it('refuses another site, another origin and a request that is no page’s', async () => {
    const { page, url } = opened()
    const route = `${url}/outrigger/session?session=s`
    const code = async (headers: Record<string, string>) => (await fetch(route, { headers })).status
    expect(await code({ 'outrigger-page': '1', origin: 'https://evil.example' })).toBe(403)
    expect(await code({ 'outrigger-page': '1', 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await code({})).toBe(403)
    expect(await code({ 'outrigger-page': '1' })).toBe(200)
    // The browser itself, on a page of another origin: it may ask, and reads nothing.
    const other = await page.context().newPage()
    await other.goto(`${url.replace('127.0.0.1', 'localhost')}/outrigger/none`)
    const read = await other.evaluate(async from => {
      const plain = await fetch(from).then(
        answer => answer.status,
        () => 'blocked',
      )
      const marked = await fetch(from, { headers: { 'outrigger-page': '1' } }).then(
        answer => answer.status,
        () => 'blocked',
      )
      return [plain, marked]
    }, route)
    await other.close()
    expect(read).toEqual(['blocked', 'blocked'])
  })

  it('has a card on the settings page whose values count from the next turn on', async () => {
    const { page, model } = opened()
    await openPluginSettings(page)
    const card = page.locator('[data-outrigger-card="keel"]')
    await card.getByRole('button', { name: /keel/ }).click()
    await picture('4-card')
    const hold = card.getByLabel('Hold the end of a turn')
    expect(await hold.inputValue()).toBe('')
    await hold.selectOption('off')
    await card.getByLabel('Reason of an @ok').selectOption('required')
    expect(await card.getByText('Unsaved').count()).toBe(1)
    await card.getByRole('button', { name: 'Save' }).scrollIntoViewIfNeeded()
    await picture('5-edited')
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByText('Unsaved').waitFor({ state: 'detached' })
    const file = join(home, 'settings.yaml')
    expect(parse(readFileSync(file, 'utf8'))['outrigger-keel']).toEqual({ hold: 'off', ack: { reason: 'required' } })

    await page.keyboard.press('Escape')
    await say(page, 'Change it again')
    await answered('Changed without a hold.')
    await status().waitFor()
    // A held turn would have asked the model once more.
    expect(model.requests).toHaveLength(8)
    expect(model.unscripted).toEqual([])
    // A waiting session of the same project, which the page keeps ready, must not take it away from this one.
    expect(textsOf(model.requests.at(-1), 'user').at(-1)).toMatch(/^keel: a\.md changed; /)

    await openPluginSettings(page)
    await card.getByRole('button', { name: /keel/ }).click()
    expect(await hold.inputValue()).toBe('off')
    await hold.selectOption('')
    await card.getByRole('button', { name: 'Save' }).click()
    await vi.waitFor(() => expect(parse(readFileSync(file, 'utf8'))['outrigger-keel']).toEqual({ ack: { reason: 'required' } }))
    await page.keyboard.press('Escape')
  })

  it('left no error on the page, asked no other machine, and left nothing uncarried', async () => {
    const { errors, foreign } = opened()
    expect(errors.filter(text => !text.includes('403'))).toEqual([])
    expect(foreign).toEqual([])
    const ledger = await repository.outrigger('ledger', '--json')
    expect(ledger).toContain('held the turn once')
    expect(ledger).not.toContain('not-carried-out')
  })
})
