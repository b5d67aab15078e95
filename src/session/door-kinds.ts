import type { ActionKind } from './actions.ts'

/** Every kind that a door may be asked to carry out; the compiler sees to it that none is missing. */
export const doorKinds: readonly ActionKind[] = Object.keys({
  'add-context': true,
  'hold-stop': true,
  notify: true,
  status: true,
  submit: true,
  'start-fresh': true,
  watch: true,
  'show-offer': true,
  'show-review': true,
  reply: true,
  withdraw: true,
  verdict: true,
  'displace-goal': true,
  'run-check': true,
  'cancel-check': true,
  'ask-model': true,
  'cancel-model': true,
} satisfies Record<Exclude<ActionKind, 'wake' | 'cancel-wake'>, true>) as ActionKind[]
