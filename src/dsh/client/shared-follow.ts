/** Several components about one session ask the host once; a browser has few connections to a host. */
import type { Shown } from '../web/shown.ts'
import { type Follow, follow } from './follow.ts'

export function createSharedFollow(): Follow {
  const followed = new Map<
    string,
    { readonly shows: Set<(shown: Shown | undefined) => void>; last: Shown | undefined; stop: () => void }
  >()
  return (session, show, around) => {
    let entry = followed.get(session)
    if (entry === undefined) {
      const made = { shows: new Set<(shown: Shown | undefined) => void>(), last: undefined as Shown | undefined, stop: () => {} }
      entry = made
      followed.set(session, made)
      made.stop = follow(
        session,
        shown => {
          made.last = shown
          for (const each of [...made.shows]) each(shown)
        },
        around,
      )
    }
    const { shows, last } = entry
    shows.add(show)
    // Notices were given to whoever was there.
    if (last !== undefined) show({ ...last, notices: [] })
    return () => {
      shows.delete(show)
      if (shows.size > 0) return
      followed.get(session)?.stop()
      followed.delete(session)
    }
  }
}
