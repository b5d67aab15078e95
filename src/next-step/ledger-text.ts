/** The engine's own line of a ledger record, for people. */
import { failureText, holdText, stopText } from './texts.ts'

const whats: Readonly<Record<string, string>> = {
  skip: 'no step was looked for',
  claim: 'a step is looked for',
  ready: 'a step is offered',
  quiet: 'nothing to offer',
  failed: 'no step was found',
  supersede: 'the offer was withdrawn',
  late: 'an answer came too late',
  fire: 'autorun sends the step',
  start: 'the step began its turn',
  refund: 'the step was taken back; its round does not count',
  hold: 'autorun waits',
  warn: 'a warning',
  arm: 'autorun was armed',
  regrant: 'autorun got a new allowance',
  disarm: 'autorun ended',
  run: 'a person ran the step',
  dismiss: 'a person dismissed the step',
  off: 'next was turned off',
  on: 'next was turned on',
  model: 'a person named the model',
  displace: 'the goal keeps its objective but not its own rounds',
  check: 'the condition of the loop',
  judge: 'the judge said',
  recover: 'what a process that ended had left was tidied',
  refuse: 'a request was refused',
}

export function ledgerText(what: string, reason: string): string {
  const head = whats[what] ?? what
  if (what === 'hold') return `${head}: ${holdText(reason)}`
  if (what === 'disarm') return `${head}: ${stopText(reason)}`
  if (what === 'failed') return `${head}: ${failureText(reason, null)}`
  return `${head} (${reason})`
}
