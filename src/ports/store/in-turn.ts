import type { ReadyTask } from './work.ts'

/**
 * The number of an agent's tenants that one call of `ready` looks at. The next call continues after
 * them.
 */
export const TENANTS_AT_ONCE = 64

/**
 * Takes one task of each tenant, then a second of each, and so on, up to `limit`.
 * @param byTenant the tasks of each tenant, in the order of the tenants
 */
export function inTurn(
  byTenant: readonly (readonly ReadyTask[])[],
  limit: number,
): readonly ReadyTask[] {
  const found: ReadyTask[] = []
  const rounds = Math.max(0, ...byTenant.map(({ length }) => length))
  for (let round = 0; round < rounds; round++) {
    for (const tasks of byTenant) {
      const task = tasks[round]
      if (task !== undefined) found.push(task)
      if (found.length >= limit) return found
    }
  }
  return found
}
