/**
 * Messages with an idempotency key that are being handled now.
 *
 * I1  The same message is never handled twice at the same time. A repeat waits for the answer to the first.
 */
import type { Claim } from '../../ports/store/claims.ts'
import { TransientMap } from '../transient-map.ts'
import { checkSame } from './claims.ts'
import type { SendResult } from './send-result.ts'

export interface InFlight {
  /** @throws LullError `IDEMPOTENCY_KEY_REUSED` */
  once(claim: Claim, handle: () => Promise<SendResult>): Promise<SendResult>
}

export function createInFlight(): InFlight {
  const handled = new TransientMap<{ readonly claim: Claim; readonly sent: Promise<SendResult> }>()

  return {
    async once(claim, handle) {
      const name = nameOf(claim)
      const first = handled.get(name)
      if (first !== undefined) {
        checkSame(first.claim, claim)
        return { ...(await first.sent), repeated: true }
      }
      const sent = handle()
      handled.set(name, { claim, sent })
      try {
        return await sent
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
