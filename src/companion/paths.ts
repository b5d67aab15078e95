/** Paths of events and of people as the project's own: relative, with `/`, with every link resolved. */
import { isAbsolutePath, relativeTo, resolvePath, segments } from '../text/paths.ts'
import type { CompanionDeps } from './deps.ts'

type Deps = Pick<CompanionDeps, 'root' | 'files'>

/** What a call writes below these concerns nobody. */
const own: ReadonlySet<string> = new Set(['.outrigger', '.dsh', '.git'])

/**
 * @param cwd - absolute, or relative to the project.
 * @returns `null` for what lies outside of the project, by its spelling or through a link. The root is empty.
 */
export function projectPath(deps: Deps, given: string, cwd?: string): string | null {
  const base = cwd === undefined || cwd === '' ? deps.root : resolvePath(deps.root, cwd)
  for (const spelled of spellings(deps, given, base)) {
    const inside = insideOf(deps, spelled)
    if (inside !== null) return inside
  }
  return null
}

/** A `\` separates like `/`, unless a file of that very name is there. */
function spellings({ files }: Deps, given: string, base: string): readonly string[] {
  const plain = isAbsolutePath(given) ? given : resolvePath(base, given)
  if (!given.includes('\\')) return [plain]
  try {
    if (files.lstat(plain) !== undefined) return [plain]
  } catch {
    // What may not be looked at is not there.
  }
  const slashed = given.replaceAll('\\', '/')
  return [isAbsolutePath(slashed) ? slashed : resolvePath(base, slashed)]
}

function insideOf(deps: Deps, absolute: string): string | null {
  const inside = relativeTo(deps.root, absolute)
  if (inside === null) {
    const real = realInside(deps, absolute)
    return real
  }
  if (inside === '' || inside.startsWith('../')) return inside === '' ? '' : null
  return throughLinks(deps, inside)
}

/** The root may be spelled through a link by whoever calls. */
function realInside({ root, files }: Deps, absolute: string): string | null {
  const realRoot = files.realpath(root)
  return realRoot === undefined || realRoot === root ? null : relativeTo(realRoot, absolute)
}

/** Where a path leads when a link is on it; `null`: out of the project. What is not there yet is judged by the folder above it. */
function throughLinks({ root, files }: Deps, path: string): string | null {
  const realRoot = files.realpath(root) ?? root
  const parts = segments(path)
  for (let length = parts.length; length > 0; length--) {
    const head = parts.slice(0, length).join('/')
    let real: string | undefined
    try {
      if (files.lstat(`${root}/${head}`) === undefined) continue
      real = files.realpath(`${root}/${head}`)
    } catch {
      return null
    }
    if (real === undefined) return null
    const inside = relativeTo(realRoot, real)
    if (inside === null) return null
    return [inside, ...parts.slice(length)].filter(part => part !== '').join('/')
  }
  return path
}

/** Is it a file whose change may have companions? */
export const isJudgedPath = (path: string): boolean => path !== '' && !own.has(segments(path)[0]!)
