/** What a page shows of next-step. */

/** Name of the part among those that a session shows. */
export const nextPart = 'next'

/** A page tells here whether the composer is empty: `session`, `empty` 0 or 1. */
export const draftRoutePath = '/outrigger/draft'

/** Namespace of next-step's keys in the host's settings. */
export const nextSettingsName = 'outrigger-next'
