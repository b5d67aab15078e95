import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/**/*.spec.ts'],
    globalSetup: ['tests/support/homes.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A shared machine stalls for seconds now and then; there a failed test is asked again, and the report says so.
    retry: process.env['CI'] ? 2 : 0,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
