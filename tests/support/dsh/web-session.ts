/** One `dsh web` with a page for all tests of a `describe`: opened before them, closed behind them. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type PreparedHome, prepareHome, temporaryFolder } from './home.ts'
import { openWeb, type Web } from './web.ts'

export interface WebPlace {
  /** A DSH home with our bundle in its web profile. */
  readonly home: string
  /** A folder of the test's own. */
  readonly work: string
  /** Of the project: empty, a git repository by its folder alone. */
  readonly root: string
}

export interface WebSession {
  opened(): Web
  place(): WebPlace
  /** Into the folder that OUTRIGGER_WEB_SHOTS names; nothing where it names none. @param clip - only this part of the page. */
  picture(name: string, more?: { readonly clip?: Clip; readonly page?: Page }): Promise<void>
}

export interface Clip {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

type Options = Omit<Parameters<typeof openWeb>[0], 'home' | 'cwd'>

/** @param prepare - fills the project and says what the model answers. */
export function webSession(name: string, prepare: (place: WebPlace) => Options | Promise<Options>): WebSession {
  let prepared: PreparedHome | undefined
  let place: WebPlace | undefined
  let web: Web | undefined

  beforeAll(async () => {
    prepared = await prepareHome('web')
    const work = temporaryFolder(`e2e-browser-${name}`)
    place = { home: prepared.copy(), work, root: join(work, 'project') }
    mkdirSync(join(place.root, '.git'), { recursive: true })
    const options = await prepare(place)
    web = await openWeb({ home: place.home, cwd: place.root, ...options })
  })
  afterAll(async () => {
    await web?.close()
    prepared?.remove()
    if (place !== undefined) rmSync(place.work, { recursive: true, force: true, maxRetries: 3 })
  })

  const opened = (): Web => {
    if (web === undefined) throw new Error('the web part did not come up')
    return web
  }
  return {
    opened,
    place() {
      if (place === undefined) throw new Error('nothing is prepared yet')
      return place
    },
    async picture(of, { clip, page = opened().page } = {}) {
      const folder = process.env['OUTRIGGER_WEB_SHOTS']
      if (folder === undefined) return
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${of}.png`), ...(clip !== undefined && { clip }) })
    },
  }
}
