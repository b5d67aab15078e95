/** next-step of one project: what its engine needs of the machine and the runtime. */
import { createNextEngine } from '../next-step/engine.ts'
import type { NextState } from '../next-step/state.ts'
import type { Engine } from '../session/engine.ts'
import { nextConfig } from './config-next.ts'
import type { Project } from './project.ts'

/** @param outline - open lines of a session's work stream, where there are any. */
export function nextEngineOf(project: Project, outline?: (session: string) => readonly string[]): Engine<NextState> {
  return createNextEngine({
    config: () => nextConfig(project.config.section('next')),
    clock: project.clock,
    store: () => project.sessionStore(),
    owner: () => project.processes.owner(),
    isAlive: owner => project.processes.isAlive(owner),
    log: (session, count) => logOf(project, session, count),
    ...(outline !== undefined && { outline }),
  })
}

async function logOf(project: Project, session: string, count: number): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const { at, what, reason, text } of project.ledger.read({ engine: 'next', session })) {
    lines.push(`${at} ${what} ${reason ?? ''} — ${text}`)
    if (lines.length > count) lines.shift()
  }
  return lines
}
