/**
 * Is a request from a page that this host served? The host puts no check before a plugin's route, so a page of another
 * origin could read it through the person's browser.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { pageHeader } from './shown.ts'

/**
 * - `Host` has to be an address or `localhost`: under a name, another site may have pointed its own name at this machine.
 * - `Origin` and `Sec-Fetch-Site`, which browsers send at their own choice, must not say another origin.
 * - Our header has to be there: across origins a browser asks the server before it sends one, and is not answered.
 */
export function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const host = hostUrl(headers.host)
  if (host === undefined || !isAddress(host.hostname)) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const { origin } = headers
  if (origin !== undefined && hostUrl(origin.replace(/^https?:\/\//, ''))?.host !== host.host) return false
  return headers[pageHeader] === '1'
}

function hostUrl(authority: string | undefined): URL | undefined {
  if (authority === undefined || !/^[A-Za-z0-9.:[\]-]+$/.test(authority)) return undefined
  try {
    return new URL(`http://${authority}`)
  } catch {
    return undefined
  }
}

function isAddress(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
}
