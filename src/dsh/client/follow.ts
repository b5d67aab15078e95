/**
 * Keeps a page up to date about one session: asks, shows, asks again with what comes after. Only a visible page asks;
 * a browser has few connections to a host, and one that waits holds one of them.
 */
import { pageHeader, type Shown, webRoutePath } from '../web/shown.ts'

export interface Surroundings {
  fetch(
    url: string,
    init: {
      readonly method?: 'POST'
      readonly headers: Readonly<Record<string, string>>
      readonly body?: string
      readonly signal: AbortSignal
    },
  ): Promise<Answer>
  isVisible(): boolean
  /** Calls back whenever the page is shown or hidden; the answer ends that. */
  onVisibility(changed: () => void): () => void
  /** Resolves after some ms. */
  wait(ms: number): Promise<void>
}

interface Answer {
  readonly status: number
  json(): Promise<unknown>
}

/** `follow`, or one that shares its questions. */
export type Follow = typeof follow

const firstPauseMs = 1_000
const longestPauseMs = 30_000

/**
 * @param show - told with each answer, and with `undefined` while the host does not answer.
 * @returns ends it.
 */
export function follow(session: string, show: (shown: Shown | undefined) => void, around: Surroundings): () => void {
  let asking = new AbortController()
  let isStopped = false
  let wakeHidden: (() => void) | undefined

  const stopWatching = around.onVisibility(() => {
    if (around.isVisible()) wakeHidden?.()
    else asking.abort()
  })

  const visible = async (): Promise<void> => {
    if (around.isVisible() || isStopped) return
    await new Promise<void>(resolve => {
      wakeHidden = resolve
    })
    wakeHidden = undefined
  }

  const run = async (): Promise<void> => {
    let cursor: string | undefined
    let pauseMs = firstPauseMs
    while (!isStopped) {
      await visible()
      if (isStopped) return
      asking = new AbortController()
      try {
        const answer = await around.fetch(urlOf(session, cursor), { headers: { [pageHeader]: '1' }, signal: asking.signal })
        // It will never answer this page: the host is reached under a name, or is another one.
        if (answer.status === 403) return show(undefined)
        if (answer.status !== 200) throw new Error(`status ${answer.status}`)
        const shown = (await answer.json()) as Shown
        if (isStopped) return
        cursor = shown.cursor
        pauseMs = firstPauseMs
        show(shown)
      } catch {
        if (isStopped) return
        if (asking.signal.aborted) continue
        // The host restarts, or is gone: what it said last may hold no more.
        show(undefined)
        await around.wait(pauseMs)
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  void run()
  return () => {
    isStopped = true
    stopWatching()
    asking.abort()
    wakeHidden?.()
  }
}

function urlOf(session: string, cursor: string | undefined): string {
  const query = new URLSearchParams({ session, ...(cursor !== undefined && { after: cursor }) })
  return `${webRoutePath}?${query}`
}
