/**
 * Lists sessions, latest first: those that an editor opened, and contexts that only have tasks. Two
 * sorted lists are merged. A context with many tasks occurs many times in the second one, so a page
 * looks at a bounded number of tasks and may be short. The cursor is an instant with an id, not a
 * row, and stays valid when sessions are added, change or are removed.
 */

import { LullError } from '../../../core/errors.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Session } from './sessions.ts'
import type { SessionRow } from './store.ts'

const PAGE = 50
const LOOK_AT = 1_000
/** A text that is greater than every id. */
const LAST = '\u{10ffff}'

type Place = Pick<SessionRow, 'updatedAt' | 'id'>

export interface SessionPage {
  readonly sessions: readonly Session[]
  readonly cursor?: string
}

export async function listSessions(
  acp: AcpContext,
  caller: Caller,
  cursor: string | undefined,
  cwd: string | undefined,
): Promise<SessionPage> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const { tenant, principal } = caller
  const rows = await acp.store.sessions(tenant, principal, before, PAGE + 1)
  const contexts = await contextsBefore(acp, caller, before)
  const all = [...rows, ...contexts.found].sort((a, b) => (newer(a, b) ? -1 : 1))
  // Sessions older than the last task that was looked at are left to the next page, because
  // contexts might be missing among them.
  const { lookedUpTo } = contexts
  const complete = all.filter((one) => lookedUpTo === undefined || one.updatedAt > lookedUpTo)
  const page = complete.slice(0, PAGE)
  const rest = lookedUpTo === undefined ? undefined : { updatedAt: lookedUpTo, id: LAST }
  const next = complete.length > PAGE ? page.at(-1) : rest
  return {
    sessions: page.filter((session) => cwd === undefined || session.cwd === cwd),
    ...(next === undefined ? {} : { cursor: `${next.updatedAt}~${next.id}` }),
  }
}

interface Contexts {
  readonly found: readonly Session[]
  /** The instant up to which tasks were looked at. Absent when all were. */
  readonly lookedUpTo?: number
}

/** Lists contexts without a session row, by their latest task. */
async function contextsBefore(
  acp: AcpContext,
  caller: Caller,
  before: Place | undefined,
): Promise<Contexts> {
  const { tenant, principal } = caller
  const { store, sessions } = acp
  const { tasks, lookedUpTo } = await tasksBefore(acp, caller, before)
  const found: Session[] = []
  const seen = new Set<string>()
  for (const { contextId, statusAt, id } of tasks) {
    // Includes all contexts of the last instant, because otherwise the next page could begin where
    // this one did.
    if (found.length > PAGE && statusAt !== found[0]?.updatedAt)
      return { found, lookedUpTo: statusAt }
    const place = { updatedAt: statusAt, id: contextId }
    if (seen.has(contextId) || (before !== undefined && !newer(before, place))) continue
    seen.add(contextId)
    if ((await store.session(tenant, principal, contextId)) !== undefined) continue
    const [latest] = await store.list({ tenant, principal, contextId, limit: 1 })
    // The context was on an earlier page, because of a later task.
    if (latest?.id !== id) continue
    found.push({ ...(await sessions.get(caller, contextId)), updatedAt: statusAt })
  }
  return { found, ...(lookedUpTo === undefined ? {} : { lookedUpTo }) }
}

type TaskRows = Awaited<ReturnType<AcpContext['store']['list']>>

/** Reads a bounded number of tasks, and always all tasks of the first instant. */
async function tasksBefore(
  { store }: AcpContext,
  { tenant, principal }: Caller,
  before: Place | undefined,
): Promise<{ readonly tasks: TaskRows; readonly lookedUpTo?: number }> {
  let place = before === undefined ? undefined : { statusAt: before.updatedAt, id: LAST }
  const tasks: TaskRows[number][] = []
  for (;;) {
    const some = place === undefined ? {} : { before: place }
    const page = await store.list({ tenant, principal, limit: LOOK_AT, ...some })
    tasks.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < LOOK_AT) return { tasks }
    if (last.statusAt !== tasks[0]?.statusAt) return { tasks, lookedUpTo: last.statusAt }
    place = last
  }
}

function newer(a: Place, b: Place): boolean {
  return a.updatedAt > b.updatedAt || (a.updatedAt === b.updatedAt && a.id > b.id)
}

function readCursor(cursor: string): Place {
  const found = /^(\d{1,16})~(.+)$/s.exec(cursor)
  if (found?.[1] === undefined || found[2] === undefined) {
    throw new LullError('INVALID_INPUT', { path: 'cursor', problem: 'is not one of ours' })
  }
  return { updatedAt: Number(found[1]), id: found[2] }
}
