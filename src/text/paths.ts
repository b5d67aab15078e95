/**
 * Paths as text: project-relative ones with `/`, absolute ones of POSIX and Windows. Nothing here looks
 * at a disk, and names are compared byte by byte.
 */

const drive = /^[A-Za-z]:(?=[\\/])/

/** `/…`, `C:\…`, `C:/…` or `\\server\…`. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || path.startsWith('\\\\') || drive.test(path)
}

/** `C:` of a path with a drive, in upper case; `null` without one. */
export function driveOf(path: string): string | null {
  return drive.exec(path)?.[0].toUpperCase() ?? null
}

/** Every `\` as `/`. For paths of Windows and refs written there; on POSIX a `\` may be part of a name. */
export function toPosix(path: string): string {
  return path.replaceAll('\\', '/')
}

/** Names between the slashes; empty ones and `.` left out. */
export function segments(path: string): string[] {
  return path.split('/').filter(segment => segment !== '' && segment !== '.')
}

/** Last segment. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Without the last segment; empty for a name alone, `/` for one at the root. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === 0 ? '/' : path.slice(0, Math.max(slash, 0))
}

/** With its dot, in lower case; empty without one. A dot at the start of a name begins no extension. */
export function extensionOf(path: string): string {
  const name = baseName(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot).toLowerCase()
}

/**
 * A ref read from a folder, `.` and `..` worked off.
 *
 * @param folder - project-relative (empty: the project's root) or absolute.
 * @param ref - an absolute ref stands for itself.
 * @returns in the form of `folder`; one that climbs out of the project begins with `..`.
 */
export function resolvePath(folder: string, ref: string): string {
  if (isAbsolutePath(ref)) return cleanPath(ref)
  return cleanPath(folder === '' || folder.endsWith('/') ? folder + ref : `${folder}/${ref}`)
}

/** `.`, `..` and repeated slashes worked off; `..` above a root is dropped, above a relative start it stays. */
export function cleanPath(path: string): string {
  const prefix = rootOf(path)
  const kept: string[] = []
  for (const segment of segments(path.slice(prefix.length))) {
    if (segment !== '..') kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (prefix === '') kept.push(segment)
  }
  return prefix + kept.join('/')
}

/** Whether a path cleaned by `resolvePath` leaves the project. */
export function leavesProject(path: string): boolean {
  return path === '..' || path.startsWith('../') || isAbsolutePath(path)
}

/**
 * The project-relative form of an absolute path, or `null` for one that is not below `root`. A drive letter
 * and the slashes of a path with a drive are compared as Windows does; the root itself is empty.
 */
export function relativeTo(root: string, path: string): string | null {
  const [base, full] = [absoluteForm(root), absoluteForm(path)]
  if (full === base) return ''
  const below = base.endsWith('/') ? base : `${base}/`
  return full.startsWith(below) ? full.slice(below.length) : null
}

/** An absolute path from a project-relative one; an absolute one stays. */
export function absoluteIn(root: string, path: string): string {
  return resolvePath(absoluteForm(root), path)
}

/** `%XX` undone, or `null` when there is none, or the bytes are not valid UTF-8. */
export function decodePercent(text: string): string | null {
  if (!/%[0-9A-Fa-f]{2}/.test(text)) return null
  try {
    // A `%` without two hex digits is itself.
    return decodeURIComponent(text.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'))
  } catch {
    return null // The only thing that is thrown is a URIError, for bytes that are not UTF-8.
  }
}

/** For URIs: every byte percent-encoded but unreserved ones and `/`. */
export function encodePercent(path: string): string {
  return path
    .toWellFormed()
    .split('/')
    .map(segment => encodeURIComponent(segment).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`))
    .join('/')
}

function absoluteForm(path: string): string {
  const letter = driveOf(path)
  if (letter !== null) return cleanPath(letter + toPosix(path.slice(2)))
  return cleanPath(path.startsWith('\\\\') ? toPosix(path) : path)
}

function rootOf(path: string): string {
  if (/^\/\/[^/]/.test(path)) return '//'
  if (path.startsWith('/')) return '/'
  return /^[A-Za-z]:[\\/]/.exec(path)?.[0] ?? ''
}
