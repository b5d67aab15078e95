/**
 * Build the Claude Code plugin as a whole: what an install copies is this folder and nothing around it, so
 * the program has no dependencies. It is in pieces, as a host starts it all the time: each run loads what it needs, compiled once.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildWorker } from './build-worker.mjs'
import { root } from './toolchain.mjs'

/**
 * @param out - folder to make.
 * @param options.plugins - esbuild's, as the program's own build has them.
 * @returns metafiles of what was bundled.
 */
export async function buildClaudeCode(out, { plugins = [], version }) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  cpSync(join(root, 'src/claude-code/plugin'), out, { recursive: true })
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
  const manifest = join(out, '.claude-plugin/plugin.json')
  writeFileSync(manifest, `${JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), version }, null, 2)}\n`)
  // The program looks for the package around it.
  const { name, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(
    join(out, 'package.json'),
    `${JSON.stringify({ name, version, license, private: true, type: 'module' }, null, 2)}\n`,
  )
  const program = await build({
    absWorkingDir: root,
    entryPoints: [{ in: 'src/cli/main.ts', out: 'main' }],
    outdir: join(out, 'program'),
    outExtension: { '.js': '.mjs' },
    // Beside one another: the program finds its worker and its package from whichever of them asks.
    chunkNames: '[name]-[hash]',
    splitting: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    external: ['@deepseek-ai/*'],
    plugins,
    metafile: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as __outriggerRequire } from 'node:module'; const require = __outriggerRequire(import.meta.url);",
    },
    define: { __OUTRIGGER_VERSION__: JSON.stringify(version) },
  })
  mkdirSync(join(out, 'bin'))
  // Alone in its folder, which the host offers to shells.
  writeFileSync(join(out, 'bin/outrigger.mjs'), "#!/usr/bin/env node\nimport '../program/main.mjs'\n", { mode: 0o755 })
  // The host reads the module's source: functions that take `$` stay declarations, names stay as they are.
  await build({
    absWorkingDir: root,
    entryPoints: ['src/claude-code/mod/register.ts'],
    outfile: join(out, 'hooks/register.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    alias: { 'node:buffer': join(root, 'src/claude-code/mod/buffer.ts') },
    // The same where it is used as a global.
    inject: [join(root, 'src/claude-code/mod/buffer.ts')],
    plugins,
    treeShaking: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  return [program.metafile, ...(await buildWorker(join(out, 'program/repl')))]
}
