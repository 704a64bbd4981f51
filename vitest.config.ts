import { defineConfig } from 'vitest/config'

/**
 * One project per kind of proof; `npm test` runs them all, in this order.
 * `unit` runs from the sources. The others start real processes from `dist`, so build before running them alone.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'dashboard/**/*.test.ts', 'scripts/**/*.test.mjs'],
          exclude: ['src/stores/postgres/**', 'src/server/move/**'],
          // Properties take what they need on a slow machine; none waits by the clock.
          testTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The engine's suites once more, on a store that answers after random delays.
        test: {
          name: 'delayed',
          include: ['src/engine/**/*.test.ts'],
          // It has delays of its own.
          exclude: ['src/engine/simulation.test.ts'],
          env: { LULL_TEST_STORE: 'delaying' },
          testTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The PostgreSQL store, on a real server.
        test: {
          name: 'postgres',
          include: ['src/{stores/postgres,server/move}/**/*.test.ts'],
          globalSetup: ['src/stores/postgres/test-support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Suites of whole processes once more, on PostgreSQL.
        test: {
          name: 'postgres-suites',
          include: [
            'test/postgres/**/*.test.ts',
            'test/scenarios/{acp,client,suspend-processes,waiting}.test.ts',
            'test/crash/{reminders,webhooks}.test.ts',
          ],
          env: { LULL_TEST_STORE: 'postgres' },
          globalSetup: [
            'src/stores/postgres/test-support/global-setup.ts',
            'test/support/compile-worker.ts',
          ],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // Several processes on one PostgreSQL, under faults.
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'interop',
          include: ['test/interop/**/*.test.ts'],
          // Facts are waited for, however long a busy machine takes.
          expect: { poll: { timeout: 20_000, interval: 10 } },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          // The whole manifest is one test; the slowest cases wait for an agent that works for seconds.
          testTimeout: 240_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The dashboard, in a real browser.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          expect: { poll: { timeout: 20_000, interval: 20 } },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'docs',
          include: ['test/docs/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'seeds',
          include: ['test/seeds/**/*.test.ts'],
          // Facts are waited for, however long a busy machine takes.
          expect: { poll: { timeout: 20_000, interval: 10 } },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          globalSetup: ['test/support/compile-worker.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // It runs beside other projects (scripts/test.mjs).
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
