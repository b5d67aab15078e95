#!/usr/bin/env node
/**
 * What `npm start`, `npm test` and the other scripts run: set up what is missing, then the step
 * itself on a Node that Outrigger supports. Works with Node 20 and npm alone.
 */
import { join } from 'node:path'
import { build, ensureAll, fail, root, step } from './toolchain.mjs'

const bin = (name, file) => join(root, 'node_modules', name, file)
const [command, ...rest] = process.argv.slice(2)

const steps = {
  setup: () => 0,
  build: () => {
    build()
    return 0
  },
  start: () => step(['dist/cli/main.js', 'demo', ...rest]),
  test: () => step([bin('vitest', 'vitest.mjs'), 'run', ...rest]),
  check: () =>
    firstFailure([
      [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.json'],
      [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.types.json', '--noEmit'],
      [bin('@biomejs/biome', 'bin/biome'), 'ci', '.'],
      [bin('knip', 'bin/knip.js')],
      [bin('publint', 'src/cli.js'), '--strict'],
    ]),
  bench: () => step(['bench/run.ts', ...rest]),
}

function firstFailure(commands) {
  for (const args of commands) {
    const code = step(args)
    if (code !== 0) return code
  }
  return 0
}

if (!(command in steps)) fail(`no step "${command}"`, `use one of: ${Object.keys(steps).join(', ')}`)
ensureAll()
process.exitCode = steps[command]()
