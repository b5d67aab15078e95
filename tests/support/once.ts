/** What several test files of a run share and is made by the first of them. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The others wait for the first; where it failed, the next one tries.
 *
 * @returns the folder that `make` filled. It goes away with the run: change nothing in it.
 */
export async function onceARun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(process.env['OUTRIGGER_TESTS_FOLDER']!, name)
  const isMade = `${folder}.made`
  const lock = `${folder}.lock`
  for (const deadline = Date.now() + 110_000; !existsSync(isMade); await new Promise(resolve => setTimeout(resolve, 50))) {
    if (Date.now() > deadline) throw new Error(`nobody has made ${folder}`)
    try {
      mkdirSync(lock)
    } catch {
      continue
    }
    try {
      mkdirSync(folder, { recursive: true })
      if (!existsSync(isMade)) await make(folder)
      writeFileSync(isMade, '')
    } finally {
      rmdirSync(lock)
    }
  }
  return folder
}
