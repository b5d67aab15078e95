/** Where the worker's program lies: beside the built program, or built from the sources into the folder for such things. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OutriggerError } from '../errors.ts'

const here = dirname(fileURLToPath(import.meta.url))
let found: string | undefined

/** Absolute path of `worker.cjs`; `worker-engine.cjs` lies beside it. Throws `REPL_UNAVAILABLE`. */
export function workerProgram(): string {
  found ??= builtProgram() ?? programOfSources()
  if (found !== undefined) return found
  throw new OutriggerError('REPL_UNAVAILABLE', 'the program of the REPL worker is missing', {
    subject: 'repl/worker.cjs',
    hint: 'build or install the package again',
    exit: 3,
  })
}

/** This file is part of a bundle at the top of `dist` or in one of its folders. */
function builtProgram(): string | undefined {
  return [here, dirname(here)].map(folder => join(folder, 'repl', 'worker.cjs')).find(path => existsSync(path))
}

function programOfSources(): string | undefined {
  const root = dirname(dirname(here))
  const script = join(root, 'scripts', 'build-worker.mjs')
  if (!existsSync(script)) return undefined
  const stamps = globSync('src/repl/**/*.ts', { cwd: root })
    .sort()
    .map(path => `${path} ${statSync(join(root, path)).mtimeMs}`)
  const key = createHash('sha256')
    .update([root, statSync(script).mtimeMs, ...stamps].join('\n'))
    .digest('hex')
    .slice(0, 16)
  const folder = join(root, 'node_modules', '.cache', `outrigger-worker-${key}`)
  const program = join(folder, 'worker.cjs')
  if (existsSync(program)) return program
  const building = `${folder}.${process.pid}`
  mkdirSync(building, { recursive: true, mode: 0o700 })
  const code = `import(${JSON.stringify(script)}).then(({ buildWorker }) => buildWorker(${JSON.stringify(building)}))`
  const built = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 60_000 })
  if (built.status !== 0) {
    throw new OutriggerError(
      'REPL_UNAVAILABLE',
      `the worker could not be built from its sources: ${built.stderr.trim().slice(0, 500)}`,
      { exit: 3 },
    )
  }
  try {
    renameSync(building, folder)
  } catch (error) {
    // Another process was first.
    if (!existsSync(program)) throw error
  }
  return program
}
