/** The REPL's section of the configuration: every key with its range, its default and whose value counts. */

import type { Json } from '../ports/json.ts'
import { defaultReplConfig, type ReplConfig } from '../repl/types.ts'
import { type ConfigKey, choice, integer, texts, toggle } from './config-keys.ts'

const MiB = 1024 * 1024
const maxMs = 2 ** 31 - 1
const d = defaultReplConfig

/** A limit: a project may only lower it. */
function limit(path: keyof ReplConfig, min: number, max: number, about: string): ConfigKey {
  return integer(path, min, max, { precedence: 'lower-only', default: d[path] as number, about })
}

function amount(path: keyof ReplConfig, min: number, max: number, about: string): ConfigKey {
  return integer(path, min, max, { precedence: 'person-first', default: d[path] as number, about })
}

function turn(path: keyof ReplConfig, precedence: ConfigKey['precedence'], about: string): ConfigKey {
  return toggle(path, { precedence, default: d[path] as boolean, about })
}

/** 0 turns the watch off; less than 256 would end every worker. */
const rssMb: ConfigKey = {
  path: 'rssMb',
  precedence: 'lower-only',
  default: d.rssMb,
  zeroIsNoLimit: true,
  allowed: '0, or an integer from 256',
  check: value =>
    Number.isSafeInteger(value) && (value === 0 || (value as number) >= 256) ? undefined : '0, or an integer from 256',
  about: 'Physical memory at which a worker is ended; 0 does not watch it.',
}

const isFile = (item: string) => item.trim() !== '' && item.length <= 1_000
const isVariable = (item: string) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(item)

export const replKeys: readonly ConfigKey[] = [
  turn('enabled', 'lower-only', 'false ends running cells and workers and hides the tools; journals stay.'),
  limit('computeMs', 100, maxMs, 'How long a cell may compute.'),
  limit('wallMs', 100, maxMs, 'How long a cell may take in all.'),
  limit('heapMb', 64, 65_536, 'Limit of the heap of a worker, from its next start on.'),
  rssMb,
  amount('outputBytes', 64 * 1024, 64 * MiB, 'How much of what a cell prints is kept, beside the last 64 KiB.'),
  amount('modelChars', 1_000, 1_000_000, 'How much of the output, and of the value, a model is shown.'),
  amount('previewChars', 200, 100_000, 'How long the text of a value may be.'),
  amount('idleMs', 0, maxMs, 'After how long an idle worker is ended, if nothing is lost by it; 0 never.'),
  limit('maxWorkers', 1, 256, 'Workers at the same time.'),
  limit('maxNestedRuns', 0, 32, 'How deep programs may run programs.'),
  choice('checkpoint', ['auto', 'off'], {
    precedence: 'person-first',
    default: d.checkpoint,
    about: 'Keep copies of values beside the journal.',
  }),
  amount('checkpointBudgetMs', 0, 1_000, 'How long the next cell waits for a copy that is being made.'),
  amount('checkpointMaxMs', 0, 60_000, 'How long a cell with effects may take for its copies.'),
  amount('checkpointComponentMb', 0, 1_024, 'Values that belong together are kept up to this size.'),
  amount('checkpointSessionMb', 0, 65_536, 'Room for the copies of a session.'),
  amount('keepCheckpoints', 1, 1_000, 'How many copies are kept.'),
  turn('record', 'person-first', 'Record what a cell cannot repeat by itself.'),
  amount('recoverMs', 100, 600_000, 'How long a recovery may take.'),
  turn('fsync', 'person-first', 'Survive a loss of power, too.'),
  choice('env', ['inherit', 'minimal'], {
    precedence: 'person-only',
    default: d.env,
    about: 'What a worker gets of the environment.',
  }),
  texts('envDeny', 1_000, 'names of variables', isVariable, {
    precedence: 'union',
    default: [],
    about: 'Variables that a worker does not get.',
  }),
  choice('decorators', ['auto', 'standard', 'legacy'], {
    precedence: 'project-first',
    default: d.decorators,
    about: 'What decorators mean; auto asks tsconfig.json.',
  }),
  choice('jsx', ['off', 'react-jsx'], { precedence: 'project-first', default: d.jsx, about: 'Whether cells may contain JSX.' }),
  texts('prelude', 100, 'names of files', isFile, {
    precedence: 'person-only',
    default: [],
    about: 'Files that run at the start of a new session.',
  }),
  turn('tips', 'person-first', 'Give a hint after repeated trouble.'),
  amount('tipCooldown', 0, 100, 'Steps between two hints.'),
  amount('tipEscalation', 0, 100, 'Short hints before a longer one.'),
  turn('canonicalizeCalls', 'person-first', 'Turn a direct call of a tool into a program that calls it.'),
  turn('cordisTools', 'person-only', "Offer the host's own tools for its services."),
]

/** @param section - the resolved section; what it lacks has its default. */
export function replConfig(section: Readonly<Record<string, Json>>): ReplConfig {
  const config: Record<string, Json> = {}
  for (const { path, default: otherwise } of replKeys) config[path] = section[path] ?? otherwise
  return config as unknown as ReplConfig
}
