import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Long files first, so that no worker is left alone with one at the end. A fresh clone has no times of an earlier run to go by. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      moduleId.endsWith('/dsh/demo.spec.ts') ? 0 : moduleId.includes('/e2e/') ? 1 : 2
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** Tests that leave nothing behind in their process: files of these share one, which starts once. */
const alone = [
  ...[
    'architecture',
    'bench',
    'claude-code',
    'companion',
    'hook',
    'keel',
    'next-step',
    'pack',
    'ports',
    'runtime',
    'session',
    'store',
    'text',
  ],
  ...['repl/compile', 'repl/edit'],
].map(folder => `tests/${folder}{/**/*,}.spec.ts`)

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'in one process', include: alone, isolate: false } },
      { extends: true, test: { name: 'each in its own', include: ['tests/**/*.spec.ts'], exclude: alone } },
    ],
    globalSetup: ['tests/support/homes.ts'],
    pool: 'forks',
    // One more than the cores that are reckoned with: the tests on the hosts wait much.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    // A shared machine stalls for seconds now and then; there a failed test is asked again, and the report says so.
    retry: process.env['CI'] ? 2 : 0,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
