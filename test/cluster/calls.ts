/** Requests to processes of the cluster that may die, stand still or have lost their database meanwhile. */
import { createWire, type Loose, type Wire } from '../crash/storm/wire.ts'
import type { Chooser } from '../support/chooser.ts'
import { EVENT_TYPE } from './plan.ts'
import type { Processes } from './processes.ts'

/** `unknown`: there was no answer, or the store was away. It may have been done. */
export type Outcome =
  | { readonly kind: 'done'; readonly result: Loose }
  | { readonly kind: 'refused'; readonly reason: string; readonly code: number }
  | { readonly kind: 'unknown' }

export interface Calls {
  rpc(slot: number, method: string, params: object): Promise<Outcome>
  /** Asks random processes until one answers. */
  persist(choose: Chooser, method: string, params: object): Promise<Outcome>
  /** Sends the event to random processes until one acknowledges it. */
  emit(choose: Chooser, subject: string): Promise<void>
  close(): void
}

const CONNECTIONS = 64
/** Reasons that say nothing about the request. */
const passing = new Set(['UNAVAILABLE', 'STORE_UNAVAILABLE', 'DRAINING', 'OVERLOADED', 'INTERNAL'])

export const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createCalls({ count, url }: Processes): Calls {
  const wires: Wire[] = Array.from({ length: count }, (_, n) => createWire(url(n), CONNECTIONS))

  async function rpc(slot: number, method: string, params: object): Promise<Outcome> {
    const answer = await wires[slot]?.rpc('1.0', method, params)
    if (answer === undefined) return { kind: 'unknown' }
    const { result, error } = answer.body
    if (result !== undefined) return { kind: 'done', result }
    const info = Array.isArray(error?.data) ? error.data[0] : error?.data
    const reason = String(info?.reason ?? answer.body.error?.code ?? answer.status)
    if (answer.status >= 500 || passing.has(reason)) return { kind: 'unknown' }
    return { kind: 'refused', reason, code: error?.code }
  }

  return {
    rpc,
    async persist(choose, method, params) {
      for (;;) {
        const outcome = await rpc(choose.below(count), method, params)
        if (outcome.kind !== 'unknown') return outcome
        await pass(100)
      }
    },
    async emit(choose, subject) {
      const event = { specversion: '1.0', id: subject, source: 'soak', type: EVENT_TYPE, subject }
      for (;;) {
        const answer = await wires[choose.below(count)]?.emit(event)
        if (answer?.status === 202) return
        await pass(100)
      }
    },
    close() {
      for (const wire of wires) wire.close()
    },
  }
}
