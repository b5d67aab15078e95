/** The real `dsh web` with a scripted model, and a page on it in a headless Chromium. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
  const host = startWebHost({ ...options, modelUrl: model.url })
  let browser: Browser | undefined
  const close = async (): Promise<void> => {
    await browser?.close()
    await host.close()
    await model.close()
  }
  try {
    const url = await host.url
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
    return { page, model, url, foreign, errors, output: host.output, close }
  } catch (error) {
    await close()
    throw new Error(`the web part did not come up\n${host.output()}`, { cause: error })
  }
}

export interface WebHost {
  /** Without a slash at its end; once it listens. */
  readonly url: Promise<string>
  output(): string
  close(): Promise<void>
}

/** The process of the host alone, without a page on it. */
export function startWebHost(options: {
  readonly home: string
  readonly cwd: string
  readonly modelUrl: string
  readonly env?: Readonly<Record<string, string>>
}): WebHost {
  const server = spawn(process.execPath, [findHost(), 'web', '--no-open', '--host', '127.0.0.1', '--port', '0'], {
    cwd: options.cwd,
    env: hostEnvironment(options.home, options.modelUrl, options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', data => (printed += String(data)))
  const ended = new Promise<void>(done => server.once('exit', () => done()))
  const close = async (): Promise<void> => {
    server.kill('SIGTERM')
    await Promise.race([ended, new Promise(done => setTimeout(done, 10_000).unref())])
    server.kill('SIGKILL')
  }
  return { url: addressOf(server, () => printed), output: () => printed, close }
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

interface Axe {
  run(
    context: object,
    options: object,
  ): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }>
}

/** What axe finds serious in a part of the page. */
export async function seriousFaults(page: Page, selector: string): Promise<readonly string[]> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  return page.evaluate(async (part: string) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    // The host wraps every card of its list, its own too.
    const rules = { listitem: { enabled: false } }
    const { violations } = await axe.run({ include: [[part]] }, { resultTypes: ['violations'], rules })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(each => `${each.html.slice(0, 120)} ${each.failureSummary}`).join(' | ')}`)
  }, selector)
}

interface Styled {
  readonly document: { querySelectorAll(selector: string): Iterable<object> }
  getComputedStyle(of: object): { readonly color: string; readonly backgroundColor: string }
}

/** The lowest contrast of words that have a ground of their own; axe does not judge the ones that lie over something else. */
export async function lowestContrast(page: Page, selector: string): Promise<number> {
  const pairs = await page.evaluate((each: string) => {
    const { document, getComputedStyle } = globalThis as unknown as Styled
    return [...document.querySelectorAll(each)].map(one => {
      const { color, backgroundColor } = getComputedStyle(one)
      return [color, backgroundColor] as const
    })
  }, selector)
  const ratios = pairs.map(pair => {
    const [dark, light] = pair.map(lightness).sort((one, two) => one - two)
    return (light! + 0.05) / (dark! + 0.05)
  })
  return Math.min(...ratios)
}

/** Relative luminance of a computed colour: `rgb(…)`, or the `color(srgb …)` of a mix. */
function lightness(color: string): number {
  const parts = color
    .match(/[\d.]+/g)!
    .slice(0, 3)
    .map(Number)
  const [red, green, blue] = parts
    .map(part => (color.startsWith('color(') ? part : part / 255))
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
