/**
 * Requests with an idempotency key that are being handled now.
 *
 * I1  The same request is never handled twice at the same time. A repeat waits for the answer to the first.
 */
import type { Claim } from '../../../ports/store/claims.ts'
import { TransientMap } from '../../limits/transient-map.ts'
import { checkSame } from './claims.ts'

export interface InFlight<T> {
  /** @throws LullError `IDEMPOTENCY_KEY_REUSED` */
  once(claim: Claim, handle: () => Promise<T>): Promise<T>
}

/** @param toRepeat the answer to a repeat, made from the answer to the first */
export function createInFlight<T>(toRepeat: (answer: T) => T): InFlight<T> {
  const handled = new TransientMap<{ readonly claim: Claim; readonly answer: Promise<T> }>()

  return {
    async once(claim, handle) {
      const name = nameOf(claim)
      const first = handled.get(name)
      if (first !== undefined) {
        checkSame(first.claim, claim)
        return toRepeat(await first.answer)
      }
      const answer = handle()
      handled.set(name, { claim, answer })
      try {
        return await answer
      } finally {
        handled.delete(name)
      }
    },
  }
}

/** The name starts with the lengths of its parts, so different keys never have the same name. */
export function nameOf({ tenant, principal, agent, key }: Claim): string {
  const { length } = tenant
  return `${length},${principal.length},${agent.length},${tenant}${principal}${agent}${key}`
}
