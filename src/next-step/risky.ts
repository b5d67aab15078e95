/** Does a step need a person's Run? */
import { riskRows } from './phrases.ts'

/** Steps have at most 1,000 characters, the ends of answers 12,000. */
const maxRead = 20_000

/** @param hosts - hosts that a person named in this session. @returns the first rule that matches. */
export function riskOf(whole: string, hosts: readonly string[]): string | null {
  const text = whole.slice(0, maxRead)
  for (const { rule, pattern } of riskRows) if (pattern.test(text)) return rule
  return hostsIn(text).some(host => !hosts.includes(host)) ? 'url' : null
}

/** Hosts of the addresses in a text, in lower case. */
export function hostsIn(text: string): readonly string[] {
  const hosts: string[] = []
  for (const [, authority] of text.matchAll(/\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s/?#"'<>)\]]{1,255})/gi)) {
    const host = authority!.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase()
    if (host !== '') hosts.push(host)
  }
  return hosts
}
