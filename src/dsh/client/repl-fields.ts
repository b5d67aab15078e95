/** The keys of the REPL that a person changes on the settings page. */
import { replKeys } from '../../runtime/config-repl.ts'
import { type Field, fieldsOf } from './fields.ts'

const labels: Readonly<Record<string, string>> = {
  enabled: 'Run programs in the REPL',
  computeMs: 'Computing time of a cell (ms)',
  wallMs: 'Time of a cell in all (ms)',
  heapMb: 'Heap of a worker (MB)',
  rssMb: 'Memory of a worker (MB)',
  outputBytes: 'Output kept of a cell (bytes)',
  modelChars: 'Shown to the model (characters)',
  previewChars: 'Preview of a value (characters)',
  idleMs: 'End an idle worker after (ms)',
  maxWorkers: 'Workers at the same time',
  maxNestedRuns: 'Depth of nested programs',
  env: 'Environment of a worker',
  decorators: 'Decorators',
  jsx: 'JSX',
  tips: 'Hints after repeated trouble',
  tipCooldown: 'Cells between two hints',
  tipEscalation: 'Short hints before a long one',
  canonicalizeCalls: 'Make programs of direct calls',
}

/** Not at the next cell. */
const later: Readonly<Record<string, string>> = {
  heapMb: 'Applies from the next worker on.',
  env: 'Applies from the next worker on.',
  maxWorkers: 'Applies to workers that are started from now on.',
}

export const replFields: readonly Field[] = fieldsOf(replKeys, labels, later)
