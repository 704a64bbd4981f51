/**
 * Refuses new work when a principal or a tenant has reached its storage quota, and when the disk is
 * nearly full.
 *
 * Q1  What a principal stores is limited in bytes, tasks and open tasks. What the principals of a tenant store together is
 *     limited to `tenantFactor` times as much.
 * Q2  New work is refused before the disk is full. Existing tasks continue, and can be answered, paused, resumed, canceled
 *     and read.
 * Q3  Totals are read at most once a second. What was accepted since then is added to them.
 */

import { LullError } from '../../core/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Space, StoredUsage, UsageOf, UsageStore } from '../../ports/store/usage.ts'
import type { Caller } from '../caller.ts'
import type { EngineOptions } from '../options.ts'

/** What a request would add to the stored totals. */
export interface Added {
  readonly tasks: 0 | 1
  readonly bytes: number
  /** Bytes of a stored log that the request copies. They must fit, because a small request can copy many of them. */
  readonly copiedBytes?: number
}

export interface Quotas {
  /**
   * Called before a message or event is accepted. Returns a promise while the totals of the
   * principal are not known.
   * @throws LullError `LIMIT_EXCEEDED` or `OVERLOADED`
   */
  admit(caller: Pick<Caller, 'tenant' | 'principal'>, added: Added): Promise<void> | undefined
}

/** The principal under which events are counted, because they belong to none. */
export const EVENTS = ''

const FRESH_MS = 1_000
const RETRY_AFTER_MS = 60_000
/** The most principals whose totals are kept in memory. */
const KEPT = 10_000

interface Account {
  readonly totals: FreshValue<UsageOf>
  /** Accepted since the totals were read. */
  tasks: number
  bytes: number
}

export function createQuotas(deps: {
  readonly store: UsageStore
  readonly clock: Clock
  readonly options: EngineOptions
}): Quotas {
  const { store, clock, options } = deps
  const space = createFreshValue(clock, FRESH_MS, () => store.space())
  const accounts = new Map<string, Account>()

  function accountOf(tenant: string, principal: string): Account {
    const key = JSON.stringify([tenant, principal])
    const known = accounts.get(key)
    if (known !== undefined) return known
    const totals = createFreshValue(clock, FRESH_MS, async () => {
      const { tasks, bytes } = account
      const usage = await store.usage(tenant, principal)
      account.tasks -= tasks
      account.bytes -= bytes
      return usage
    })
    const account: Account = { totals, tasks: 0, bytes: 0 }
    if (accounts.size >= KEPT) accounts.clear()
    accounts.set(key, account)
    return account
  }

  function check(
    account: Account,
    { principal, tenant }: UsageOf,
    free: Space,
    added: Added,
  ): void {
    checkSpace(free, options)
    checkUsage(principal, account, added, options, 'principal')
    checkUsage(tenant, account, added, options, 'tenant')
    account.tasks += added.tasks
    account.bytes += added.bytes + copiedIn(added)
  }

  return {
    admit({ tenant, principal }, added) {
      const account = accountOf(tenant, principal)
      const totals = account.totals.get()
      const free = space.get()
      if (!(totals instanceof Promise) && !(free instanceof Promise)) {
        check(account, totals, free, added)
        return undefined
      }
      return Promise.all([totals, free]).then((both) => check(account, ...both, added))
    },
  }
}

function checkSpace({ usedBytes, freeBytes }: Space, options: EngineOptions): void {
  const { freeDiskBytes, databaseBytes } = options
  const refuse = (limit: string, value: number): never => {
    throw new LullError('OVERLOADED', { limit, value, retryAfterMs: RETRY_AFTER_MS })
  }
  if (freeBytes !== undefined && freeBytes < freeDiskBytes) refuse('freeDiskBytes', freeDiskBytes)
  if (usedBytes > databaseBytes) refuse('databaseBytes', databaseBytes)
}

function checkUsage(
  stored: StoredUsage,
  accepted: Pick<Account, 'tasks' | 'bytes'>,
  added: Added,
  { storedBytes, storedTasks, openTasks, tenantFactor }: EngineOptions,
  of: 'principal' | 'tenant',
): void {
  const factor = of === 'tenant' ? tenantFactor : 1
  const refuseAt = (limit: string, most: number, used: number): void => {
    const value = most * factor
    if (used < value) return
    const retryAfterMs = RETRY_AFTER_MS
    throw new LullError('LIMIT_EXCEEDED', { limit: `${limit} of the ${of}`, value, retryAfterMs })
  }
  refuseAt('storedBytes', storedBytes, stored.bytes + accepted.bytes + copiedIn(added))
  if (added.tasks === 0) return
  refuseAt('storedTasks', storedTasks, stored.tasks + accepted.tasks)
  refuseAt('openTasks', openTasks, stored.openTasks + accepted.tasks)
}

function copiedIn({ copiedBytes = 0 }: Added): number {
  return copiedBytes
}

/**
 * Caches a value that is read on demand once it is older than `maxAgeMs`. During the read the old
 * value is used, unless it is more than `TOO_OLD` times as old.
 */
interface FreshValue<T> {
  /** Returns a promise only when there is no usable value. */
  get(): T | Promise<T>
}

const TOO_OLD = 10

export function createFreshValue<T>(
  clock: Pick<Clock, 'elapsed'>,
  maxAgeMs: number,
  read: () => Promise<T>,
): FreshValue<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined
  let reading: Promise<T> | undefined

  async function load(): Promise<T> {
    try {
      const value = await read()
      known = { value, readAt: clock.elapsed() }
      return value
    } finally {
      reading = undefined
    }
  }

  return {
    get() {
      const age = known === undefined ? Number.POSITIVE_INFINITY : clock.elapsed() - known.readAt
      if (known !== undefined && age <= maxAgeMs) return known.value
      reading ??= load()
      if (known === undefined || age > TOO_OLD * maxAgeMs) return reading
      reading.catch(() => undefined)
      return known.value
    },
  }
}
