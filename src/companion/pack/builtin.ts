/** The packs that are built in. */
import type { Compat, Intent } from '../types.ts'
import type { Pack } from './types.ts'

const tests: Intent = {
  id: 'Tests',
  domain: 'test',
  priority: 1,
  threshold: 0.75,
  signals: [
    { id: 'convention', weight: 1.9 },
    { id: 'imports', weight: 2.2 },
    { id: 'cochange', weight: 1.5 },
    { id: 'sibling', weight: 2.4 },
  ],
  targets: [],
  find: ['tests'],
}
const docs: Intent = {
  id: 'Docs',
  domain: 'doc',
  priority: 2,
  threshold: 0.75,
  signals: [
    { id: 'cochange', weight: 1.5 },
    { id: 'mentions', weight: 1.9 },
    { id: 'symbol', weight: 1.8 },
    { id: 'declared', weight: 2.5 },
  ],
  targets: [],
  find: ['docs'],
}
const partners: Intent = {
  id: 'Partners',
  domain: 'partner',
  priority: 3,
  threshold: 0.75,
  signals: [{ id: 'cochange', weight: 3.0 }],
  targets: [],
  find: ['partners'],
}
const changelog: Intent = {
  id: 'Changelog',
  domain: 'release',
  priority: 4,
  threshold: 0.75,
  signals: [
    { id: 'unreleased', weight: 0.8 },
    { id: 'habit', weight: 2.0 },
  ],
  targets: [],
  find: ['changelog'],
}
const suite: Intent = {
  id: 'Suite',
  domain: 'test',
  priority: 1,
  threshold: 0.6,
  signals: [
    { id: 'test-shape', weight: 0.5 },
    { id: 'path-shape', weight: 0.4 },
    { id: 'loop-shape', weight: 0.3 },
  ],
  targets: ['Source/Test/<Suite>/Test.ts', 'Source/Test/<Suite>/README.md', 'Maintain/Run-Smokes.mjs', 'README.md'],
  find: [],
}
const counts: Intent = {
  id: 'Counts',
  domain: 'test',
  priority: 2,
  threshold: 0.5,
  signals: [
    { id: 'count-shape', weight: 0.5 },
    { id: 'doc-shape', weight: 0.3 },
  ],
  targets: ['README.md', 'SCHEME.md', 'Site/Source/Library/Content.ts'],
  find: [],
}

const empty = { signature: null, only: false, conventions: [], claims: [] } as const

export const builtinPacks: Readonly<Record<Compat, Pack>> = {
  none: { ...empty, intents: [tests, docs, partners, changelog] },
  playform: { ...empty, intents: [suite, counts] },
}

export const defaultSignature: readonly string[] = ['Documentation/ARCHIVE-STYLE.md']
