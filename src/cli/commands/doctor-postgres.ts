/** The part of `lull doctor` that looks at the database. */
import { describeError } from '../../core/describe-error.ts'
import { isLullError } from '../../core/errors.ts'
import type { Inspection } from '../../server/inspect-store.ts'
import { readSettings } from '../../server/settings.ts'
import { chooseStore } from '../../server/store-choice.ts'
import type { Input } from '../command.ts'
import type { Finding } from './doctor-command.ts'

/** A process measures the difference and corrects it. A large one is still worth a look. */
const SKEW_MS = 10_000
/** What one process of Lull may open. */
const CONNECTIONS = 10

/** Undefined when no database was given. */
export async function postgres(input: Input): Promise<Finding | undefined> {
  const { data, stores } = readSettings({ postgres: input.text('postgres') })
  const about = 'postgres'
  try {
    const { postgres: place } = chooseStore(stores, data)
    if (place === undefined) return undefined
    const { inspectPostgres } = await import('../../server/inspect-store.ts')
    const found = await inspectPostgres(place)
    const problem = problemOf(found)
    const where = `PostgreSQL ${found.version} at ${found.name}`
    return problem === undefined
      ? { about, verdict: 'ok', text: `${where}, ${schemaTexts[found.schemaState](found.schema)}` }
      : { about, verdict: 'warn', text: `${where}: ${problem}` }
  } catch (error) {
    if (!isLullError(error)) throw error
    return { about, verdict: 'fail', text: describeError(error).message }
  }
}

const schemaTexts: Readonly<Record<Inspection['schemaState'], (schema: string) => string>> = {
  current: (schema) => `schema ${schema} is up to date`,
  old: (schema) => `schema ${schema} is changed when the next process starts`,
  missing: (schema) => `schema ${schema} is made when the first process starts`,
}

function problemOf(found: Inspection): string | undefined {
  const { waitsForDisk, clockAheadMs, connections, maxConnections } = found
  if (!waitsForDisk) {
    return 'a crash of the server can lose tasks; set fsync and synchronous_commit to on'
  }
  if (maxConnections - connections < CONNECTIONS) {
    return `${connections} of ${maxConnections} connections are in use, and a process needs up to ${CONNECTIONS}; raise max_connections`
  }
  if (Math.abs(clockAheadMs) < SKEW_MS) return undefined
  return `its clock differs by ${Math.round(Math.abs(clockAheadMs) / 1_000)} s from the one here: set both by NTP`
}
