/** The person's pack, the repository's and the built-in one as one. An edit acts on the next call. */
import { createHash } from 'node:crypto'
import type { CompanionDeps } from '../deps.ts'
import { byCodePoint } from '../names.ts'
import type { Compat, Intent, Layer } from '../types.ts'
import { builtinPacks } from './builtin.ts'
import { type PackReading, readPack } from './read.ts'
import type { Compiled, LoadedLayer } from './types.ts'

export interface Layers {
  /** @param root - absolute. */
  compile(root: string, compat: Compat): Compiled
}

type Deps = Pick<CompanionDeps, 'root' | 'files' | 'personFolder' | 'home'>

export function createLayers(deps: Deps): Layers {
  const compiled = new Map<string, { readonly stamp: string; readonly value: Compiled }>()
  return {
    compile(root, compat) {
      const files = filesOf(deps, root, compat)
      const stamp = files.map(({ file }) => stampOf(deps, file)).join('|')
      const key = `${compat} ${root}`
      const known = compiled.get(key)
      if (known?.stamp === stamp) return known.value
      const layers = files.map(({ layer, file }) => load(deps, root, layer, file))
      const value = merge([...layers, builtin(compat)])
      compiled.set(key, { stamp, value })
      return value
    },
  }
}

function filesOf(deps: Deps, root: string, compat: Compat): readonly { readonly layer: Layer; readonly file: string | null }[] {
  const name = `${slugOf(deps, root)}.yml`
  if (compat === 'playform') {
    const user = deps.home === null ? null : `${deps.home}/.dsh/playform/workspaces/${name}`
    return [
      { layer: 'user', file: user },
      { layer: 'repo', file: `${root}/.dsh/pack.yml` },
    ]
  }
  const user = deps.personFolder === null ? null : `${deps.personFolder}/${name}`
  const own = `${root}/.outrigger/pack.yml`
  const other = `${root}/.dsh/pack.yml`
  // Where there is neither, the one to write is shown.
  const isOther = stampOf(deps, own) === 'absent' && stampOf(deps, other) !== 'absent'
  return [
    { layer: 'user', file: user },
    { layer: 'repo', file: isOther ? other : own },
  ]
}

/** The root as a file name: readable, and distinct for every folder. */
export function slugOf({ files }: Pick<CompanionDeps, 'files'>, root: string): string {
  const real = (files.realpath(root) ?? root).replaceAll('\\', '/')
  const plain = real.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '')
  const hash = createHash('sha256').update(real, 'utf8').digest('hex').slice(0, 8)
  return `${plain.slice(-80)}-${hash}`
}

function stampOf({ files }: Pick<CompanionDeps, 'files'>, file: string | null): string {
  if (file === null) return 'absent'
  try {
    const link = files.lstat(file)
    if (link === undefined) return 'absent'
    const stat = files.stat(file)
    return stat === undefined ? 'dangling' : `${stat.kind} ${stat.inode} ${stat.size} ${stat.mtimeNs}`
  } catch {
    return 'unreadable'
  }
}

function load(deps: Deps, root: string, layer: Layer, file: string | null): LoadedLayer {
  const within = layer === 'repo' ? (deps.files.realpath(root) ?? root) : undefined
  const reading: PackReading = file === null ? { kind: 'absent' } : readPack(deps.files, file, within)
  const base = { layer, file, stamp: stampOf(deps, file) }
  switch (reading.kind) {
    case 'absent':
      return { ...base, status: 'absent', faults: [], warnings: [], pack: null }
    case 'ignored':
      return { ...base, status: 'ignored', faults: reading.faults, warnings: reading.warnings, pack: null }
    case 'pack':
      return { ...base, status: 'used', faults: [], warnings: reading.warnings, pack: reading.pack }
    default:
      return reading satisfies never
  }
}

function builtin(compat: Compat): LoadedLayer {
  return { layer: 'builtin', file: null, status: 'used', faults: [], warnings: [], pack: builtinPacks[compat], stamp: '' }
}

/** Near to far: an intent of a near layer replaces the one of the same id further away. */
function merge(layers: readonly LoadedLayer[]): Compiled {
  const intents = new Map<string, Intent & { readonly from: Layer }>()
  const conventions: Compiled['conventions'][number][] = []
  const claims = new Map<string, Compiled['claims'][number]>()
  let signature: readonly string[] | null = null
  let isClosed = false
  const seen: LoadedLayer[] = []
  for (const layer of layers) {
    const { pack } = layer
    if (isClosed && pack !== null) {
      seen.push({ ...layer, status: 'absent' })
      continue
    }
    seen.push(layer)
    if (pack === null) continue
    signature ??= pack.signature
    for (const intent of pack.intents) if (!intents.has(intent.id)) intents.set(intent.id, { ...intent, from: layer.layer })
    conventions.push(...pack.conventions)
    for (const claim of pack.claims) if (!claims.has(claim.id)) claims.set(claim.id, claim)
    if (pack.only) isClosed = true
  }
  const inOrder = [...intents.values()].sort((a, b) => a.priority - b.priority || byCodePoint(a.id, b.id))
  return { layers: seen, signature, intents: inOrder, conventions, claims: [...claims.values()] }
}
