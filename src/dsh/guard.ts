/** Nothing that goes wrong on our side reaches the host's turn; a person reads of it once. */

export interface Guard {
  /** Tell a person, once for each key. */
  tellOnce(key: string, text: string): void
  /**
   * Run what the host waits for.
   *
   * @param about - whose it is: a fault of the same code is told once for each.
   * @param otherwise - the answer when it fails.
   */
  run<T>(about: string, what: string, otherwise: T, run: () => Promise<T>): Promise<T>
  /** Run what the host does not wait for. */
  start(about: string, what: string, run: () => Promise<unknown>): void
}

export function createGuard(warn: (text: string) => void): Guard {
  const told = new Set<string>()

  const tellOnce = (key: string, text: string): void => {
    if (told.has(key)) return
    told.add(key)
    warn(`outrigger: ${text}`)
  }

  const guarded = async <T>(about: string, what: string, otherwise: T, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      const code = codeOf(error)
      const why = error instanceof Error ? error.message : String(error)
      tellOnce(`${about} ${code}`, `could not handle ${what} (${code}): ${why}`)
      return otherwise
    }
  }

  return {
    tellOnce,
    run: guarded,
    start: (about, what, run) => void guarded<unknown>(about, what, undefined, run),
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'INTERNAL'
}
