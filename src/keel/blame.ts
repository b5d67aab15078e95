/** The commit that moved a source away from what an edge was stamped for. */
import { type HistoryQuery, stampedCommit } from './history.ts'
import type { Blame } from './types.ts'

/**
 * The last commit that touched the target after the one that held the stamped content, or that the work
 * tree moved it and no commit did. `null`: git cannot tell.
 */
export async function blameOf(query: HistoryQuery): Promise<Blame | null> {
  const { git, root, target } = query
  if ((await git.unavailable(root)) !== undefined) return null
  const stamped = await stampedCommit(query)
  if (stamped === null) {
    const [last] = (await git.history(root, target, 1)) ?? []
    if (last === undefined) return { uncommitted: true }
    const isModified = (await git.modified(root))?.includes(target) ?? false
    return isModified ? { uncommitted: true } : commitOf(last)
  }
  const last = stamped.newer[0]
  return last === undefined ? { uncommitted: true } : commitOf(last)
}

function commitOf({ commit, author, date, subject }: { commit: string; author: string; date: string; subject: string }): Blame {
  // Git gives the author's own offset; a damaged commit may have no time.
  const at = new Date(date)
  return { commit: commit.slice(0, 12), author, date: Number.isNaN(at.getTime()) ? date : at.toISOString(), subject }
}
