/**
 * What an engine may ask a door to do. An engine never assumes that it was done: what could not be
 * carried out comes back as `action-failed` with the action's id.
 */
import type { Json } from '../ports/json.ts'

/** The engines' words, everywhere: configuration section, `--engine`, `action.engine`, ledger. */
export type EngineName = 'keel' | 'companion' | 'repl' | 'pack' | 'next'

/** Order of handling and of merging. */
export const engineOrder: readonly EngineName[] = ['keel', 'companion', 'repl', 'pack', 'next']

interface Base {
  /** Unique in the process. */
  readonly id: string
  readonly engine: EngineName
}

export type ReplacedSource = 'test-suggester'

export type Action =
  | (Base & {
      readonly kind: 'add-context'
      readonly text: string /** At most 120 characters, for people. */
      readonly summary: string
      /** Kind under which a host files it, where it is not the engine's own: of a hook that the engine replaces. */
      readonly source?: ReplacedSource
    })
  | (Base & { readonly kind: 'hold-stop'; readonly text: string })
  | (Base & {
      readonly kind: 'notify'
      readonly level: 'info' | 'warning' | 'error'
      readonly text: string /** 1,000–60,000; 4,000 when absent. */
      readonly ms?: number
    })
  | (Base & { readonly kind: 'status'; readonly text: string | null; readonly urgent?: boolean })
  | (Base & {
      readonly kind: 'submit'
      readonly text: string
      readonly as: 'plugin' | 'person'
      readonly offer?: string
      /** Of a loop: the turn the offer was made for, and which round of how many it is. */
      readonly turn?: number
      readonly round?: number
      readonly of?: number
    })
  | (Base & {
      readonly kind: 'start-fresh'
      readonly seed: { readonly stream: string; readonly nonce: string; readonly text: string }
    })
  | (Base & { readonly kind: 'watch' /** Absolute. */; readonly paths: readonly string[] })
  | (Base & {
      readonly kind: 'show-offer'
      readonly offer: Readonly<Record<string, unknown>> | null
      /** Everything that a surface shows beside it: why there is none, the loop. */
      readonly view?: Readonly<Record<string, unknown>>
    })
  | (Base & {
      readonly kind: 'show-review'
      readonly review: {
        readonly id: string
        readonly title: string
        readonly markdown: string
        readonly buttons: readonly { readonly label: string; readonly key: string; readonly command: string }[]
      } | null
    })
  | (Base & {
      readonly kind: 'reply'
      readonly text: string
      readonly ok: boolean /** The same for a script. */
      readonly document?: Json
    })
  | (Base & { readonly kind: 'withdraw'; readonly offer: string; readonly why: string })
  | (Base & { readonly kind: 'verdict'; readonly offer: string; readonly admit: boolean; readonly why: string })
  | (Base & { readonly kind: 'displace-goal' })
  | (Base & { readonly kind: 'run-check'; readonly check: string; readonly command: string; readonly timeoutMs: number })
  | (Base & { readonly kind: 'cancel-check'; readonly check: string })
  | (Base & { readonly kind: 'cancel-model'; readonly ask: string })
  | (Base & {
      readonly kind: 'ask-model'
      readonly prompt: string
      readonly system?: string
      readonly purpose?: string
      readonly mode: 'session' | 'aside'
      readonly model?: string
      readonly maxTokens: number
      readonly timeoutMs: number
    })
  /** The runtime's own timers; never printed, never sent to a door. */
  | (Base & { readonly kind: 'wake'; readonly key: string /** ms since the epoch. */; readonly due: number })
  | (Base & { readonly kind: 'cancel-wake'; readonly key: string })

export type ActionKind = Action['kind']
export type ActionOf<K extends ActionKind> = Extract<Action, { readonly kind: K }>

/** Why an action was not carried out. */
export type FailureReason = 'no-carrier' | 'over-budget' | 'held-already' | 'unsupported' | `host:${string}`
