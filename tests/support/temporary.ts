/** Folders of one test, gone when it is over. */
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty folder outside of every repository, its path free of links. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'outrigger-test-')))
  onTestFinished(() => {
    openUp(folder)
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** A folder that a test closed must be opened before it can be removed. */
function openUp(folder: string): void {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) openUp(join(folder, entry.name))
}
