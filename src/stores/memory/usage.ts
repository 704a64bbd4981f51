import { noUsage, type StoredUsage, type UsageOf } from '../../ports/store/usage.ts'

/** Totals per principal. Events belong to no principal; they are counted under an empty name. */
export interface UsageTotals {
  add(tenant: string, principal: string, change: Partial<StoredUsage>): void
  usage(tenant: string, principal: string): UsageOf
  /** Bytes of all tenants. */
  bytes(): number
  tenants(after: string, limit: number): readonly string[]
}

export function createUsageTotals(): UsageTotals {
  const tenants = new Map<string, Map<string, StoredUsage>>()
  return {
    add(tenant, principal, change) {
      const principals = tenants.get(tenant) ?? new Map<string, StoredUsage>()
      tenants.set(tenant, principals)
      principals.set(
        principal,
        sum(principals.get(principal) ?? noUsage, { ...noUsage, ...change }),
      )
    },
    usage(tenant, principal) {
      const principals = tenants.get(tenant) ?? new Map<string, StoredUsage>()
      return {
        principal: principals.get(principal) ?? noUsage,
        tenant: [...principals.values()].reduce(sum, noUsage),
      }
    },
    tenants: (after, limit) =>
      [...tenants.keys()]
        .filter((tenant) => tenant > after)
        .sort()
        .slice(0, limit),
    bytes: () =>
      [...tenants.values()]
        .flatMap((principals) => [...principals.values()])
        .reduce((total, { bytes }) => total + bytes, 0),
  }
}

function sum(a: StoredUsage, b: StoredUsage): StoredUsage {
  return {
    tasks: a.tasks + b.tasks,
    openTasks: a.openTasks + b.openTasks,
    bytes: a.bytes + b.bytes,
  }
}
