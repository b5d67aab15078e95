/**
 * The worker of the REPL as classic scripts, because the engine's half runs in a vm context of its own
 * (docs/decisions/0120-the-worker-runs-in-a-context-of-its-own.md). Used by the build, by the tests, and by a program that runs from its sources.
 *
 * `worker.cjs` starts; `worker-engine.cjs` is the engine; `worker-compiler.cjs` is loaded by the first cell that needs the second compiler. Beside each of
 * the latter lies V8's compiled form of it, which saves half of a cold start; another version of V8 takes the text instead.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from './toolchain.mjs'

const second = /^@babel\/(core|plugin-[a-z-]+)$/

/** Packages of the second compiler are asked for when they are used. */
const lateCompiler = {
  name: 'late-compiler',
  setup(build) {
    build.onResolve({ filter: second }, ({ path }) => ({ path, namespace: 'late' }))
    build.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: `const late = captured.compiler(${JSON.stringify(path)}); export default late.default; export const transformSync = late.transformSync`,
      loader: 'js',
    }))
  },
}

const wrapped = {
  // A context has the language only; what else the code needs is handed in, taken before a cell ran.
  banner: { js: '(function (module, exports, require, captured, process) {' },
  footer: { js: '})' },
  minify: true,
}

/** Writes the files into `folder`. @returns esbuild's metafiles, for the licences. */
export async function buildWorker(folder) {
  mkdirSync(folder, { recursive: true })
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22.19',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    // Read byte for byte, which is faster and takes half the memory.
    charset: 'ascii',
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.BABEL_TYPES_8_BREAKING': 'undefined',
      'process.env.BABEL_ENV': 'undefined',
      'import.meta.url': '"file:///worker.cjs"',
    },
  }
  const built = await Promise.all([
    build({ ...common, entryPoints: ['src/repl/worker/main.ts'], outfile: join(folder, 'worker.cjs') }),
    build({
      ...common,
      ...wrapped,
      entryPoints: ['src/repl/worker/engine.ts'],
      outfile: join(folder, 'worker-engine.cjs'),
      inject: ['src/repl/worker/globals.ts'],
      plugins: [lateCompiler],
    }),
    build({ ...common, ...wrapped, entryPoints: ['src/repl/worker/compiler.ts'], outfile: join(folder, 'worker-compiler.cjs') }),
  ])
  // Written by the worker itself after it has run once, so that functions of the first cell are in it.
  spawnSync(process.execPath, [join(folder, 'worker.cjs'), '--write-compiled'], { stdio: 'inherit', timeout: 30_000 })
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}\n')
  return built.map(each => each.metafile)
}
