/**
 * DSH homes with our packed bundle in a profile. The bundle is packed and installed once a run, as a person would do it; each test gets
 * a copy of that home, which is some 100 kB.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addPlugin, findHost, packageRoot, packPackage } from '../../../src/demo/host.ts'
import { onceARun } from '../once.ts'

export function temporaryFolder(label: string): string {
  return mkdtempSync(join(tmpdir(), `outrigger-${label}-`))
}

/** Pack the built package. The test commands build it first; a run of vitest alone needs `npm run build`. */
export async function packBuilt(into: string): Promise<string> {
  if (!existsSync(join(packageRoot(), 'dist', 'dsh', 'core.js'))) throw new Error('dist/ is not built: run `npm run build`')
  return packPackage(packageRoot(), into)
}

export interface PreparedHome {
  readonly tarball: string
  /** A home of its own with our bundle installed. */
  copy(): string
  /** Removes everything that was made, copies included. */
  remove(): void
}

/** Some seconds for the first test file of a run that asks for the profile. */
export async function prepareHome(profile: 'headless' | 'web' = 'headless'): Promise<PreparedHome> {
  const packs = await onceARun('packs', async folder => void (await packBuilt(folder)))
  const tarball = join(packs, readdirSync(packs)[0]!)
  const installed = join(
    await onceARun(`dsh-${profile}`, folder => addPlugin(findHost(), join(folder, 'home'), profile, tarball)),
    'home',
  )
  const folder = temporaryFolder('e2e')
  let copies = 0
  return {
    tarball,
    copy: () => {
      const home = join(folder, `home-${++copies}`)
      cpSync(installed, home, { recursive: true, verbatimSymlinks: true })
      return home
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}
