/** Starts one PostgreSQL per test run. `LULL_TEST_POSTGRES=<url>` uses a server that runs already. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a PostgreSQL database in which tests may create schemas. */
    readonly postgres: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['LULL_TEST_POSTGRES']
  if (given) {
    project.provide('postgres', given)
    return async () => undefined
  }
  const server = await startPostgres()
  project.provide('postgres', server.url)
  return server.remove
}
