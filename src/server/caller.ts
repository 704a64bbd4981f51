import { LullError } from '../core/errors.ts'
import type { Caller } from '../engine/caller.ts'

/** Without authentication everybody is the same person. */
export const anybody: Caller = { tenant: 'default', principal: 'anonymous' }

/** That person, in the tenant that `?tenant=` names; A2A has the tenant in its paths and parameters. */
export function callerIn(query: URLSearchParams): Caller {
  const tenant = query.get('tenant') ?? anybody.tenant
  if (tenant !== '' && tenant.length <= 256) return { ...anybody, tenant }
  throw new LullError('INVALID_INPUT', {
    path: 'tenant',
    problem: 'must have a length from 1 to 256',
  })
}
