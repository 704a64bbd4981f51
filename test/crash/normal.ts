import type { ContextSnapshot, LogRecord } from '../../src/core/records.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** What is numbered, timed or signed over things that differ. */
const leftOut: ReadonlySet<string> = new Set([
  'seq',
  'run',
  'pausedMs',
  'hash',
  'inputHash',
  'eventHash',
  'signature',
  'ed25519',
  'previous',
  'number',
  'keyId',
  'stack',
])
/** Epoch milliseconds of this century: no other number is that large. */
const EPOCH_MS = 1e12

/** Logs with ids numbered in the order they first appear, and times and signatures gone. */
export function normal(logs: readonly (readonly LogRecord[])[]): readonly (readonly object[])[] {
  const ids = new Map<string, string>()
  const nameOf = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`)
    return ids.get(id) ?? ''
  }

  function plain(value: unknown): unknown {
    if (typeof value === 'number') return value > EPOCH_MS ? '<time>' : value
    if (typeof value === 'string') return value.replace(UUID, nameOf).replace(INSTANT, '<time>')
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, member]) => !leftOut.has(key) && !isDigest(member))
        .map(([key, member]) => [
          plain(key),
          plain(key === 'seen' ? withoutVersions(member) : member),
        ]),
    )
  }

  return plain(logs) as readonly (readonly object[])[]
}

/** The digest of what a receipt covers: it contains ids and times. */
function isDigest(member: unknown): boolean {
  return typeof member === 'string' && /^[0-9a-f]{64}$/.test(member)
}

/** Which tasks a new task sees in its context. A version also counts who ran the task, and that differs. */
function withoutVersions(seen: ContextSnapshot): object {
  return { ...seen, tasks: seen.tasks.map(([taskId]) => taskId) }
}
