/**
 * The files of the facts as a chain of changes, made into a record only when somebody looks: an event
 * that touches a file costs the same whether the session knows ten files or ten thousand.
 */
import type { FileFact, SessionFacts } from './facts.ts'

type Files = SessionFacts['files']

/** What one event says about a file; the rest stays. */
export type FileChange = Partial<FileFact> & Pick<FileFact, 'by'>

interface Link {
  /** Changes that are not in `record`, newest last. */
  before: Link | undefined
  readonly path: string
  readonly change: FileChange | undefined
  readonly depth: number
  record: Files | undefined
}

/** Links after which the chain is made into a record, so that it does not hold every change of a long session. */
const maxDepth = 4_096

const chains = new WeakMap<SessionFacts, Link>()

/** Without a prototype: a file named `constructor` is a file. */
export const noFiles = (): Files => Object.create(null) as Record<string, FileFact>

const rootOf = (record: Files): Link => ({ before: undefined, path: '', change: undefined, depth: 0, record })

/** The same facts with other fields. Files are carried over without a look at them. */
export function changeFacts(facts: SessionFacts, fields: Partial<Omit<SessionFacts, 'files'>>): SessionFacts {
  return build(facts, fields, chainOf(facts))
}

export function changeFiles(
  facts: SessionFacts,
  changes: readonly (readonly [path: string, change: FileChange])[],
): SessionFacts {
  if (changes.length === 0) return facts
  let chain = chainOf(facts)
  for (const [path, change] of changes) {
    chain = { before: chain, path, change, depth: chain.depth + 1, record: undefined }
    if (chain.depth >= maxDepth) chain = rootOf(recordOf(chain))
  }
  return build(facts, {}, chain)
}

/** Facts that came from elsewhere, as a store, have a record already. */
const chainOf = (facts: SessionFacts): Link => chains.get(facts) ?? rootOf(facts.files)

function build(facts: SessionFacts, fields: Partial<SessionFacts>, chain: Link): SessionFacts {
  const next: Record<string, unknown> = {}
  for (const key of Object.keys(facts)) if (key !== 'files') next[key] = facts[key as keyof SessionFacts]
  Object.assign(next, fields)
  Object.defineProperty(next, 'files', { enumerable: true, get: () => recordOf(chain) })
  chains.set(next as unknown as SessionFacts, chain)
  return next as unknown as SessionFacts
}

function recordOf(chain: Link): Files {
  if (chain.record !== undefined) return chain.record
  const links: Link[] = []
  let link: Link | undefined = chain
  while (link !== undefined && link.record === undefined) {
    links.push(link)
    link = link.before
  }
  const files = Object.assign(noFiles(), link?.record) as Record<string, FileFact>
  for (const { path, change } of links.reverse()) {
    if (change !== undefined) files[path] = { ...(files[path] ?? { readAt: null, writtenAt: null }), ...change }
  }
  chain.record = files
  chain.before = undefined
  return files
}
