/** The offer as faint words in an empty composer: what a key does with them. Pure. */

export interface GhostInput {
  readonly draft: string
  /** Caret in the composer; 0 at its beginning. */
  readonly caret: number
  /** The offer whose words are shown; `null`: none are. */
  readonly ghostGen: string | null
  /** The offer that is ready now. */
  readonly rowGen: string | null
  readonly key: string
  /** Shift, Control, Alt or Meta is held. */
  readonly isModified: boolean
}

/** Enter never fills and never sends; a key that types takes the words away, so that the next Tab is an ordinary one. */
export function ghostKey({ draft, caret, ghostGen, rowGen, key, isModified }: GhostInput): 'fill' | 'dismiss' | 'none' {
  if (ghostGen === null || ghostGen !== rowGen || isModified || draft !== '' || caret !== 0) return 'none'
  if (key === 'Tab' || key === 'ArrowRight') return 'fill'
  return key === 'Escape' ? 'dismiss' : 'none'
}

/** How long an offer is ready before its words are shown. */
export const ghostDelayMs = 300
