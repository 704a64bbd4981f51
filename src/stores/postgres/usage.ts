import { isTerminal, type State, states } from '../../core/states.ts'
import { toText } from '../../ports/store/text.ts'
import type { StoredUsage, UsageStore } from '../../ports/store/usage.ts'
import type { Database, Row } from './connection/database.ts'

/** The column of the table `usage` that counts the tasks in a state. */
export function countColumn(state: State): string {
  return state.replaceAll('-', '_')
}

const sumOf = (wanted: readonly State[]): string => `sum(${wanted.map(countColumn).join(' + ')})`
const totals = `${sumOf(states)} AS tasks, ${sumOf(states.filter((state) => !isTerminal(state)))} AS open_tasks, sum(bytes) AS bytes`

export function createUsage(db: Database): UsageStore {
  const s = db.schema
  return {
    async usage(tenant, principal) {
      const rows = await db.read(
        `SELECT 1 AS n, ${totals} FROM ${s}.usage WHERE tenant = $1 AND principal = $2
         UNION ALL SELECT 2, ${totals} FROM ${s}.usage WHERE tenant = $1 ORDER BY n`,
        [toText(tenant), toText(principal)],
      )
      return { principal: toUsage(rows[0]), tenant: toUsage(rows[1]) }
    },
    async space() {
      const [row] = await db.read('SELECT pg_database_size(current_database()) AS used')
      return { usedBytes: Number(row?.['used'] ?? 0) }
    },
  }
}

function toUsage(row: Row | undefined): StoredUsage {
  return {
    tasks: Number(row?.['tasks'] ?? 0),
    openTasks: Number(row?.['open_tasks'] ?? 0),
    bytes: Number(row?.['bytes'] ?? 0),
  }
}
