/** Paths of events: relative to the project with `/`, absolute outside it. Pure text; links are not followed. */

/**
 * @param project - absolute root.
 * @param path - as the tool was given it.
 * @param cwd - what a relative one starts from; default the root.
 */
export function placeIn(project: string, path: string, cwd: string = project): string {
  const root = normalize(project)
  const absolute = normalize(isAbsolute(path) ? path : `${cwd}/${path}`)
  if (absolute === root) return '.'
  const prefix = root.endsWith('/') ? root : `${root}/`
  return absolute.startsWith(prefix) ? absolute.slice(prefix.length) : absolute
}

const isAbsolute = (path: string) => path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\')

function normalize(path: string): string {
  const isWindows = /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\')
  const slashed = isWindows ? path.replaceAll('\\', '/') : path
  const parts: string[] = []
  for (const part of slashed.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return `${isWindows && !slashed.startsWith('/') ? '' : '/'}${parts.join('/')}`
}
