/** One engine's step in one session: its state is saved by compare-and-set before anything it asks for leaves. */
import { OutriggerError } from '../errors.ts'
import type { AnyEngine, Step } from '../session/engine.ts'
import type { Documents } from './documents.ts'
import { type Cell, stateKey } from './live.ts'

/** Lost races in a row after which it is a failure. */
const maxTries = 8

export async function loadCell(
  engine: AnyEngine,
  session: string,
  documents: Documents,
): Promise<{ cell: Cell; failure?: unknown }> {
  const cell: Cell = { engine, state: engine.initial, version: 0, json: '', failures: 0, mode: 'on', told: new Set() }
  const failure = await reload(cell, session, documents)
  return failure === undefined ? { cell } : { cell, failure }
}

/** Take the stored state; where there is none (any more), what is known here stays. A document that cannot be read counts as none. @returns what was wrong with it. */
async function reload(cell: Cell, session: string, documents: Documents): Promise<unknown> {
  const stored = await documents.get(stateKey(cell.engine.name, session))
  if (stored === undefined) {
    cell.version = 0
    cell.json = ''
    return undefined
  }
  cell.version = stored.version
  try {
    cell.state = cell.engine.decode(stored.value)
    cell.json = JSON.stringify(stored.value)
    return undefined
  } catch (error) {
    cell.state = cell.engine.initial
    cell.json = ''
    return error
  }
}

/** Run a step until its state is saved. Rejects with what the engine threw; its state is then as before. */
export async function runStep(
  cell: Cell,
  session: string,
  documents: Documents,
  step: (state: unknown) => Promise<Step<unknown>>,
): Promise<Step<unknown>> {
  for (let tries = 1; ; tries++) {
    const result = await step(cell.state)
    if (result.state === cell.state) return result
    if (cell.version === 0 && cell.engine.isForgettable?.(result.state) === true) {
      cell.state = result.state
      return result
    }
    const value = cell.engine.encode(result.state)
    const json = JSON.stringify(value)
    if (json === cell.json) {
      cell.state = result.state
      return result
    }
    const saved = await documents.put(stateKey(cell.engine.name, session), value, cell.version)
    if (saved.kind !== 'moved') {
      cell.state = result.state
      if (saved.kind === 'saved') {
        cell.version = saved.version
        cell.json = json
      }
      return result
    }
    if (tries === maxTries) {
      throw new OutriggerError('STORE_BUSY', `the state of ${cell.engine.name} moved ${maxTries} times while it was handled`, {
        subject: session,
        exit: 4,
      })
    }
    await reload(cell, session, documents)
  }
}
