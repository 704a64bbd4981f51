/**
 * Sessions, latest first: those an editor opened, and contexts that only have tasks. Two sorted lists are merged. A
 * context is met once per task, so a page looks at a bounded number of tasks and may be short; the cursor is a place in
 * time, not a row, and stays good when sessions come, move or go.
 */

import { LullError } from '../../../core/errors.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Session } from './sessions.ts'
import type { SessionRow } from './store.ts'

const PAGE = 50
const LOOK_AT = 1_000
/** After every id. */
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
  // From where the tasks were not looked at any more, a context might be missing.
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
  /** The instant at which it stopped looking; undefined where it has seen all. */
  readonly lookedUpTo?: number
}

/** Contexts without a row of their own, by their latest task. */
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
    // All of the latest instant, or the next page would begin where this one did.
    if (found.length > PAGE && statusAt !== found[0]?.updatedAt)
      return { found, lookedUpTo: statusAt }
    const place = { updatedAt: statusAt, id: contextId }
    if (seen.has(contextId) || (before !== undefined && !newer(before, place))) continue
    seen.add(contextId)
    if ((await store.session(tenant, principal, contextId)) !== undefined) continue
    const [latest] = await store.list({ tenant, principal, contextId, limit: 1 })
    // It was on an earlier page, by a later task.
    if (latest?.id !== id) continue
    found.push({ ...(await sessions.get(caller, contextId)), updatedAt: statusAt })
  }
  return { found, ...(lookedUpTo === undefined ? {} : { lookedUpTo }) }
}

type TaskRows = Awaited<ReturnType<AcpContext['store']['list']>>

/** A bounded number of tasks, but never only a part of those of one instant and nothing else. */
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
