/**
 * Who was told already that nothing is kept: without a store a hook's process remembers nothing, so the
 * sessions stand in a file of the user's cache.
 */
import { cacheFile } from '../runtime/cache.ts'
import type { Project } from '../runtime/project.ts'

const header = 'sessions 1'
const maxSessions = 100

/** `true`: this session was not told before. Where it cannot be noted, only the session's start tells. */
export async function isFirstTelling(project: Project, session: string, isStart: boolean): Promise<boolean> {
  const file = cacheFile(project.files, () => project.places.userCache, 'hook/told-no-store')
  const told = decode(file.load(header))
  if (told.includes(session)) return false
  const isNoted = await file.save(header, new TextEncoder().encode([...told, session].slice(-maxSessions).join('\n')))
  return isNoted || isStart
}

function decode(body: Uint8Array | 'rebuilt' | undefined): readonly string[] {
  return body === undefined || body === 'rebuilt' ? [] : new TextDecoder().decode(body).split('\n')
}
