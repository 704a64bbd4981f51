import type { ClaimKey } from '../../ports/store/claims.ts'
import { fromText, toText } from './text.ts'

/** A line each: control characters are never text as they are. */
export function placeOf({ tenant, principal, agent, key }: ClaimKey): string {
  return `${toText(tenant)}\n${toText(principal)}\n${toText(agent)}\n${toText(key)}`
}

export function keyAt(place: string): ClaimKey {
  const [tenant = '', principal = '', agent = '', key = ''] = place.split('\n').map(fromText)
  return { tenant, principal, agent, key }
}
