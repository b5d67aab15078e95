/** Named states in which something works less well; never silence. */
import type { Modes } from './project.ts'

export function createModes(): Modes {
  const held = new Map<string, string>()
  return {
    set(name, why) {
      if (why === undefined) held.delete(name)
      else held.set(name, why)
    },
    list: () => [...held].map(([name, why]) => ({ name, why })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}
