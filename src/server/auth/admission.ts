/**
 * Limits the open requests, streams and sockets of each caller.
 *
 * L1  The number that a caller may have open, and may begin per second, is limited, and so it is
 *     for its tenant. So one caller cannot use up the sockets and the processing time of others.
 *     Messages of a WebSocket count as requests.
 * L2  Streams and sockets are closed when their credential ends.
 *
 * L3  Callers of public routes without a credential share separate limits, which do not count for
 *     any tenant.
 *
 * The owner of the process has no limits.
 */
import type { Clock } from '../../ports/clock.ts'
import { type Identity, keyOfIdentity, noIdentity, owner } from './identity.ts'

export interface AdmissionLimits {
  /**
   * The number of requests per second that a principal may begin. Bursts of up to twice as many are
   * accepted.
   */
  readonly requestsPerSecond: number
  /** The number of requests, streams and sockets that a principal may have open. */
  readonly requestsOpen: number
  /** The limits of a tenant, as a multiple of those of a principal. */
  readonly tenantFactor: number
  /**
   * The bytes of large requests and answers that a principal may have in memory. All callers
   * together may have four times as many.
   */
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
  /** How long to wait before one more may begin. Absent if waiting alone does not help. */
  readonly waitMs?: number
}

export interface Admission {
  /**
   * Registers something that was opened.
   * @param end closes it
   * @returns a function to call when it has ended, or the limit that refused it
   */
  enter(identity: Identity, end: () => void): (() => void) | Refused
  /**
   * Counts something that is over at once.
   * @returns the limit that was reached, if any
   */
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
  /** The number of requests that may begin now. */
  tokens: number
  /** The elapsed time at which the tokens were last computed. */
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

/**
 * The keys under which a request counts. Those of callers without a credential belong to no tenant.
 */
function keysOf(identity: Identity): readonly [ofPrincipal: string, ofTenant: string] {
  const ofTenant = identity === noIdentity ? 'strangers' : JSON.stringify([identity.tenant])
  return [keyOfIdentity(identity), ofTenant]
}
