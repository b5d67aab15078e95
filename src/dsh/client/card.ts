/** An engine's card on the settings page. A person's changes wait for Save, as in the host's own cards; what the host refuses stays a draft. */
import type { Json } from '../../ports/json.ts'
import { type Field, valueAt, writesOf } from './fields.ts'
import type { Component, React, SettingsScope, SettingsSnapshot } from './page.ts'

type Drafts = ReadonlyMap<string, Json | undefined>

/** The option of a key that this page does not set. */
const unset = ''

export interface CardSpec {
  /** `keel` */
  readonly engine: string
  /** One line below the name. */
  readonly about: string
  readonly fields: readonly Field[]
  /** Below the header, when values can be changed. */
  readonly note: string
}

export function createCard(react: React, scope: SettingsScope, spec: CardSpec): Component<object> {
  const { engine, fields } = spec
  const { createElement, useState, useSyncExternalStore } = react
  const subscribe = (changed: () => void) => scope.subscribe(changed)
  const get = () => scope.getSnapshot()

  const save = async (user: unknown, drafts: Drafts): Promise<Drafts> => {
    for (const [field, value] of writesOf(user, drafts))
      await (value === undefined ? scope.unset(field) : scope.set(field, value))
    // The host alone says whether a value was taken: what is not there afterwards was not.
    const after = scope.getSnapshot().user
    return new Map([...drafts].filter(([path, value]) => valueAt(after, path) !== value))
  }

  return () => {
    const snapshot = useSyncExternalStore(subscribe, get)
    const [isOpen, setOpen] = useState(false)
    const [drafts, setDrafts] = useState<Drafts>(new Map())
    const [state, setState] = useState<'idle' | 'saving' | 'refused'>('idle')
    if (snapshot.status === 'unavailable') return null

    const isWritable = snapshot.writable && snapshot.mode === 'host'
    const isBusy = state === 'saving'
    const hasDrafts = drafts.size > 0

    const isRefused = (field: Field): boolean => {
      const draft = drafts.get(field.path)
      return draft !== undefined && !field.isFine(draft)
    }
    const canSave = hasDrafts && !isBusy && isWritable && !fields.some(isRefused)

    const edit = (field: Field, text: string): void => {
      const value = typedValue(field, text)
      setState('idle')
      setDrafts(before => {
        const next = new Map(before)
        if (value === valueAt(snapshot.user, field.path)) next.delete(field.path)
        else next.set(field.path, value)
        return next
      })
    }
    const onSave = async (): Promise<void> => {
      setState('saving')
      const left = await save(snapshot.user, drafts)
      setDrafts(left)
      setState(left.size > 0 ? 'refused' : 'idle')
    }

    const button = (kind: string, text: string, isDisabled: boolean, onClick: () => void) =>
      createElement('button', { type: 'button', className: `outrigger-${kind}`, disabled: isDisabled, onClick }, text)

    const header = createElement(
      'button',
      {
        type: 'button',
        className: 'outrigger-card-header',
        'aria-expanded': isOpen,
        'aria-label': `${isOpen ? 'Collapse' : 'Expand'}: Outrigger ${engine}`,
        onClick: () => setOpen(!isOpen),
      },
      createElement(
        'span',
        { className: 'outrigger-card-head' },
        createElement('span', { className: 'outrigger-card-name' }, `Outrigger: ${engine}`),
        createElement('span', { className: 'outrigger-card-about' }, spec.about),
      ),
      hasDrafts ? createElement('span', { className: 'outrigger-badge' }, 'Unsaved') : null,
      createElement('span', { className: 'outrigger-chevron', 'aria-hidden': true }),
    )
    if (!isOpen) return createElement('li', { className: 'outrigger-card', 'data-outrigger-card': engine }, header)

    const row = (field: Field) => {
      const id = `outrigger-${engine}-${field.path.replace('.', '-')}`
      return createElement(
        'div',
        { className: 'outrigger-field', key: field.path },
        createElement(
          'div',
          { className: 'outrigger-field-text' },
          createElement('label', { htmlFor: id, className: 'outrigger-label' }, field.label),
          createElement('p', { className: 'outrigger-hint' }, `${field.about} (${engine}.${field.path})`),
        ),
        field.choices.length > 0
          ? createElement(
              'select',
              controlOf(field, id),
              createElement('option', { value: unset }, unsetText(field, snapshot)),
              ...field.choices.map(({ text }) => createElement('option', { key: text, value: text }, text)),
            )
          : createElement('input', {
              ...controlOf(field, id),
              inputMode: field.kind === 'number' ? 'numeric' : 'text',
              placeholder: unsetText(field, snapshot),
              'aria-invalid': isRefused(field),
              title: field.allowed,
            }),
      )
    }

    const controlOf = (field: Field, id: string): object => {
      const has = drafts.has(field.path)
      return {
        id,
        className: `outrigger-select${isRefused(field) ? ' outrigger-invalid' : ''}`,
        disabled: !isWritable || isBusy,
        value: textOf(field, has ? drafts.get(field.path) : valueAt(snapshot.user, field.path)),
        onChange: (event: { readonly target: { readonly value: string } }) => edit(field, event.target.value),
      }
    }

    return createElement(
      'li',
      { className: 'outrigger-card outrigger-card-open', 'data-outrigger-card': engine },
      header,
      createElement(
        'div',
        { className: 'outrigger-card-body' },
        createElement('p', { className: 'outrigger-note' }, isWritable ? spec.note : readOnly),
        ...fields.map(row),
        createElement(
          'div',
          { className: 'outrigger-footer' },
          state === 'refused' ? createElement('p', { className: 'outrigger-refused', role: 'status' }, refused) : null,
          button('discard', 'Discard', !hasDrafts || isBusy, () => {
            setDrafts(new Map())
            setState('idle')
          }),
          button('save', isBusy ? 'Saving…' : 'Save', !canSave, () => void onSave()),
        ),
      ),
    )
  }
}

const readOnly = 'These values can be changed in a browser on the machine of the host only, where its settings can be written.'
const refused = 'The host did not take what is still marked as unsaved.'

function textOf({ choices }: Field, value: unknown): string {
  if (choices.length > 0) return choices.find(choice => choice.value === value)?.text ?? unset
  return typeof value === 'number' || typeof value === 'string' ? String(value) : unset
}

/** What is no number stays a text, which no field takes. */
function typedValue({ choices, kind }: Field, text: string): Json | undefined {
  if (choices.length > 0) return choices.find(choice => choice.text === text)?.value
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (kind === 'words') return trimmed
  return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : text
}

/** What counts for a key that the person does not set here. */
function unsetText(field: Field, { value, user }: SettingsSnapshot): string {
  const isOwn = valueAt(user, field.path) !== undefined
  const ofRow = isOwn ? unset : textOf(field, valueAt(value, field.path))
  return ofRow === unset ? 'not set here' : `not set here (${ofRow})`
}
