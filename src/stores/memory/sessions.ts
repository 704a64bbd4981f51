import type { SessionRow } from '../../ports/store/sessions.ts'
import type { Direct } from '../../ports/store.ts'
import type { UsageTotals } from './usage.ts'

export interface Sessions extends Direct<'putSession' | 'replaceSession' | 'session' | 'sessions'> {
  prune(updatedBefore: number, isNeeded: (session: SessionRow) => boolean): number
}

export function createSessions(usage: UsageTotals): Sessions {
  const kept = new Map<string, string>()
  const keyOf = (...key: readonly [string, string, string]): string => JSON.stringify(key)

  function putSession(session: SessionRow): void {
    const { tenant, principal, id } = session
    const key = keyOf(tenant, principal, id)
    const text = JSON.stringify(session)
    const bytes = Buffer.byteLength(text) - Buffer.byteLength(kept.get(key) ?? '')
    usage.add(tenant, principal, { bytes })
    kept.set(key, text)
  }

  return {
    putSession,
    replaceSession(before, after) {
      const stored = kept.get(keyOf(after.tenant, after.principal, after.id))
      if (stored !== (before && JSON.stringify(before))) return false
      putSession(after)
      return true
    },
    session(tenant, principal, id) {
      const text = kept.get(keyOf(tenant, principal, id))
      return text === undefined ? undefined : (JSON.parse(text) as SessionRow)
    },
    sessions: (tenant, principal, before, limit) =>
      [...kept.values()]
        .map((text) => JSON.parse(text) as SessionRow)
        .filter((one) => one.tenant === tenant && one.principal === principal)
        .filter((one) => one.deletedAt === undefined)
        .filter((one) => before === undefined || newer(before, one))
        .sort((a, b) => (newer(a, b) ? -1 : 1))
        .slice(0, limit),
    prune(updatedBefore, isNeeded) {
      const before = kept.size
      for (const [key, text] of kept) {
        const session = JSON.parse(text) as SessionRow
        if (session.updatedAt >= updatedBefore || isNeeded(session)) continue
        usage.add(session.tenant, session.principal, { bytes: -Buffer.byteLength(text) })
        kept.delete(key)
      }
      return before - kept.size
    },
  }
}

type ListKey = Pick<SessionRow, 'updatedAt' | 'id'>

function newer(a: ListKey, b: ListKey): boolean {
  return a.updatedAt > b.updatedAt || (a.updatedAt === b.updatedAt && a.id > b.id)
}
