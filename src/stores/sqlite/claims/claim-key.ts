import type { ClaimKey } from '../../../ports/store/claims.ts'
import { fromText, toText } from '../text.ts'

/** The key as one text, one part per line. Parts hold no line breaks, because `toText` escapes control characters. */
export function placeOf({ tenant, principal, agent, key }: ClaimKey): string {
  return `${toText(tenant)}\n${toText(principal)}\n${toText(agent)}\n${toText(key)}`
}

export function keyAt(place: string): ClaimKey {
  const [tenant = '', principal = '', agent = '', key = ''] = place.split('\n').map(fromText)
  return { tenant, principal, agent, key }
}
