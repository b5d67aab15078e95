/**
 * When an edit of a document counts as its review. An edit counts only where it touched: the section
 * (or the text) that the edge belongs to has other content than before, stamps aside, and the session
 * knew what it was answering, because it was told this suspect or has read or written the source as it
 * is now. Everything else stays suspect. Pure.
 */

import { suspectKey } from './naming.ts'
import { isPersonOnly } from './policy.ts'
import type { Ack, Edge, Hex12, KeelConfig, SuspectKey } from './types.ts'

export interface EditEvidence {
  /** Edges of the documents that the session's agent wrote. */
  readonly edges: readonly Edge[]
  /** Scope id at the session's last look, before the edit; `null` when unknown. */
  before(edge: string): Hex12 | null
  after(edge: string): Hex12 | null
  wasTold(key: SuspectKey): boolean
  /** The session has read or written this target with the content it has now. */
  knowsTarget(target: string): boolean
  readonly config: Pick<KeelConfig, 'ack'>
  readonly session: string
}

/** Acks of kind `updated`, for the content of now; written at the next boundary if it is still the same. */
export function reviewedEdits(evidence: EditEvidence): readonly Ack[] {
  if (evidence.config.ack.updated === 'off') return []
  return evidence.edges.flatMap(edge => {
    if (edge.reason !== 'changed' || edge.current === null) return []
    if (isPersonOnly(evidence.config, edge.child)) return []
    const before = evidence.before(edge.id)
    const after = evidence.after(edge.id)
    if (before === null || after === null || before === after) return []
    const told = evidence.wasTold(suspectKey(edge))
    if (!told && !(edge.target !== null && evidence.knowsTarget(edge.target))) return []
    return [
      {
        edge: edge.id,
        content: edge.current,
        kind: 'updated' as const,
        reason: null,
        who: { kind: 'agent' as const, session: evidence.session },
        evidence: { scopeBefore: before, scopeAfter: after, told },
      },
    ]
  })
}
