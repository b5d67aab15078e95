/** The line above the composer: a notice for some seconds on the left, the session's status on the right. */
import type { Notice, Shown } from '../web/shown.ts'
import { type Follow, follow, type Surroundings } from './follow.ts'
import type { Component, React } from './page.ts'
import type { PartProps } from './repl-chip.ts'

const maxWaiting = 5

/** The line takes no height, so that what comes and goes in it moves nothing. */
/** @param parts - places of their own for what other rows show, by the name of the part; on the right of the status. */
export function createLine(
  react: React,
  around: Surroundings,
  parts: Readonly<Record<string, Component<PartProps>>> = {},
  followSession: Follow = follow,
): Component<{ readonly sessionId: string }> {
  const { createElement, useEffect, useState } = react

  return ({ sessionId }) => {
    const [status, setStatus] = useState<string | null>(null)
    const [notices, setNotices] = useState<readonly Notice[]>([])
    const [values, setValues] = useState<Shown['parts']>(undefined)
    const [notice] = notices

    useEffect(() => {
      setStatus(null)
      setNotices([])
      setValues(undefined)
      return followSession(
        sessionId,
        shown => {
          setStatus(shown?.status ?? null)
          setValues(shown?.parts)
          if (shown !== undefined && shown.notices.length > 0)
            setNotices(before => [...before, ...shown.notices].slice(-maxWaiting))
        },
        around,
      )
    }, [sessionId])

    useEffect(() => {
      if (notice === undefined) return undefined
      const timer = setTimeout(() => setNotices(before => before.filter(other => other !== notice)), notice.ms)
      return () => clearTimeout(timer)
    }, [notice])

    const chip = (kind: string, text: string, more: object) =>
      createElement('span', { className: `outrigger-chip outrigger-${kind}`, title: text, ...more }, text)

    return createElement(
      'div',
      { className: 'outrigger-line', 'data-outrigger-line': sessionId },
      createElement(
        'div',
        { className: 'outrigger-row' },
        createElement(
          'div',
          { className: 'outrigger-slot', role: 'status', 'aria-live': 'polite' },
          notice === undefined
            ? null
            : chip(notice.level, notice.text, { key: notice.text, 'data-outrigger-notice': notice.level }),
        ),
        status === null ? null : chip('status', status, { 'data-outrigger-status': '' }),
        ...Object.entries(parts).map(([name, part]) =>
          createElement(part as Component<never>, { key: name, sessionId, value: values?.[name] }),
        ),
      ),
    )
  }
}
