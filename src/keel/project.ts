/** One project's documents as verbs, sessions and doors meet them. The rules stand in the files it calls. */
import { OutriggerError } from '../errors.ts'
import { blameOf } from './blame.ts'
import { runBoundary } from './boundary.ts'
import { createClaims } from './claims.ts'
import { createCore, lastMove } from './core.ts'
import type { KeelDeps } from './deps.ts'
import { diffOf } from './edge-diff.ts'
import { applyFixes, proposeFixes } from './fix.ts'
import { largeFileBytes, sliceIds, streamedIds, writtenId } from './forms.ts'
import { readOrNull } from './history.ts'
import { byBytes, impactOf } from './impact.ts'
import { moveStamps } from './move-stamps.ts'
import { suspectKey } from './naming.ts'
import { absoluteOf, legacyOffPath, makeKeelFolder, offPath } from './places.ts'
import { parsedDocument } from './read-target.ts'
import { writeStatusFile } from './status.ts'
import type { Edge, Hex12, KeelProject } from './types.ts'
import { createWikilinkMap } from './wikilinks.ts'

export function createKeelProject(deps: KeelDeps): KeelProject {
  const { root, files, config, git } = deps
  const core = createCore(deps)
  const claims = createClaims(
    () => deps.store(),
    () => deps.clock.now(),
  )

  const isThere = (path: string): boolean => {
    try {
      return files.lstat(`${root}/${path}`) !== undefined
    } catch {
      return false // a folder that may not be looked into silences nobody
    }
  }
  const since = (edge: Edge): string => {
    const first = core.memory().since.get(suspectKey(edge)) ?? deps.clock.now()
    return new Date(first).toISOString()
  }
  const query = (edge: Edge) => {
    const { target, old: stamp, anchor } = edge
    if (target === null || stamp === null || target.startsWith('/')) return null
    return { git, root, compare: config.compare, target, anchor, stamp }
  }

  return {
    root,
    config,
    isOff() {
      const file = [offPath, legacyOffPath].find(isThere)
      return { off: file !== undefined, file: file ?? offPath }
    },
    refresh: (scope, options) => core.refresh(scope, options),
    assessment: () => core.assessment(),
    edgesOf: path => core.assessment().edges.filter(edge => edge.child === path || edge.target === path),
    scopeId: edge => core.locate(edge)?.slot.scopeId ?? null,
    contentId: path => contentIdOf(path),
    boundary: options => runBoundary(core, claims, options),
    diff: edge => diffOf(core, edge),
    async blame(edge) {
      const asked = query(edge)
      return asked === null ? null : blameOf(asked)
    },
    save: () => core.save(),
    writeStatus: () => writeStatusFile(core, since),
    since,
    async fixes(options) {
      await core.refresh({ kind: 'full', searchMoves: true })
      return proposeFixes(core, options)
    },
    applyFixes: (proposals, options) => applyFixes(core, proposals, options),
    moveStamps: (to, options) => moveStamps(core, to, options),
    journal() {
      const reading = core.journal.read()
      return { ...reading, degraded: core.notes.list().filter(note => note.startsWith('journal')) }
    },
    movedSince(mark) {
      const { moved } = core.memory()
      const targets = [...moved].filter(([, at]) => at > mark).map(([path]) => path)
      return { targets: targets.sort(byBytes), mark: lastMove(moved) }
    },
    impact: path => impactOf(core.assessment().edges, path),
    changedSince,
    findFile,
    async setOff(off) {
      const there = [offPath, legacyOffPath].filter(isThere)
      if (off) {
        if (there.length > 0) return { on: false, file: there[0]!, changed: false }
        await makeKeelFolder(files, root)
        await files.replace(`${root}/${offPath}`, new Uint8Array(0))
        return { on: false, file: offPath, changed: true }
      }
      for (const path of there) files.remove(`${root}/${path}`)
      return { on: true, file: there[0] ?? offPath, changed: there.length > 0 }
    },
    watchable() {
      const memory = core.memory()
      const children = [...memory.children.values()].filter(child => child.edges.length > 0).map(child => child.path)
      const targets = [...memory.targets.keys()].sort(byBytes)
      return [...new Set([...targets, ...children.sort(byBytes)])]
    },
    claim: (session, child) => claims.claim(session, child),
    unclaim: session => claims.unclaim(session),
  }

  function contentIdOf(path: string): Hex12 | null {
    const absolute = absoluteOf(root, path)
    try {
      const stat = files.stat(absolute)
      if (stat?.kind !== 'file' || stat.size > config.maxSourceMiB * 1024 * 1024) return null
      if (stat.size > largeFileBytes) return streamedIds(() => files.readChunks(absolute, 1024 * 1024))?.raw ?? null
    } catch {
      return null // it may not be looked at
    }
    const bytes = readOrNull(files, absolute, largeFileBytes)
    if (bytes === null) return null
    const ids = sliceIds(bytes, { start: 0, end: bytes.length }, { path, parsed: parsedDocument(path, bytes) })
    return writtenId(ids, config.compare)
  }

  async function changedSince(rev: string): Promise<{ readonly commit: string; readonly paths: ReadonlySet<string> }> {
    const why = await git.unavailable(root)
    if (why !== undefined) {
      throw new OutriggerError('KEEL_NO_GIT', `changes since ${rev} need git: ${why}`, {
        subject: rev,
        hint: 'name the changed files with --changed',
        exit: 3,
      })
    }
    const commit = await git.mergeBase(root, rev)
    const paths = commit === undefined ? undefined : await git.changedSince(root, commit)
    if (commit === undefined || paths === undefined) {
      throw new OutriggerError('KEEL_BAD_REV', `${rev} names no commit that HEAD shares history with`, {
        subject: rev,
        hint: 'fetch it, or name another one; a shallow clone may not have it',
      })
    }
    return { commit, paths: new Set(paths) }
  }

  function findFile(name: string): string | null {
    const memory = core.memory()
    const link = /^\[\[(.*)\]\]$/su.exec(name)?.[1]
    if (link !== undefined) {
      const [only, ...others] = createWikilinkMap(memory.documents.paths()).find(link.split(/[#|]/u)[0] ?? '')
      return only !== undefined && others.length === 0 ? only : null
    }
    if (memory.documents.has(name) || memory.targets.has(name)) return name
    return core.assessment().edges.some(edge => edge.target === name) ? name : null
  }
}
