/** Notes that stay out of git: a line in the repository's own exclude file, which no commit carries. */
import type { PackDeps } from './deps.ts'
import { absolute, packFolder } from './files.ts'
import type { Placement } from './types.ts'

const row = `/${packFolder}/`

/** `null`: no repository. A work tree of its own keeps the file in the common folder. */
function excludeFile(deps: PackDeps): string | null {
  const git = absolute(deps, '.git')
  const kind = deps.files.stat(git)?.kind
  if (kind === 'folder') return `${git}/info/exclude`
  if (kind !== 'file') return null
  const folder = /^gitdir: (.+)$/m.exec(textOf(deps, git))?.[1]?.trim()
  if (folder === undefined) return null
  const own = folder.startsWith('/') ? folder : absolute(deps, folder)
  const common = textOf(deps, `${own}/commondir`).trim()
  return `${common === '' ? own : common.startsWith('/') ? common : `${own}/${common}`}/info/exclude`
}

function textOf(deps: PackDeps, path: string): string {
  return deps.files.stat(path)?.kind === 'file' ? Buffer.from(deps.files.read(path, 1024 * 1024)).toString('utf8') : ''
}

const hasRow = (text: string): boolean => text.split('\n').some(line => line.trim() === row)

export function isPrivate(deps: PackDeps): boolean {
  const file = excludeFile(deps)
  return file !== null && hasRow(textOf(deps, file))
}

/** Answers whether the line is there now; without a repository it never is. */
export async function setPrivate(deps: PackDeps, on: boolean): Promise<boolean> {
  const file = excludeFile(deps)
  if (file === null) return false
  const text = textOf(deps, file)
  if (hasRow(text) === on) return on
  const next = on
    ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${row}\n`
    : text
        .split('\n')
        .filter(line => line.trim() !== row)
        .join('\n')
  deps.files.makeFolder(file.slice(0, file.lastIndexOf('/')))
  await deps.files.replace(file, Buffer.from(next))
  return on
}

/** What git makes of the folder. */
export async function placementOf(deps: PackDeps): Promise<Placement> {
  const entries = await deps.git.indexEntries(deps.root)
  if (entries === undefined) return 'no-git'
  if (entries.some(entry => entry.path.startsWith(`${packFolder}/`))) return 'tracked'
  const untracked = (await deps.git.untracked(deps.root)) ?? []
  return untracked.some(path => path.startsWith(`${packFolder}/`)) ? 'neither' : 'ignored'
}
