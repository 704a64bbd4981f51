/**
 * Open requests, streams and sockets of each caller.
 *
 * L1  A caller has at most so many open at once, and begins at most so many in a second. The same holds for its tenant. One
 *     caller cannot use up the sockets and the time of the others. The messages of a WebSocket are requests, too.
 * L2  Streams and sockets end when their credential does.
 *
 * L3  Strangers, who call public routes without a credential, share limits of their own. They use up those of no tenant.
 *
 * The owner of the process has no limits.
 */
import type { Clock } from '../../ports/clock.ts'
import { type Identity, keyOfIdentity, noIdentity, owner } from './identity.ts'

export interface AdmissionLimits {
  /** Requests that a principal may begin in a second. A burst of twice as many is taken. */
  readonly requestsPerSecond: number
  /** Requests, streams and sockets that a principal may have open. */
  readonly requestsOpen: number
  /** How many times as much the principals of a tenant may have together. */
  readonly tenantFactor: number
  /** Bytes of large requests and answers of a principal that may be in memory; of all callers four times as many. */
  readonly bytesInFlight: number
}

export const defaultLimits: AdmissionLimits = {
  requestsPerSecond: 200,
  requestsOpen: 256,
  tenantFactor: 4,
  bytesInFlight: 67_108_864,
}

export interface Refused {
  /** The name of the limit that was reached. */
  readonly limit: string
  readonly value: number
  /** After this time one more may begin. Absent: it is not about time. */
  readonly waitMs?: number
}

export interface Admission {
  /** @param end closes what was opened @returns what to call when it has ended, or why it may not begin */
  enter(identity: Identity, end: () => void): (() => void) | Refused
  /** Something comes that is over at once. @returns why it comes too early */
  take(identity: Identity): Refused | undefined
  close(): void
}

export interface AdmissionDeps {
  readonly clock: Pick<Clock, 'elapsed' | 'wall' | 'after'>
  readonly stillValid: (credentialId: string) => Promise<boolean>
}

/** A caller with nothing open is forgotten after this time. */
const SWEEP_MS = 5_000

interface Usage {
  open: number
  /** Requests that may begin now. */
  tokens: number
  /** When the tokens were counted, in elapsed time. */
  at: number
}

interface Open {
  readonly identity: Identity
  readonly end: () => void
}

export function createAdmission(
  { clock, stillValid }: AdmissionDeps,
  limits: AdmissionLimits = defaultLimits,
): Admission {
  const usages = new Map<string, Usage>()
  const opened = new Set<Open>()
  let cancel = clock.after(SWEEP_MS, sweep)

  function usageOf(key: string, factor: number): Usage {
    const now = clock.elapsed()
    const rate = limits.requestsPerSecond * factor
    const known = usages.get(key) ?? { open: 0, tokens: rate * 2, at: now }
    known.tokens = Math.min(rate * 2, known.tokens + ((now - known.at) / 1_000) * rate)
    known.at = now
    usages.set(key, known)
    return known
  }

  function refusalOf(usage: Usage, of: string, factor: number): Refused | undefined {
    const value = limits.requestsOpen * factor
    if (usage.open >= value) return { limit: `requestsOpen of the ${of}`, value }
    return tooEarly(usage, of, factor)
  }

  function tooEarly({ tokens }: Usage, of: string, factor: number): Refused | undefined {
    if (tokens >= 1) return undefined
    const value = limits.requestsPerSecond * factor
    const waitMs = Math.ceil(((1 - tokens) / value) * 1_000)
    return { limit: `requestsPerSecond of the ${of}`, value, waitMs }
  }

  function usagesOf(identity: Identity): readonly [own: Usage, all: Usage] {
    const [ofPrincipal, ofTenant] = keysOf(identity)
    return [usageOf(ofPrincipal, 1), usageOf(ofTenant, limits.tenantFactor)]
  }

  function sweep(): void {
    cancel = clock.after(SWEEP_MS, sweep)
    for (const [key, { open, at }] of usages) {
      if (open === 0 && clock.elapsed() - at > SWEEP_MS) usages.delete(key)
    }
    endInvalid().catch(() => undefined)
  }

  async function endInvalid(): Promise<void> {
    const checked = new Map<string, Promise<boolean>>()
    for (const { identity, end } of [...opened]) {
      const { credentialId, expiresAt } = identity
      if (expiresAt !== undefined && expiresAt <= clock.wall()) end()
      if (credentialId === undefined) continue
      const valid = checked.get(credentialId) ?? stillValid(credentialId)
      checked.set(credentialId, valid)
      if (!(await valid)) end()
    }
  }

  return {
    enter(identity, end) {
      if (identity === owner) return () => undefined
      const [own, all] = usagesOf(identity)
      const refused =
        refusalOf(own, 'principal', 1) ?? refusalOf(all, 'tenant', limits.tenantFactor)
      if (refused !== undefined) return refused
      const one: Open = { identity, end }
      opened.add(one)
      for (const usage of [own, all]) {
        usage.open++
        usage.tokens--
      }
      return () => {
        if (!opened.delete(one)) return
        for (const usage of [own, all]) usage.open--
      }
    },
    take(identity) {
      if (identity === owner) return undefined
      const [own, all] = usagesOf(identity)
      const early = tooEarly(own, 'principal', 1) ?? tooEarly(all, 'tenant', limits.tenantFactor)
      if (early !== undefined) return early
      for (const usage of [own, all]) usage.tokens--
      return undefined
    },
    close: () => cancel(),
  }
}

/** The keys of strangers are like those of no tenant. */
function keysOf(identity: Identity): readonly [ofPrincipal: string, ofTenant: string] {
  const ofTenant = identity === noIdentity ? 'strangers' : JSON.stringify([identity.tenant])
  return [keyOfIdentity(identity), ofTenant]
}
