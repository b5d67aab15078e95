/**
 * Wikilink names: documents by base name without extension, case-folded, or by the end of their path
 * when the name has a `/`. One map per listing of the project; built when the first name is asked for.
 */

export interface WikilinkMap {
  /** Documents that the name could mean, in the order of the listing; several, one or none. */
  find(name: string): readonly string[]
}

/** @param documents - project-relative paths of all listed documents. */
export function createWikilinkMap(documents: readonly string[]): WikilinkMap {
  let byBaseName: ReadonlyMap<string, readonly Named[]> | undefined

  return {
    find(name) {
      const wanted = foldName(name.trim().replace(/^\/+/u, ''))
      if (wanted === '') return []
      byBaseName ??= groupByBaseName(documents)
      const hits = byBaseName.get(baseNameOf(wanted)) ?? []
      const fitting = hits.filter(hit => !wanted.includes('/') || hit.folded === wanted || hit.folded.endsWith('/' + wanted))
      return fitting.map(hit => hit.path)
    },
  }
}

interface Named {
  readonly path: string
  readonly folded: string
}

function groupByBaseName(documents: readonly string[]): ReadonlyMap<string, readonly Named[]> {
  const groups = new Map<string, Named[]>()
  for (const path of documents) {
    const folded = foldName(path)
    const key = baseNameOf(folded)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ path, folded }])
    else group.push({ path, folded })
  }
  return groups
}

function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Without extension, in NFC, case-folded: by way of upper case, so that `ß` and `SS`, `ς` and `σ` are the same. */
function foldName(name: string): string {
  const bare = name.replace(/\.(?:md|markdown)$/iu, '')
  if (/^[\x20-\x7e]*$/u.test(bare)) return bare.toLowerCase()
  return bare.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}
