/** Doctor's word on the bar: it needs the route of the host's web server and our client file on the page. */
import type { DoctorCheck } from '../../runtime/doctor.ts'
import type { Display } from '../web/display.ts'

export function barCheck({ isOpen, isRead }: Pick<Display, 'isOpen' | 'isRead'>): DoctorCheck {
  const id = 'next'
  if (!isOpen) {
    const hint = 'open the session in `dsh web`; /next answers the same here'
    return { id, status: 'warn', text: 'DSH: no bar: the host has no web server, and our route is not there', hint }
  }
  if (isRead) return { id, status: 'ok', text: 'DSH: the bar is on the page' }
  const hint = 'reload the page; where the host takes no client files, /next answers the same'
  return { id, status: 'warn', text: 'DSH: no bar: no page has loaded our client file', hint }
}
