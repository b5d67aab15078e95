/** Background work that lets the host's other work run. */
const breathEveryMs = 8

export interface Pace {
  /** Resolves after a moment's rest; `undefined`: go on at once. */
  rest(): Promise<void> | undefined
}

export function createPace(): Pace {
  let rested = performance.now()
  let asked = 0
  return {
    rest() {
      asked += 1
      if (asked % 16 !== 0 || performance.now() - rested < breathEveryMs) return undefined
      return new Promise(resolve => {
        setImmediate(() => {
          rested = performance.now()
          resolve()
        })
      })
    },
  }
}
