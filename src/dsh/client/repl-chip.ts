/** The REPL's chip: how many names and whether a restart would keep them; a click lists them. */
import type { Json } from '../../ports/json.ts'
import { type ReplChip, type ReplList, type ReplListName, replRoutePath } from '../web/repl-shown.ts'
import { pageHeader } from '../web/shown.ts'
import type { Surroundings } from './follow.ts'
import type { Component, React } from './page.ts'

export interface PartProps {
  readonly sessionId: string
  /** As the host put it in; `undefined` while there is none. */
  readonly value: Json | undefined
}

type Listed = { readonly kind: 'none' } | { readonly kind: 'failed' } | { readonly kind: 'list'; readonly list: ReplList }

export function createReplChip(react: React, around: Surroundings): Component<PartProps> {
  const { createElement, useEffect, useState } = react

  const listOf = async (sessionId: string, signal: AbortSignal): Promise<Listed> => {
    const url = `${replRoutePath}?${new URLSearchParams({ session: sessionId })}`
    const answer = await around.fetch(url, { headers: { [pageHeader]: '1' }, signal })
    return answer.status === 200 ? { kind: 'list', list: (await answer.json()) as ReplList } : { kind: 'failed' }
  }

  return ({ sessionId, value }) => {
    const chip = value as unknown as ReplChip | undefined
    const shown = chip === undefined ? '' : JSON.stringify(chip)
    const [isOpen, setOpen] = useState(false)
    const [listed, setListed] = useState<Listed>({ kind: 'none' })

    useEffect(() => {
      setOpen(false)
      setListed({ kind: 'none' })
      return undefined
    }, [sessionId])

    useEffect(() => {
      if (!isOpen) return undefined
      const gone = new AbortController()
      listOf(sessionId, gone.signal)
        .then(setListed, () => setListed({ kind: 'failed' }))
        .catch(() => undefined)
      return () => gone.abort()
    }, [isOpen, sessionId, shown])

    const text = chip === undefined ? undefined : chipText(chip)
    if (chip === undefined || text === undefined) return null
    const title = chip.degraded ?? 'Names of this session; click for a list'
    const button = createElement(
      'button',
      {
        type: 'button',
        key: 'chip',
        className: `outrigger-chip outrigger-repl-chip${chip.degraded === undefined ? '' : ' outrigger-warning'}`,
        'data-outrigger-repl': chip.mode,
        'aria-expanded': isOpen,
        title,
        onClick: () => setOpen(!isOpen),
        onKeyDown: (event: { readonly key: string }) => {
          if (event.key === 'Escape') setOpen(false)
        },
      },
      text,
    )
    if (!isOpen) return button
    return createElement(
      'span',
      { className: 'outrigger-repl' },
      createElement(
        'div',
        { className: 'outrigger-repl-panel', role: 'dialog', 'aria-label': 'Names of this session', key: 'panel' },
        chip.degraded === undefined ? names(listed) : createElement('p', { className: 'outrigger-note' }, chip.degraded),
      ),
      button,
    )
  }

  function names(listed: Listed): unknown {
    if (listed.kind === 'none') return createElement('p', { className: 'outrigger-note' }, 'Asking the host…')
    if (listed.kind === 'failed') return createElement('p', { className: 'outrigger-note' }, 'The host does not answer.')
    const { list } = listed
    return createElement(
      'div',
      null,
      createElement('p', { className: 'outrigger-note' }, modeText(list.mode)),
      createElement('table', { className: 'outrigger-repl-names' }, createElement('tbody', null, ...list.names.map(row))),
      list.omitted === 0 ? null : createElement('p', { className: 'outrigger-note' }, `… and ${list.omitted} more`),
    )
  }

  function row(name: ReplListName): unknown {
    const after = recoverText(name)
    return createElement(
      'tr',
      { key: name.name, 'data-outrigger-name': name.name },
      createElement('th', { scope: 'row', title: `${name.kind} ${name.type}`.trim() }, name.name),
      createElement(
        'td',
        { className: 'outrigger-repl-preview', title: name.preview },
        name.preview === '' ? name.type : name.preview,
      ),
      createElement('td', { className: `outrigger-repl-${name.recover}`, title: after }, after),
    )
  }
}

/** `undefined`: nothing to say yet. */
export function chipText({ names, mode, degraded }: ReplChip): string | undefined {
  if (degraded !== undefined) return 'REPL degraded'
  return names === 0 ? undefined : `REPL ${names} ${names === 1 ? 'name' : 'names'} · ${mode}`
}

export const modeText = (mode: 'durable' | 'volatile'): string =>
  mode === 'durable' ? 'A restart would keep every name.' : 'A restart would lose the names that are marked.'

export function recoverText({ recover, reason }: Pick<ReplListName, 'recover' | 'reason'>): string {
  switch (recover) {
    case 'lost':
      return reason === undefined ? 'lost at a restart' : `lost at a restart: ${reason.replaceAll('-', ' ')}`
    case 'exact':
      return 'kept'
    case 'replayed':
      return 'kept, by running again'
    case 'snapshot':
      return 'kept, as a copy'
    default:
      return recover satisfies never
  }
}
