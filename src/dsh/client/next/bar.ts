/**
 * The bar above the composer: the offer with Run, Edit and ×, the loop with its switch and budget, and the ghost in the empty
 * composer. What a person presses is a `/next …` command, so that it stands in the log as the person's act.
 */
import type { NextView } from '../../../next-step/view.ts'
import { draftRoutePath, nextPart } from '../../web/next-shown.ts'
import { pageHeader, type Shown } from '../../web/shown.ts'
import { execute } from '../execute.ts'
import type { Follow, Surroundings } from '../follow.ts'
import type { Component, PageDocument, PageKey, React } from '../page.ts'
import { ghostDelayMs, ghostKey } from './ghost.ts'
import { type BarWords, barWords, isShown } from './words.ts'

export interface BarProps {
  readonly sessionId: string
  readonly input?: { readonly draft?: string }
  readonly inputActions?: { setDraft(text: string): void }
}

const composerSelector = 'textarea:not([readonly])'

export function createBar(react: React, around: Surroundings, page: PageDocument, follow: Follow): Component<BarProps> {
  const { createElement, useEffect, useState } = react

  return ({ sessionId, input, inputActions }) => {
    const [view, setView] = useState<NextView | undefined>(undefined)
    const [refused, setRefused] = useState('')
    const [ghost, setGhost] = useState<string | null>(null)
    const [, setTick] = useState(0)
    const draft = input?.draft ?? ''
    const gen = view?.kind === 'offer' ? view.gen : null
    const isArmed = view?.loop.armed === true

    useEffect(() => {
      setView(undefined)
      setRefused('')
      const show = (shown: Shown | undefined) => setView(shown?.parts?.[nextPart] as unknown as NextView | undefined)
      return follow(sessionId, show, around)
    }, [sessionId])

    const isEmpty = draft === ''
    useEffect(() => {
      if (view === undefined) return undefined
      const url = `${draftRoutePath}?${new URLSearchParams({ session: sessionId, empty: isEmpty ? '1' : '0' })}`
      around.fetch(url, { headers: { [pageHeader]: '1' }, signal: new AbortController().signal }).catch(() => undefined)
      return undefined
    }, [sessionId, isEmpty, view === undefined])

    // The minutes that are left are counted here; the host says nothing while nothing changes.
    useEffect(() => {
      if (!isArmed) return undefined
      const timer = setInterval(() => setTick(before => before + 1), 30_000)
      return () => clearInterval(timer)
    }, [isArmed])

    useEffect(() => {
      setGhost(null)
      if (gen === null || !isEmpty) return undefined
      const timer = setTimeout(() => setGhost(gen), ghostDelayMs)
      return () => clearTimeout(timer)
    }, [gen, isEmpty])

    // The ghost lies where the composer was measured.
    useEffect(() => {
      if (ghost === null) return undefined
      const measure = (): void => setTick(before => before + 1)
      page.defaultView.addEventListener('resize', measure)
      page.addEventListener('transitionend', measure)
      return () => {
        page.defaultView.removeEventListener('resize', measure)
        page.removeEventListener('transitionend', measure)
      }
    }, [ghost])

    const type = async (args: string): Promise<void> => {
      setRefused('')
      const said = await execute(around, sessionId, `/next ${args}`)
      // The code is for those who look it up: it stands in the transcript.
      if (said !== undefined) setRefused(said.replace(/^[A-Z]+(?:_[A-Z]+)*: /, ''))
    }
    const edit = (): void => {
      inputActions?.setDraft(view?.text ?? '')
      page.querySelector(composerSelector)?.focus()
    }

    useEffect(() => {
      if (ghost === null || ghost !== gen) return undefined
      const onKey = (event: PageKey): void => {
        const field = page.querySelector(composerSelector)
        if (field === null || page.activeElement !== field) return
        const isModified = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey
        const done = ghostKey({
          draft: field.value,
          caret: field.selectionStart,
          ghostGen: ghost,
          rowGen: gen,
          key: event.key,
          isModified,
        })
        if (done === 'none') return
        event.preventDefault()
        event.stopPropagation()
        if (done === 'fill') edit()
        else void type('dismiss')
      }
      page.addEventListener('keydown', onKey, true)
      return () => page.removeEventListener('keydown', onKey, true)
    }, [ghost, gen])

    if (view === undefined) return null
    const words = barWords(view, Date.now())
    if (!isShown(words)) return null
    return createElement(
      'section',
      { className: 'outrigger-next', 'aria-label': 'Next step', 'data-outrigger-next': words.kind },
      ghost !== null && ghost === gen ? ghostOf(view.text, page, createElement) : null,
      createElement(
        'p',
        { className: 'outrigger-next-text', role: 'status', 'aria-live': 'polite', title: words.text, key: 'text' },
        words.text === '' ? words.loop : words.text,
      ),
      words.text === '' || words.loop === '' || refused !== ''
        ? null
        : createElement('span', { className: 'outrigger-next-loop', title: words.loop, key: 'loop' }, words.loop),
      refused === ''
        ? null
        : createElement('span', { className: 'outrigger-next-refused', role: 'alert', title: refused, key: 'refused' }, refused),
      createElement('span', { className: 'outrigger-next-buttons', key: 'buttons' }, ...buttons(words, view, type, edit)),
    )
  }

  function buttons(words: BarWords, view: NextView, type: (args: string) => Promise<void>, edit: () => void): readonly unknown[] {
    const button = (name: string, text: string, onClick: () => void, more: object = {}) =>
      createElement(
        'button',
        {
          type: 'button',
          key: name,
          className: `outrigger-next-button outrigger-next-${name}`,
          'data-outrigger-press': name,
          onClick,
          ...more,
        },
        text,
      )
    const all = words.buttons.map(name => {
      switch (name) {
        case 'run':
          return button('run', 'Run', () => void type(`run --offer ${view.gen ?? ''}`))
        case 'edit':
          return button('edit', 'Edit', edit)
        case 'dismiss':
          return button('dismiss', '×', () => void type('dismiss'), { 'aria-label': 'Dismiss the suggestion' })
        case 'retry':
          return button('retry', 'Retry', () => void type('suggest'))
        default:
          return name satisfies never
      }
    })
    if (words.toggle === null) return all
    const { armed } = view.loop
    const toggle = button('autorun', words.toggle, () => void type(armed ? 'disarm' : 'arm'), { 'aria-pressed': armed })
    return [...all, toggle]
  }
}

/** Over the composer, in its own letters; for eyes only. */
function ghostOf(text: string, page: PageDocument, createElement: React['createElement']): unknown {
  const field = page.querySelector(composerSelector)
  if (field === null) return null
  const { left, top, width, height } = field.getBoundingClientRect()
  const { font, padding, lineHeight } = page.defaultView.getComputedStyle(field)
  const style = { left, top, width, height, font, padding, lineHeight }
  return createElement('span', { className: 'outrigger-ghost', 'aria-hidden': true, style, key: 'ghost' }, text)
}
