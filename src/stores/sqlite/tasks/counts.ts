/**
 * Counts of tasks by agent and state: of a principal, of a tenant, and of all. Each is read once and then updated with every
 * commit, because this process is the only writer. Counting a hundred thousand rows for every page of a list would block
 * all other calls.
 */
import { type State, states } from '../../../core/states.ts'
import type { TaskFilter } from '../../../ports/store/tasks.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Database } from '../files/driver.ts'
import type { Move } from '../usage.ts'
import { readField } from './task-columns.ts'

export interface Counts {
  /** Undefined when the filter is narrower than the counts. */
  total(filter: TaskFilter): number | undefined
  /** Updates the counts. Must be called when the change is durable. */
  follow(move: Move): void
  /** Must be called when tasks were removed: counts are read again. */
  forget(): void
}

type ByAgent = Map<string, Map<State, number>>

/** What the counts cover. Undefined members mean all tenants, or all principals. */
interface Scope {
  readonly tenant: string | undefined
  readonly principal: string | undefined
}

/** The most scopes whose counts are kept. */
const KEPT = 1_000

export function createCounts(db: Database): Counts {
  const counted = (index: string, where: string) =>
    db.prepare(
      `SELECT agent, state, count(*) AS n FROM tasks INDEXED BY ${index} ${where} GROUP BY agent, state`,
    )
  const ofAll = counted('tasks_by_state', `WHERE state IN (${states.map((state) => `'${state}'`)})`)
  const ofTenant = counted('tasks_by_principal', 'WHERE tenant = ?')
  const ofPrincipal = counted('tasks_by_principal', 'WHERE tenant = ? AND principal = ?')
  const known = new Map<string, ByAgent>()

  function read({ tenant, principal }: Scope) {
    if (tenant === undefined) return ofAll.all()
    if (principal === undefined) return ofTenant.all(toText(tenant))
    return ofPrincipal.all(toText(tenant), toText(principal))
  }

  function totalsOf(scope: Scope): ByAgent {
    const key = keyOf(scope)
    const kept = known.get(key)
    if (kept !== undefined) return kept
    const totals: ByAgent = new Map()
    for (const row of read(scope)) {
      add(totals, fromText(String(row['agent'])), row['state'] as State, Number(row['n']))
    }
    const [oldest] = known.keys()
    if (known.size >= KEPT && oldest !== undefined) known.delete(oldest)
    known.set(key, totals)
    return totals
  }

  return {
    total({ tenant, principal, agent, states: given, ...narrower }) {
      // A principal is unique only within its tenant.
      if (tenant === undefined && principal !== undefined) return undefined
      if (Object.values(narrower).some((wanted) => wanted !== undefined)) return undefined
      const wanted = new Set(given ?? states)
      let total = 0
      for (const [name, byState] of totalsOf({ tenant, principal })) {
        if (agent !== undefined && name !== agent) continue
        for (const [state, count] of byState) if (wanted.has(state)) total += count
      }
      return total
    },
    follow({ row, from }) {
      const state = readField(row, 'state')
      if (known.size === 0 || state === from) return
      const tenant = readField(row, 'tenant')
      const agent = readField(row, 'agent')
      const principals = [readField(row, 'principal'), undefined]
      const scopes = principals.map((principal) => ({ tenant, principal }))
      for (const scope of [...scopes, everything]) {
        const totals = known.get(keyOf(scope))
        if (totals === undefined) continue
        add(totals, agent, state, 1)
        if (from !== undefined) add(totals, agent, from, -1)
      }
    },
    forget: () => known.clear(),
  }
}

function add(totals: ByAgent, agent: string, state: State, count: number): void {
  const byState = totals.get(agent) ?? new Map<State, number>()
  totals.set(agent, byState.set(state, (byState.get(state) ?? 0) + count))
}

const everything: Scope = { tenant: undefined, principal: undefined }

function keyOf({ tenant, principal }: Scope): string {
  return JSON.stringify([tenant, principal])
}
