/**
 * The browser half: one script that the host's module loader runs. React and the page's services are the page's own;
 * nothing of the host is imported.
 */
import { nextSettingsName } from '../web/next-shown.ts'
import { replPart, replSettingsName } from '../web/repl-shown.ts'
import { settingsName } from '../web/shown.ts'
import { type CardSpec, createCard } from './card.ts'
import { fields } from './fields.ts'
import { type FoldingPage, foldCheckpoints, type Observe } from './fold-checkpoints.ts'
import type { Surroundings } from './follow.ts'
import { createLine } from './line.ts'
import { createBar } from './next/bar.ts'
import { nextFields } from './next/fields.ts'
import { createReview } from './pack-review.ts'
import type { PageContext, PageDocument, PageWindow, React } from './page.ts'
import { createReplChip } from './repl-chip.ts'
import { replFields } from './repl-fields.ts'
import { createSharedFollow } from './shared-follow.ts'
import { styles } from './styles.ts'

declare const window: PageWindow
declare const document: PageDocument & FoldingPage
declare const MutationObserver: new (
  changed: (records: readonly PageMutation[]) => void,
) => { observe(root: unknown, what: object): void; disconnect(): void }

interface PageMutation {
  readonly target: { readonly nodeType: number }
  readonly type: string
  readonly addedNodes: Iterable<{ readonly nodeType: number }>
}

/** Nodes that came, or whose text changed. */
const observe: Observe = (root, changed) => {
  const observer = new MutationObserver(records =>
    changed(records.flatMap(record => (record.type === 'characterData' ? [record.target] : [...record.addedNodes]))),
  )
  observer.observe(root, { childList: true, characterData: true, subtree: true })
  return () => observer.disconnect()
}

const around: Surroundings = {
  fetch: (url, init) => fetch(url, { ...init, cache: 'no-store' }),
  isVisible: () => document.visibilityState === 'visible',
  onVisibility: changed => {
    document.addEventListener('visibilitychange', changed)
    return () => document.removeEventListener('visibilitychange', changed)
  },
  wait: ms => new Promise(resolve => setTimeout(resolve, ms)),
}

const nearer = (namespace: string, when: string): string =>
  `What is set here is nearer than the files of a project and counts for every project from the next ${when} on. Other keys: the section ${namespace} of settings.yaml.`

const cards: readonly (readonly [namespace: string, spec: CardSpec])[] = [
  [
    settingsName,
    { engine: 'keel', about: 'Documents that know when their sources moved', fields, note: nearer(settingsName, 'turn') },
  ],
  [
    replSettingsName,
    {
      engine: 'repl',
      about: 'Programs whose names stay from cell to cell',
      fields: replFields,
      note: nearer(replSettingsName, 'cell'),
    },
  ],
  [
    nextSettingsName,
    {
      engine: 'next',
      about: 'One suggested next step a turn, and a loop on a short leash',
      fields: nextFields,
      note: nearer(nextSettingsName, 'turn'),
    },
  ],
]

function apply(ctx: PageContext, react: React): void {
  ctx.effect(() => {
    const style = document.createElement('style')
    style.textContent = styles
    document.head.append(style)
    return () => style.remove()
  })

  const follow = createSharedFollow()
  const line = createLine(react, around, { [replPart]: createReplChip(react, around) }, follow)
  ctx.slots.inject('conversation.input.dock', () =>
    // Above the cards of the host, which stand at 0, 10 and 20.
    ctx.slots.register({ name: 'conversation.input.dock', id: 'outrigger', order: -10, inject: () => ({}) }, line),
  )

  const bar = createBar(react, around, document, follow)
  ctx.slots.inject('conversation.input.dock', () =>
    // Behind the host's own strips, next to the composer.
    ctx.slots.register({ name: 'conversation.input.dock', id: 'outrigger-next', order: 30, inject: () => ({}) }, bar),
  )

  ctx.effect(() => foldCheckpoints(document, observe, (ms, run) => void setTimeout(run, ms)))

  const review = createReview(react, around, follow)
  ctx.slots.inject('conversation.input.dock', () =>
    ctx.slots.register({ name: 'conversation.input.dock', id: 'outrigger-pack', order: 25, inject: () => ({}) }, review),
  )

  ctx.inject(['settingsScope'], scope => {
    for (const [namespace, spec] of cards) {
      const card = createCard(react, scope.settingsScope.bind({ namespace, decode: section => section }), spec)
      scope.slots.inject('settings.plugin.item', () =>
        scope.slots.register({ name: 'settings.plugin.item', key: namespace, inject: () => ({}) }, card),
      )
    }
  })
}

window.__ModuleLoader__.load({
  // The host knows a browser half by the name of the row that brings it.
  id: 'outrigger/dsh/core',
  factory: require => {
    const react = require('react') as React
    return { inject: ['slots'], apply: ctx => apply(ctx, react) }
  },
})
