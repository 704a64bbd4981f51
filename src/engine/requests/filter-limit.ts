/**
 * Limits filters that fix no type. Every event of a tenant is compared with every such filter, so one caller could make all
 * events slow. Filters that fix a type are found by look-up and cost nothing.
 */

import { LullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import {
  ANY_NAME,
  FILTER_NAMES,
  type ResumeConditions,
  waitForAnyType,
  waitNames,
} from '../../core/waiting/conditions.ts'
import type { EngineContext } from '../context.ts'

/** More than any server can compare. The options may be infinite, and a store takes only numbers that are finite. */
const MANY = 1_000_000

/**
 * A filter that several tasks wait with is compared once. It counts for the principal of the oldest of them.
 * @throws LullError when the principal or its tenant has as many of these filters as it may have, or when this one is too
 * long to share
 */
export async function admitFilter(
  { store, options }: Pick<EngineContext, 'store' | 'options'>,
  { tenant, principal }: Pick<Task, 'tenant' | 'principal'>,
  conditions: ResumeConditions | undefined,
): Promise<void> {
  const names = waitNames(conditions)
  if (!waitForAnyType(names)) return
  if (names.includes(ANY_NAME)) {
    const problem = 'fixes no type (exact: {type}), and is then limited to 2048 characters'
    throw new LullError('INVALID_INPUT', { path: 'conditions.trigger.filter', problem })
  }
  const most = options.filtersWithoutType
  const mostOfTenant = Math.min(most * options.tenantFactor, MANY)
  const known = await store.waitNames(tenant, FILTER_NAMES, '', mostOfTenant)
  if (known.some((name) => names.includes(name))) return
  if (known.length >= mostOfTenant) throw tooMany('tenant', mostOfTenant)
  if (known.length < most) return
  const owners = await store.waitOwners(tenant, known)
  if (owners.filter((owner) => owner === principal).length >= most) throw tooMany('principal', most)
}

function tooMany(of: 'principal' | 'tenant', value: number): LullError {
  return new LullError('LIMIT_EXCEEDED', { limit: `filtersWithoutType of the ${of}`, value })
}
