/** How much is stored for a principal or a tenant. */
export interface StoredUsage {
  readonly tasks: number
  /** Tasks that have not ended. */
  readonly openTasks: number
  /** Bytes of logs, stateless messages and sessions. For a tenant, also bytes of events. */
  readonly bytes: number
}

export interface UsageOf {
  readonly principal: StoredUsage
  /** The total of all principals of the tenant. */
  readonly tenant: StoredUsage
}

/** The space of the store as a whole. */
export interface Space {
  readonly usedBytes: number
  /** How many bytes can still be written. Absent when the store cannot tell. */
  readonly freeBytes?: number
}

/**
 * Counts what is stored. The totals are stored with the data, so that reading them does not scan
 * the data.
 */
export interface UsageStore {
  usage(tenant: string, principal: string): Promise<UsageOf>
  space(): Promise<Space>
}

export const noUsage: StoredUsage = { tasks: 0, openTasks: 0, bytes: 0 }
