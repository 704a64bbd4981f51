import { defineConfig } from 'vitest/config'

/**
 * One project per kind of proof; `npm test` runs them all, in this order.
 * `unit` runs from the sources. The others start real processes from `dist`, so build before running them alone.
 */
export default defineConfig({
  test: {
    // A test waits for a fact, however long a busy machine takes: these end what hangs, nothing else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 10 } },
    // The files of a worker share the modules, which are loaded once. No test may leave anything behind in them.
    isolate: false,
    unstubEnvs: true,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'dashboard/**/*.test.ts', 'scripts/**/*.test.mjs'],
          exclude: ['src/stores/postgres/**', 'src/server/move/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The engine's suites once more, on a store that answers after random delays.
        extends: true,
        test: {
          name: 'delayed',
          include: ['src/engine/**/*.test.ts'],
          exclude: [
            // It has delays of its own.
            'src/engine/test-support/simulation/simulation.test.ts',
            // It counts reads, which random delays change: children then ask for older versions than those kept.
            'src/engine/requests/past-of-children.test.ts',
          ],
          env: { LULL_TEST_STORE: 'delaying' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The PostgreSQL store, on a real server.
        extends: true,
        test: {
          name: 'postgres',
          include: ['src/{stores/postgres,server/move}/**/*.test.ts'],
          globalSetup: ['src/stores/postgres/test-support/global-setup.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Suites of whole processes once more, on PostgreSQL.
        extends: true,
        test: {
          name: 'postgres-suites',
          include: [
            'test/postgres/**/*.test.ts',
            'test/scenarios/{acp,client,keys,suspend-processes,waiting}.test.ts',
            'test/crash/{reminders,webhooks}.test.ts',
          ],
          env: { LULL_TEST_STORE: 'postgres' },
          globalSetup: [
            'src/stores/postgres/test-support/global-setup.ts',
            'test/support/compile-worker.ts',
          ],
          sequence: { groupOrder: 3 },
        },
      },
      {
        // Several processes on one PostgreSQL, under faults.
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 600_000,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'interop',
          include: ['test/interop/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          // The whole manifest is one test; the slowest cases wait for an agent that works for seconds.
          testTimeout: 300_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The dashboard, in a real browser.
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
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
        extends: true,
        test: {
          name: 'seeds',
          include: ['test/seeds/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
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
