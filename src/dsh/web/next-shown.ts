/** What a page shows of next-step. */

/** Name of the part among those that a session shows. */
export const nextPart = 'next'

/** Namespace of next-step's keys in the host's settings. */
export const nextSettingsName = 'outrigger-next'
