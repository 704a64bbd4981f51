import { LullError } from '../core/errors.ts'
import type { Caller } from '../engine/caller.ts'

/** The caller of every request, because there is no authentication. */
export const anybody: Caller = { tenant: 'default', principal: 'anonymous' }

/** The caller in the tenant of `?tenant=`. A2A has the tenant in its paths and parameters instead. */
export function callerIn(query: URLSearchParams): Caller {
  const tenant = query.get('tenant') ?? anybody.tenant
  if (tenant !== '' && tenant.length <= 256) return { ...anybody, tenant }
  throw new LullError('INVALID_INPUT', {
    path: 'tenant',
    problem: 'must have a length from 1 to 256',
  })
}

/** The caller of `/ops`: an operator of the tenant of `?tenant=`, where `*` means all tenants. */
export function operatorIn(query: URLSearchParams): Caller {
  return { ...callerIn(query), operator: true }
}
