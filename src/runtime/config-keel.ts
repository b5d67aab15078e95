/** keel's section of the configuration: every key with its range, its default and whose value counts. */

import type { KeelConfig } from '../keel/types.ts'
import type { Json } from '../ports/json.ts'
import { type ConfigKey, choice, integer, risingIntegers, texts, toggle } from './config-keys.ts'

const isSegment = (item: string) => item !== '' && item !== '.' && item !== '..' && !item.includes('/')
const isGlob = (item: string) => item.trim() !== '' && item.length <= 1_000

/** `null` stands for "not set", so that an older `.stoa-keel.yml` may still say. */
function zone(path: string, shown: readonly string[], about: string): ConfigKey {
  return texts(path, 200, 'names of folders or files, without "/"', isSegment, {
    precedence: 'project-first',
    default: null,
    shown,
    about,
  })
}

export const keelKeys: readonly ConfigKey[] = [
  zone(
    'ignore',
    ['park', 'archive', 'node_modules', '.git', '.tmp', '.dump', 'build', '.outrigger'],
    'Not listed, never a document with sources; .git, .outrigger and node_modules are always ignored.',
  ),
  zone('frozen', ['in', '.in'], 'May be a source, is never a document with sources.'),
  zone('vendored', [], 'Listed, but not checked.'),
  choice('compare', ['normalized', 'exact'], {
    precedence: 'project-first',
    default: 'normalized',
    about: 'normalized: line ends and blank lines at the end do not count.',
  }),
  choice('stamps', ['inline', 'file'], {
    precedence: 'project-first',
    default: 'inline',
    about: 'Where stamps stand: in the documents, or in .outrigger/keel/stamps.tsv.',
  }),
  choice('stampNew', ['auto', 'manual'], {
    precedence: 'project-first',
    default: 'auto',
    about: 'Stamp a newly declared source by itself.',
  }),
  toggle('tell', {
    precedence: 'person-first',
    default: true,
    about: 'Tell the agent by itself; false leaves commands, tools, stamps and status.',
  }),
  choice('hold', ['created', 'off'], {
    precedence: 'person-first',
    default: 'created',
    about: 'Hold the end of a turn once for documents that fell behind in it.',
  }),
  risingIntegers('remindAfterTurns', 4, 1, 100, {
    precedence: 'person-first',
    default: [1, 5],
    about: 'Turns after which a suspect is mentioned again.',
  }),
  choice('ack.reason', ['optional', 'required'], {
    precedence: 'project-first',
    default: 'optional',
    about: 'Must an @ok in a document give its reason?',
  }),
  choice('ack.updated', ['scope', 'off'], {
    precedence: 'project-first',
    default: 'scope',
    about: 'An edit of the section that a suspect belongs to counts as its review.',
  }),
  texts('ack.personOnly', 100, 'globs over documents', isGlob, {
    precedence: 'project-first',
    default: [],
    about: 'Documents that only a person may acknowledge.',
  }),
  toggle('check.strict', {
    precedence: 'project-first',
    default: false,
    about: 'What could not be checked fails the check too.',
  }),
  toggle('check.chain', { precedence: 'project-first', default: false, about: 'Documents behind a suspect fail the check too.' }),
  integer('sweepBudgetMs', 50, 120_000, {
    precedence: 'person-first',
    default: 8_000,
    about: 'How long a session looks at files before it goes on.',
  }),
  integer('maxSourceMiB', 1, 4_096, { precedence: 'person-first', default: 256, about: 'Larger sources are not read.' }),
  integer('baselineMiB', 0, 4_096, {
    precedence: 'person-first',
    default: 64,
    about: 'Room for the contents that diffs start from; 0 keeps none.',
  }),
  integer('watch.max', 0, 10_000, {
    precedence: 'person-first',
    default: 200,
    about: 'How many sources are watched between turns.',
  }),
  integer('watch.pollMs', 200, 60_000, {
    precedence: 'person-first',
    default: 2_000,
    about: 'How often they are looked at where the system cannot watch.',
  }),
  toggle('statusFile', {
    precedence: 'person-first',
    default: true,
    about: 'Write .outrigger/keel/status.md at the end of a turn.',
  }),
]

/** @param value - the resolved value of a key of `keelKeys`, which passed its check. */
export function keelConfig(value: (path: string) => Json): KeelConfig {
  const read = <T>(path: string): T => value(path) as T
  return {
    ignore: read('ignore'),
    frozen: read('frozen'),
    vendored: read('vendored'),
    compare: read('compare'),
    stamps: read('stamps'),
    stampNew: read('stampNew'),
    tell: read('tell'),
    hold: read('hold'),
    remindAfterTurns: read('remindAfterTurns'),
    ack: { reason: read('ack.reason'), updated: read('ack.updated'), personOnly: read('ack.personOnly') },
    check: { strict: read('check.strict'), chain: read('check.chain') },
    sweepBudgetMs: read('sweepBudgetMs'),
    maxSourceMiB: read('maxSourceMiB'),
    baselineMiB: read('baselineMiB'),
    watch: { max: read('watch.max'), pollMs: read('watch.pollMs') },
    statusFile: read('statusFile'),
  }
}
