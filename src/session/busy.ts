/** What keeps a session from being idle, as the set of reasons that hold now. Each engine orders them itself. */
import type { SessionEvent } from './events.ts'
import type { Busy } from './facts.ts'

/** The last that was reported of each. */
export interface Work {
  readonly turnOpen: boolean
  readonly typing: boolean
  readonly draining: boolean
  readonly queued: number
  readonly approvals: number
  readonly questions: number
  readonly children: number
  readonly jobs: number
  readonly otherLoop: boolean
  readonly planMode: boolean
}

export const noWork: Work = {
  turnOpen: false,
  typing: false,
  draining: false,
  queued: 0,
  approvals: 0,
  questions: 0,
  children: 0,
  jobs: 0,
  otherLoop: false,
  planMode: false,
}

export function foldWork(work: Work, event: SessionEvent): Work {
  if (event.agent !== undefined) return work
  switch (event.kind) {
    case 'session-started':
      if (event.source === 'compact') return work
      return event.source === 'clear' ? { ...work, turnOpen: false, typing: false, draining: false } : noWork
    case 'turn-started':
      return work.turnOpen ? work : { ...work, turnOpen: true }
    case 'turn-ended':
      return work.turnOpen ? { ...work, turnOpen: false } : work
    case 'person-spoke':
      return work.typing ? { ...work, typing: false } : work
    case 'draft-changed':
      return { ...work, typing: !event.empty }
    case 'work-changed':
      return {
        ...work,
        draining: event.draining ?? work.draining,
        queued: event.queued ?? work.queued,
        approvals: event.approvals ?? work.approvals,
        questions: event.questions ?? work.questions,
        children: event.children ?? work.children,
        jobs: event.jobs ?? work.jobs,
        otherLoop: event.otherLoop ?? work.otherLoop,
        planMode: event.planMode ?? work.planMode,
      }
    default:
      return work
  }
}

/** The reasons that hold, always in the same order. Empty: the session is idle. */
export function busy(work: Work): ReadonlySet<Busy> {
  const reasons = new Set<Busy>()
  if (work.turnOpen || work.draining) reasons.add('running')
  if (work.queued > 0) reasons.add('queued')
  if (work.approvals > 0) reasons.add('approval')
  if (work.questions > 0) reasons.add('asked')
  if (work.planMode) reasons.add('plan-mode')
  if (work.typing) reasons.add('typing')
  if (work.children > 0 || work.jobs > 0) reasons.add('background')
  if (work.otherLoop) reasons.add('other-loop')
  return reasons
}
