/** The real `dsh web` with a scripted model, and a page on it in a headless Chromium. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findHost, hostEnvironment } from '../../../src/demo/host.ts'
import { type ScriptedModel, type ScriptedModelOptions, startScriptedModel } from '../../../src/demo/scripted-model.ts'

const program = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium'

/** Why there is no browser to test with; `undefined` when there is one. */
export const noBrowser: string | undefined = existsSync(program)
  ? undefined
  : `no Chromium at ${program}: install it, or name one in CHROMIUM_BIN`

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
const browserArguments = [...quiet, '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage']

export interface Web {
  readonly page: Page
  readonly model: ScriptedModel
  /** Without a slash at its end. */
  readonly url: string
  /** Requests that would have left the machine; they were blocked. */
  readonly foreign: readonly string[]
  /** What the page reported as errors. */
  readonly errors: readonly string[]
  /** What the host printed. */
  output(): string
  /** Ends the browser and the host that were started here. */
  close(): Promise<void>
}

/**
 * About ten seconds: the host, the browser, the first-run notice, and `cwd` as the page's workspace.
 *
 * @param options.home - a DSH home with our bundle in its web profile.
 */
export async function openWeb(options: {
  readonly home: string
  readonly cwd: string
  readonly turns: ScriptedModelOptions['turns']
  readonly colorScheme?: 'light' | 'dark'
  readonly env?: Readonly<Record<string, string>>
}): Promise<Web> {
  const model = await startScriptedModel({ turns: options.turns })
  const server = spawn(process.execPath, [findHost(), 'web', '--no-open', '--host', '127.0.0.1', '--port', '0'], {
    cwd: options.cwd,
    env: hostEnvironment(options.home, model.url, options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', data => (printed += String(data)))
  const ended = new Promise<void>(done => server.once('exit', () => done()))

  let browser: Browser | undefined
  const close = async (): Promise<void> => {
    await browser?.close()
    server.kill('SIGTERM')
    await Promise.race([ended, new Promise(done => setTimeout(done, 10_000).unref())])
    server.kill('SIGKILL')
    await model.close()
  }
  try {
    const url = await addressOf(server, () => printed)
    browser = await chromium.launch({ executablePath: program, headless: true, args: browserArguments })
    const look = { viewport: { width: 1280, height: 860 }, colorScheme: options.colorScheme ?? 'light', locale: 'en-US' } as const
    const context = await browser.newContext(look)
    const page = await context.newPage()
    const foreign: string[] = []
    const errors: string[] = []
    page.on('pageerror', error => errors.push(String(error)))
    page.on('console', message => {
      if (message.type() === 'error') errors.push(message.text())
    })
    await page.route('**/*', route => {
      const { protocol, hostname } = new URL(route.request().url())
      if (!protocol.startsWith('http') || hostname === '127.0.0.1') return route.continue()
      foreign.push(route.request().url())
      return route.abort()
    })
    await page.goto(url, { waitUntil: 'load' })
    await pressContinue(page)
    await chooseWorkspace(page, options.cwd)
    return { page, model, url, foreign, errors, output: () => printed, close }
  } catch (error) {
    await close()
    throw new Error(`the web part did not come up\n${printed}`, { cause: error })
  }
}

function addressOf(server: ChildProcess, printed: () => string): Promise<string> {
  return new Promise((done, fail) => {
    const look = (): void => {
      const address = /https?:\/\/127\.0\.0\.1:\d+/.exec(printed())?.[0]
      if (address !== undefined) done(address)
    }
    server.stdout?.on('data', look)
    server.stderr?.on('data', look)
    server.once('exit', code => fail(new Error(`the host ended with ${code}`)))
    setTimeout(() => fail(new Error('the host printed no address within 60 s')), 60_000).unref()
  })
}

const composer = (page: Page) => page.locator('textarea, [contenteditable="true"]').first()

/** A home's first run shows a notice that makes the page inert. */
async function pressContinue(page: Page): Promise<void> {
  await composer(page).waitFor({ state: 'attached', timeout: 30_000 })
  await page
    .getByRole('button', { name: /^Continue$/ })
    .first()
    .click({ timeout: 15_000 })
}

/** A home without sessions has no workspace: its composer opens a folder dialog. */
async function chooseWorkspace(page: Page, cwd: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await composer(page).click()
  await dialog.getByRole('button', { name: 'Edit path' }).click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(cwd)
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Open' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('textarea:not([aria-label="Choose workspace"]):not([readonly])').first().waitFor()
}

/** Type into the composer and send. It is empty again when the host has taken the words. */
export async function say(page: Page, text: string): Promise<void> {
  const box = composer(page)
  await box.fill(text)
  await box.press('Enter')
  const deadline = Date.now() + 15_000
  while ((await box.inputValue()) !== '') {
    if (Date.now() > deadline) throw new Error(`the host does not take: ${text}`)
    await page.waitForTimeout(100)
  }
}

/** Settings > Plugins, where the cards of plugins are. */
export async function openPluginSettings(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /settings/i })
    .first()
    .click()
  await page
    .getByText(/^Plugins$/)
    .first()
    .click()
}
