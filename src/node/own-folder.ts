/**
 * Outrigger's own folder stays in the project: a repository can bring `.outrigger`, or a file below it, as a link that leads elsewhere, and what is written
 * there by us must not follow it out. People's documents are another matter: a link to a file inside the project is theirs to make.
 */
import { dirname, join, sep } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'

/** The same files, whose writes below `<root>/.outrigger` are refused (`FILES_UNWRITABLE`, subject `ELOOP`) where a link leads out of the project. */
export function keepInside(files: Files, root: string): Files {
  const own = join(root, '.outrigger')
  const guard = (path: string): void => {
    if ((path === own || path.startsWith(own + sep)) && leadsOut(files, root, path)) {
      throw new OutriggerError('FILES_UNWRITABLE', `${path} leads out of the project through a link`, {
        subject: 'ELOOP',
        hint: 'replace the link by a folder or file of its own',
        exit: 3,
      })
    }
  }
  return {
    ...files,
    async replace(path, bytes, options) {
      guard(path)
      await files.replace(path, bytes, options)
    },
    async append(path, bytes) {
      guard(path)
      await files.append(path, bytes)
    },
    makeFolder(path, mode) {
      guard(path)
      files.makeFolder(path, mode)
    },
    remove(path) {
      guard(path)
      return files.remove(path)
    },
  }
}

/** Does what is there of the path lie outside the root, every link followed? A link to nothing counts as outside: a write would make its target. */
export function leadsOut(files: Pick<Files, 'lstat' | 'realpath'>, root: string, path: string): boolean {
  const inside = files.realpath(root) ?? root
  for (let at = path; at.length > root.length; at = dirname(at)) {
    if (files.lstat(at) === undefined) continue
    const real = files.realpath(at)
    return real === undefined || (real !== inside && !real.startsWith(inside + sep))
  }
  return false
}
