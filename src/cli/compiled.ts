/**
 * The compiled form of our bundles, kept in the user's cache folder: a host starts this program on every
 * tool call, and half of a short run is compiling (docs/decisions/0072-keep-the-compiled-form.md).
 */
import * as nodeModule from 'node:module'
import { join } from 'node:path'

/** Works for what is imported after it. Without a home folder, or one that cannot be written, nothing is kept. */
export function keepCompiled(env: Readonly<Record<string, string | undefined>>): void {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = env
  const cache = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : LOCALAPPDATA)
  if (cache) nodeModule.enableCompileCache(join(cache, 'outrigger', 'compiled'))
}
