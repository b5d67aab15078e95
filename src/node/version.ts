/** The version of this package: put in by the build, read from `package.json` when it runs from its sources. */
import { readFileSync } from 'node:fs'

declare const __OUTRIGGER_VERSION__: string | undefined

export function packageVersion(): string {
  if (typeof __OUTRIGGER_VERSION__ === 'string') return __OUTRIGGER_VERSION__
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return version
}
