/**
 * Every test process finds caches, states and settings of a throwaway home; the home itself stays, npm's settings are in it.
 * `OUTRIGGER_TESTS_FOLDER` is the folder of the run, for what several test files share.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-tests-'))
  for (const name of ['XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME']) process.env[name] = join(folder, name.toLowerCase())
  process.env['OUTRIGGER_TESTS_FOLDER'] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
