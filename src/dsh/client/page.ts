/** What the host's page gives to a plugin's browser half, as far as it is used here. */

/** The page's own React; elements are opaque. */
export interface React {
  createElement(type: string | Component<never>, props: object | null, ...children: readonly unknown[]): unknown
  useState<T>(initial: T | (() => T)): [T, (next: T | ((before: T) => T)) => void]
  useEffect(effect: () => undefined | (() => void), deps: readonly unknown[]): void
  useSyncExternalStore<T>(subscribe: (changed: () => void) => () => void, get: () => T): T
}

export type Component<P> = (props: P) => unknown

/** The host's settings as the page sees them, for one namespace. */
export interface SettingsScope {
  getSnapshot(): SettingsSnapshot
  subscribe(changed: () => void): () => void
  /** Writes a top-level field. Settles also when the host refused it. */
  set(field: string, value: unknown): Promise<void>
  unset(field: string): Promise<void>
}

export interface SettingsSnapshot {
  readonly status: 'loading' | 'ready' | 'unavailable'
  /** What counts: the person's values over the row's. */
  readonly value: unknown
  /** The person's values alone. */
  readonly user: unknown
  readonly writable: boolean
  /** `memory`: a browser on another machine, which may not write settings. */
  readonly mode: 'host' | 'memory'
}

export interface PageContext {
  inject(services: readonly string[], use: (scope: PageContext) => void): void
  effect(run: () => () => void): void
  readonly slots: {
    inject(slot: string, register: () => unknown): void
    register(options: Readonly<Record<string, unknown>>, component: Component<never>): unknown
  }
  readonly settingsScope: {
    bind(spec: { readonly namespace: string; readonly decode: (section: unknown) => unknown }): SettingsScope
  }
}

export interface PagePlugin {
  readonly inject: readonly string[]
  apply(ctx: PageContext): void
}

export interface PageWindow {
  readonly __ModuleLoader__: {
    load(module: { readonly id: string; readonly factory: (require: (name: string) => unknown) => PagePlugin }): void
  }
}

export interface PageKey {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly metaKey: boolean
  preventDefault(): void
  stopPropagation(): void
}

/** The composer's text field. */
export interface PageField {
  readonly value: string
  readonly selectionStart: number
  focus(): void
  getBoundingClientRect(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number }
}

export interface PageDocument {
  readonly activeElement: unknown
  readonly defaultView: {
    getComputedStyle(field: PageField): {
      readonly font: string
      readonly padding: string
      readonly lineHeight: string
    }
    addEventListener(type: 'resize', listener: () => void): void
    removeEventListener(type: 'resize', listener: () => void): void
  }
  querySelector(selector: string): PageField | null
  readonly visibilityState: 'visible' | 'hidden'
  addEventListener(type: 'keydown', listener: (event: PageKey) => void, capture: true): void
  addEventListener(type: 'visibilitychange' | 'transitionend', listener: () => void): void
  removeEventListener(type: 'keydown', listener: (event: PageKey) => void, capture: true): void
  removeEventListener(type: 'visibilitychange' | 'transitionend', listener: () => void): void
  createElement(tag: 'style'): PageElement
  readonly head: { append(element: PageElement): void }
}

interface PageElement {
  textContent: string | null
  remove(): void
}
