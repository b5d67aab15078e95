/**
 * Reminders of the host's scheduling row, folded from a session's log: while one is open, the host will begin a turn by itself. A
 * row that cannot be read changes nothing.
 */
import type { Session } from '@deepseek-ai/dsh-session'

export const scheduleRow = 'schedule/change'

/** @returns whether the set is another one than before. */
export function foldWake(open: Set<string>, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
  const { operation, schedule, id, acceptedAt } = data as Readonly<Record<string, unknown>>
  if (operation === 'create') {
    const created = (schedule as { readonly id?: unknown } | null | undefined)?.id
    if (typeof created !== 'string' || open.has(created)) return false
    open.add(created)
    return true
  }
  // One that comes again and again stays open when it came.
  const isOver = operation === 'delete' || (operation === 'dispatch' && acceptedAt === undefined)
  return isOver && open.delete(String(id))
}

/** Those that are open in a session now. A fork does not take its parent's along. */
export function wakesIn({ events, header }: Pick<Session, 'events' | 'header'>): Set<string> {
  const open = new Set<string>()
  for (const event of events.slice(header.seedLength ?? 0)) {
    if ((event.type as string) === scheduleRow) foldWake(open, event.data)
  }
  return open
}
