import type {
  Claim,
  ClaimKey,
  ContextMessage,
  StoredContextMessage,
} from '../../ports/store/claims.ts'
import type { UsageTotals } from './usage.ts'

export interface Claims {
  findClaim(key: ClaimKey): Claim | undefined
  /**
   * Claims the key unless it is taken. Returns the claim that has the key, and whether this call
   * wrote it (`fresh`).
   */
  take(claim: Claim): { readonly claim: Claim; readonly fresh: boolean }
  /**
   * Stores the first reply to a claim and adds its messages to the context. A repeated reply writes
   * nothing.
   */
  reply(claim: Claim | undefined, messages: readonly ContextMessage[]): void
  contextMessages(
    tenant: string,
    principal: string,
    contextId: string,
    limit: number,
    upTo?: number,
  ): readonly StoredContextMessage[]
  pruneMessages(before: number, isNeeded: (message: ContextMessage) => boolean): number
  pruneClaims(createdBefore: number, limit: number): number
}

export function createClaims(usage: UsageTotals): Claims {
  const claims = new Map<string, string>()
  const contexts = new Map<string, string[]>()
  let lastPos = 0

  function findClaim(key: ClaimKey): Claim | undefined {
    const text = claims.get(keyOf(key))
    return text === undefined ? undefined : (JSON.parse(text) as Claim)
  }

  function take(claim: Claim): { readonly claim: Claim; readonly fresh: boolean } {
    const taken = findClaim(claim)
    if (taken !== undefined) return { claim: taken, fresh: false }
    claims.set(keyOf(claim), JSON.stringify(claim))
    return { claim, fresh: true }
  }

  return {
    findClaim,
    take,
    reply(claim, messages) {
      if (claim !== undefined) {
        const taken = findClaim(claim)
        if (taken !== undefined && (taken.taskId !== claim.taskId || taken.reply !== undefined))
          return
        claims.set(keyOf(claim), JSON.stringify({ ...claim, ...taken, reply: claim.reply }))
      }
      for (const message of messages) {
        const context = contextOf(message)
        const stored = JSON.stringify({ ...message, pos: ++lastPos })
        contexts.set(context, [...(contexts.get(context) ?? []), stored])
        usage.add(message.tenant, message.principal, { bytes: bytesOf(message) })
      }
    },
    contextMessages: (tenant, principal, contextId, limit, upTo = lastPos) =>
      (contexts.get(contextOf({ tenant, principal, contextId })) ?? [])
        .map((text) => JSON.parse(text) as StoredContextMessage)
        .filter(({ pos }) => pos <= upTo)
        .slice(-limit),
    pruneMessages(before, isNeeded) {
      let removed = 0
      for (const [context, texts] of contexts) {
        const kept = texts.filter((text) => {
          const message = JSON.parse(text) as StoredContextMessage
          const keeps = message.at >= before || isNeeded(message)
          if (!keeps) usage.add(message.tenant, message.principal, { bytes: -bytesOf(message) })
          return keeps
        })
        removed += texts.length - kept.length
        contexts.set(context, kept)
      }
      return removed
    },
    pruneClaims(createdBefore, limit) {
      const old = [...claims].filter(
        ([, text]) => (JSON.parse(text) as Claim).createdAt < createdBefore,
      )
      for (const [key] of old.slice(0, limit)) claims.delete(key)
      return Math.min(old.length, limit)
    },
  }
}

function bytesOf({ message }: ContextMessage): number {
  return Buffer.byteLength(JSON.stringify(message))
}

function keyOf({ tenant, principal, agent, key }: ClaimKey): string {
  return JSON.stringify([tenant, principal, agent, key])
}

function contextOf(context: Pick<ContextMessage, 'tenant' | 'principal' | 'contextId'>): string {
  return JSON.stringify([context.tenant, context.principal, context.contextId])
}
