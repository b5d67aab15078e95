/**
 * Build `dist/`: one ESM bundle per entry with shared chunks, and the declarations.
 *
 * Our libraries are bundled, so that the package installs without a dependency and a command starts
 * without resolving two hundred files (docs/decisions/0002-libraries-are-bundled.md). The host's
 * packages stay imports: they must be the host's own instances.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildClaudeCode } from './build-claude-code.mjs'
import { buildWorker } from './build-worker.mjs'
import { root } from './toolchain.mjs'

/** Built beside and moved into place when everything went well: a failed build leaves the last good one. */
const out = join(root, `.dist-building-${process.pid}`)
process.on('exit', () => rmSync(out, { recursive: true, force: true }))

const entries = [
  'index',
  'cli/main',
  'dsh/core',
  'dsh/keel',
  'dsh/companion',
  'dsh/test-suggester',
  'dsh/pack',
  'dsh/repl',
  'dsh/repl-runtime',
  'dsh/demo-person',
  'dsh/next',
]
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: entries.map(entry => ({ in: `src/${entry}.ts`, out: entry })),
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  external: ['@deepseek-ai/*'],
  plugins: [lighterForms()],
  chunkNames: 'chunks/[name]-[hash]',
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
  // A bundled CommonJS library may call require for Node's own modules.
  banner: {
    js: "import { createRequire as __outriggerRequire } from 'node:module'; const require = __outriggerRequire(import.meta.url);",
  },
  define: { __OUTRIGGER_VERSION__: JSON.stringify(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version) },
})
// The browser half is one classic script: the page of the host runs it, and gives it React.
await build({
  absWorkingDir: root,
  entryPoints: ['src/dsh/client/main.ts'],
  outfile: join(out, 'dsh/client.js'),
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
})
chmodSync(join(out, 'cli/main.js'), 0o755)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const pluginMetafiles = await buildClaudeCode(join(out, 'claude-code'), { plugins: [lighterForms()], version })
const workerMetafiles = [...(await buildWorker(join(out, 'repl'))), ...pluginMetafiles]
writeLicences()

const typescript = join(root, 'node_modules/typescript/bin/tsc')
const types = spawnSync(process.execPath, [typescript, '-p', 'tsconfig.types.json', '--outDir', join(out, 'types')], {
  cwd: root,
  stdio: 'inherit',
})
if (types.status !== 0) process.exit(1)
putInPlace()

function putInPlace() {
  const dist = join(root, 'dist')
  const old = join(root, `.dist-old-${process.pid}`)
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(out, dist)
  rmSync(old, { recursive: true, force: true })
}

/** Forms of the same libraries that load faster: yaml as modules, entities without its encoder's tables. */
function lighterForms() {
  const forms = { yaml: 'browser/index.js', entities: 'lib/decode.js' }
  return {
    name: 'lighter-forms',
    setup(bundler) {
      bundler.onResolve({ filter: /^(yaml|entities)$/ }, async ({ path, resolveDir, kind, pluginData }) => {
        if (pluginData === 'whole') return undefined
        const whole = await bundler.resolve(path, { resolveDir, kind, pluginData: 'whole' })
        const folder = whole.path.slice(0, whole.path.lastIndexOf(`node_modules/${path}/`) + `node_modules/${path}/`.length)
        const form = join(folder, forms[path])
        return existsSync(form) ? { path: form } : whole
      })
    },
  }
}

/** The licences of the bundled libraries travel with them. */
function writeLicences() {
  const folders = new Set()
  for (const input of [metafile, ...workerMetafiles].flatMap(each => Object.keys(each.inputs))) {
    const at = input.lastIndexOf('node_modules/')
    if (at < 0) continue
    const parts = input.slice(at + 'node_modules/'.length).split('/')
    folders.add(join(root, input.slice(0, at), 'node_modules', ...parts.slice(0, parts[0].startsWith('@') ? 2 : 1)))
  }
  const texts = [...folders].sort().map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = ['LICENSE', 'LICENSE.md', 'LICENCE', 'license', 'LICENSE.txt', 'LICENSE-MIT'].find(candidate =>
      existsSync(join(folder, candidate)),
    )
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`}\n`
  })
  writeFileSync(join(out, 'THIRD-PARTY-LICENCES.txt'), texts.join(`\n${'-'.repeat(72)}\n\n`))
}
