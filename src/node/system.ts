/** What doctor and `init` ask of the machine beside the ports. */
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { System } from '../runtime/project.ts'

export function nodeSystem(): System {
  return {
    nodeVersion: process.versions.node,
    program: packageOf(fileURLToPath(import.meta.url)),
    makeFolder: folder => mkdirSync(folder, { recursive: true, mode: 0o700 }),
    whyNotWritable(folder) {
      for (let there = folder; ; there = dirname(there)) {
        if (!existsSync(there) && dirname(there) !== there) continue
        try {
          accessSync(there, constants.W_OK | constants.X_OK)
          return undefined
        } catch (error) {
          return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
        }
      }
    },
  }
}

/** The package that this file runs from: built it lies two folders deep at most, as a source too. */
function packageOf(file: string): System['program'] {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) continue
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string; version: string }
    return {
      folder,
      name,
      version,
      isBuilt: existsSync(join(folder, 'dist', 'cli', 'main.js')),
    }
  }
  throw new Error(`no package around ${file}`)
}
