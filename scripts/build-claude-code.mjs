/**
 * Build the Claude Code plugin as a whole: what an install copies is this folder and nothing around it, so
 * the program is one file without dependencies, beside the worker of the REPL.
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
    entryPoints: ['src/cli/main.ts'],
    outfile: join(out, 'bin/outrigger.mjs'),
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
  return [program.metafile, ...(await buildWorker(join(out, 'bin/repl')))]
}
