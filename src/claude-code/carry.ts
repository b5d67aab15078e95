/** Carries out what the engines ask for beside context and holds. What cannot be done goes back with its reason. */
import type { Action, ActionOf } from '../session/actions.ts'
import type { SessionEvent } from '../session/events.ts'
import { usageOf } from './events.ts'
import type { Host } from './host.ts'
import { offerOf, reviewPane, type Shown, statusText } from './shown.ts'

/** A submission of ours that waits for the session to be idle, or for its turn to begin. */
export interface Submission {
  readonly action: string
  readonly text: string
  readonly offer: string | undefined
  withdrawn: boolean
  /** Our own hook refused it: that it did not start is no failure. */
  refused: boolean
}

export interface Carrier {
  /** Timers and slow calls run on after this returns. */
  carry(host: Host, session: string, action: Action): Promise<void>
  /** The submission with this text whose turn would begin now. */
  submissionOf(text: string): Submission | undefined
}

type Tell = (host: Host, event: Unplaced) => Promise<void>
/** An event without the fields that the door adds. */
export type Unplaced = SessionEvent extends infer E ? (E extends SessionEvent ? Omit<E, 'project' | 'at'> : never) : never

const outputChars = 20_000
const soonMs = 10
/** `/clear` inside a hook of ours is refused; the host is done with it by then. */
const clearMs = 50

export function createCarrier(shown: Shown, tell: Tell): Carrier {
  const waiting: Submission[] = []
  const dropped = new Set<string>()

  const failed = (host: Host, session: string, action: string, reason: string): Promise<void> =>
    tell(host, { kind: 'action-failed', session, action, reason })

  const submit = async (host: Host, session: string, action: ActionOf<'submit'>): Promise<void> => {
    const mine: Submission = { action: action.id, text: action.text, offer: action.offer, withdrawn: false, refused: false }
    waiting.push(mine)
    let drop: string | undefined
    try {
      drop = (await host.submit(action.text, action.as === 'person')).drop
    } catch (error) {
      drop = message(error)
    } finally {
      waiting.splice(waiting.indexOf(mine), 1)
    }
    if (drop === undefined || mine.refused || mine.withdrawn) return
    if (action.offer !== undefined) await tell(host, { kind: 'submit-failed', session, offer: action.offer, message: drop })
    else await failed(host, session, action.id, `host:${drop.slice(0, 200)}`)
  }

  const ask = async (host: Host, session: string, action: ActionOf<'ask-model'>): Promise<void> => {
    const { id, prompt, system, mode, model, maxTokens, timeoutMs } = action
    try {
      const answer =
        mode === 'session'
          ? await host.fork(system === undefined ? prompt : `${system}\n\n${prompt}`)
          : await host.complete({
              model: modelName(model),
              prompt,
              ...(system !== undefined && { system }),
              maxTokens,
              timeoutMs,
            })
      if (dropped.delete(id)) return
      if (!answer.isAnswered) return await tell(host, { kind: 'model-failed', session, ask: id, reason: answer.reason })
      const usage = usageOf(answer.usage)
      await tell(host, { kind: 'model-answered', session, ask: id, text: answer.text, ...(usage !== undefined && { usage }) })
    } catch (error) {
      if (dropped.delete(id)) return
      await tell(host, { kind: 'model-failed', session, ask: id, reason: 'host', message: message(error) })
    }
  }

  const check = async (host: Host, session: string, action: ActionOf<'run-check'>): Promise<void> => {
    const about = { kind: 'check-finished', session, check: action.check } as const
    let event: Unplaced
    try {
      const ran = await host.run(['sh', '-c', action.command], { cwd: await host.root(), timeoutMs: action.timeoutMs })
      event = { ...about, exit: ran.exitCode, output: tail([ran.stdout, ran.stderr].filter(part => part !== '').join('\n')) }
    } catch (error) {
      const text = message(error)
      event = { ...about, exit: null, output: text, ...(/still running/.test(text) && { timedOut: true }) }
    }
    if (!dropped.delete(action.check)) await tell(host, event)
  }

  const fresh = async (host: Host, session: string, id: string): Promise<void> => {
    try {
      await host.clear()
    } catch (error) {
      await failed(host, session, id, `host:${message(error).slice(0, 200)}`)
    }
  }

  const show = async (host: Host, action: Action): Promise<void> => {
    if (action.kind === 'show-offer') {
      shown.offer = offerOf(action.offer)
      if (shown.offer !== null) await host.suggest(shown.offer.text)
    } else if (action.kind === 'show-review') {
      shown.review = action.review
      if (action.review === null) await host.closePane(reviewPane)
      else await host.openPane(reviewPane, action.review.title)
    }
    await host.redraw()
  }

  const carry = async (host: Host, session: string, action: Action): Promise<void> => {
    switch (action.kind) {
      case 'notify':
        return host.toast(action.text, action.ms ?? 4_000)
      case 'status':
        shown.status = action.text
        return host.status(statusText(action.text))
      case 'show-offer':
      case 'show-review':
        return show(host, action)
      case 'submit':
        return host.later(soonMs, () => submit(host, session, action))
      case 'withdraw':
        for (const each of waiting) if (each.offer === action.offer) each.withdrawn = true
        return
      case 'ask-model':
        return host.later(soonMs, () => ask(host, session, action))
      case 'cancel-model':
        dropped.add(action.ask)
        return
      case 'run-check':
        return host.later(soonMs, () => check(host, session, action))
      case 'cancel-check':
        dropped.add(action.check)
        return
      case 'start-fresh':
        return host.later(clearMs, () => fresh(host, session, action.id))
      case 'watch':
      case 'verdict':
      case 'reply':
        // Each belongs to the answer of one event; elsewhere nobody waits for it.
        return
      default:
        return failed(host, session, action.id, 'no-carrier')
    }
  }

  return {
    async carry(host, session, action) {
      try {
        await carry(host, session, action)
      } catch (error) {
        await failed(host, session, action.id, `host:${message(error).slice(0, 200)}`)
      }
    },
    submissionOf: text => waiting.find(each => each.text === text),
  }
}

/** The host wants its own name of a model; ours has the provider before it. */
function modelName(model: string | undefined): string {
  if (model === undefined || model === '') return 'haiku'
  return model.slice(model.indexOf('/') + 1)
}

function tail(text: string): string {
  return text.length <= outputChars ? text : `…${text.slice(-outputChars)}`
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
