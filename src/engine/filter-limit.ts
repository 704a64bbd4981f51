/**
 * Limits filters that fix no type. Every event of a tenant is compared with every such filter, so one caller could make all
 * events slow. Filters that fix a type are found by look-up and cost nothing.
 */
import {
  ANY_NAME,
  FILTER_NAMES,
  type ResumeConditions,
  waitForAnyType,
  waitNames,
} from '../core/conditions.ts'
import { LullError } from '../core/errors.ts'
import type { EngineContext } from './context.ts'

/** @throws LullError when the tenant has as many of these filters as it may have, or when this one is too long to share */
export async function admitFilter(
  { store, options }: Pick<EngineContext, 'store' | 'options'>,
  tenant: string,
  conditions: ResumeConditions | undefined,
): Promise<void> {
  const names = waitNames(conditions)
  if (!waitForAnyType(names)) return
  if (names.includes(ANY_NAME)) {
    const problem = 'fixes no type (exact: {type}), and is then limited to 2048 characters'
    throw new LullError('INVALID_INPUT', { path: 'conditions.trigger.filter', problem })
  }
  const value = options.filtersWithoutType
  const known = await store.waitNames(tenant, FILTER_NAMES, '', value)
  if (known.length < value || known.some((name) => names.includes(name))) return
  throw new LullError('LIMIT_EXCEEDED', { limit: 'filtersWithoutType', value })
}
