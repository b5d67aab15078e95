/**
 * A choice above the composer: saved notes with what changed, and a button each for going on fresh and for staying. What a
 * person presses is a `/pack …` command. While a countdown runs the host is told whether the composer is empty, since typing ends it.
 */
import { countdownMark } from '../../pack/marks.ts'
import { draftRoutePath } from '../web/next-shown.ts'
import { type ReviewShown, reviewPart } from '../web/pack-shown.ts'
import { pageHeader, type Shown } from '../web/shown.ts'
import { execute } from './execute.ts'
import type { Follow, Surroundings } from './follow.ts'
import type { Component, React } from './page.ts'

export interface ReviewProps {
  readonly sessionId: string
  readonly input?: { readonly draft?: string }
}

export function createReview(react: React, around: Surroundings, follow: Follow): Component<ReviewProps> {
  const { createElement, useEffect, useState } = react

  return ({ sessionId, input }) => {
    const [shown, setShown] = useState<Shown | undefined>(undefined)
    const [refused, setRefused] = useState('')
    const review = shown?.parts?.[reviewPart] as unknown as ReviewShown | undefined
    const counts = shown?.status?.includes(countdownMark) === true
    const isEmpty = (input?.draft ?? '') === ''

    useEffect(() => {
      setShown(undefined)
      setRefused('')
      return follow(sessionId, setShown, around)
    }, [sessionId])

    useEffect(() => {
      if (!counts || isEmpty) return undefined
      const url = `${draftRoutePath}?${new URLSearchParams({ session: sessionId, empty: '0' })}`
      around.fetch(url, { headers: { [pageHeader]: '1' }, signal: new AbortController().signal }).catch(() => undefined)
      return undefined
    }, [sessionId, counts, isEmpty])

    if (review === undefined) return null
    const press = async (command: string): Promise<void> => {
      setRefused((await execute(around, sessionId, command)) ?? '')
    }
    // Closing it is staying.
    const onKeyDown = (event: { readonly key: string; preventDefault(): void }): void => {
      const key = event.key === 'Escape' ? 'x' : event.key
      const pressed = review.buttons.find(button => button.key === key)
      if (pressed === undefined) return
      event.preventDefault()
      void press(pressed.command)
    }
    return createElement(
      'section',
      { className: 'outrigger-review', tabIndex: 0, onKeyDown, 'aria-label': review.title, 'data-outrigger-review': review.id },
      createElement('h3', { className: 'outrigger-review-title' }, review.title),
      createElement('pre', { className: 'outrigger-review-text' }, review.markdown),
      createElement(
        'div',
        { className: 'outrigger-review-buttons' },
        refused === '' ? null : createElement('p', { className: 'outrigger-refused', role: 'alert' }, refused),
        ...review.buttons.map(({ label, key, command }) =>
          createElement(
            'button',
            {
              type: 'button',
              key,
              className: `outrigger-next-button outrigger-review-${label}`,
              onClick: () => void press(command),
            },
            `${label} [${key}]`,
          ),
        ),
      ),
    )
  }
}
