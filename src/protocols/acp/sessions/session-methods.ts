/**
 * The methods `session/list`, `session/close`, `session/delete` and `session/set_config_option`.
 */

import {
  type ListSessionsRequest,
  type ListSessionsResponse,
  RequestError,
  type SetSessionConfigOptionRequest,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import { instantOr0, toIso } from '../../../core/values/instant.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { Connection } from '../connection/connection.ts'
import type { AcpContext, SessionRow } from '../connection/context.ts'
import { NOT_FOUND } from '../connection/faults.ts'
import { cancelSession } from '../prompts/open-prompts.ts'
import {
  AGENT,
  configOptions,
  RUN_STATE,
  readRunState,
  runState,
} from '../suspend/config-options.ts'
import { keyOf, type Session } from './sessions.ts'

export async function list(
  { acp, caller }: Connection,
  { cwd, cursor }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const page = await listSessions(acp, caller, cursor ?? undefined, cwd ?? undefined)
  const sessions = await Promise.all(
    page.sessions.map(async (session) => ({
      sessionId: session.id,
      cwd: session.cwd,
      ...(session.title === undefined ? {} : { title: session.title }),
      updatedAt: toIso(instantOr0(session.updatedAt)),
      _meta: acp.facts.ofSession(await acp.sessions.openTasks(caller, session.id)),
    })),
  )
  return { sessions, ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) }
}

/**
 * Ends the tasks that prompts of the session created, also parked ones. Tasks created by other
 * protocols continue.
 */
export async function close(
  connection: Connection,
  { sessionId }: { readonly sessionId: string },
): Promise<object> {
  const { acp, caller } = connection
  await acp.sessions.get(caller, sessionId)
  await cancelSession(acp, caller, sessionId)
  // The open prompts of this connection are answered before it detaches.
  await Promise.all(
    acp.openPrompts.of(keyOf(caller, sessionId), connection).map(({ answered }) => answered),
  )
  await connection.release(sessionId)
  return {}
}

/** Version 2: closing a session that does not exist succeeds. */
export function closeIfKnown(
  connection: Connection,
  request: { readonly sessionId: string },
): Promise<object> {
  return ifKnown(() => close(connection, request))
}

/**
 * The protocol requires that this succeeds for a session that was already deleted or never existed.
 */
export function remove(
  connection: Connection,
  { sessionId }: { readonly sessionId: string },
): Promise<object> {
  const { acp, caller } = connection
  return ifKnown(async () => {
    await close(connection, { sessionId })
    await acp.sessions.change(caller, sessionId, () => ({ deletedAt: acp.clock.now() }))
    await acp.waiting.forget(caller, sessionId)
    return {}
  })
}

async function ifKnown(work: () => Promise<object>): Promise<object> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RequestError && error.code === NOT_FOUND) return {}
    throw error
  }
}

export async function setConfigOption(
  connection: Connection,
  { sessionId, configId, ...request }: SetSessionConfigOptionRequest,
): Promise<SetSessionConfigOptionResponse> {
  const { acp, caller } = connection
  await connection.promptsRouted(sessionId)
  await connection.attached(sessionId)
  const { value } = request as { readonly value: unknown }
  if (configId === RUN_STATE && acp.offers.pause) await setRunState(connection, sessionId, value)
  else if (configId === AGENT && acp.engine.agents.size > 1) {
    await setAgent(connection, sessionId, value)
  } else throw invalid('configId', 'is no option of this session')
  return { configOptions: [...(await configOptions(acp, caller, sessionId))] }
}

async function setRunState(
  { acp, caller }: Connection,
  sessionId: string,
  value: unknown,
): Promise<void> {
  const state = await runState(acp, caller, sessionId)
  const wanted = readRunState(value, state)
  if (wanted === undefined) throw invalid('value', 'is no value of run_state')
  const { task } = state
  if (wanted === 'stale' || task === undefined) return
  const taskId = task.id
  if (wanted === 'suspend') {
    await acp.engine.pause(caller, { taskId }, { evenInputRequired: true, origin: 'acp' })
  } else {
    const handle = task.suspension?.handle
    await acp.engine.resume(caller, { taskId, handle }, { anyHandle: true })
  }
}

async function setAgent(
  { acp, caller }: Connection,
  sessionId: string,
  value: unknown,
): Promise<void> {
  if (typeof value !== 'string' || !acp.engine.agents.has(value)) {
    throw invalid('value', `must be one of ${[...acp.engine.agents.keys()].join(', ')}`)
  }
  await acp.sessions.change(caller, sessionId, () => ({ agent: value }))
}

function invalid(path: string, problem: string): LullError {
  return new LullError('INVALID_INPUT', { path, problem })
}

/**
 * Lists sessions, latest first: those that an editor opened, and contexts that only have tasks. Two
 * sorted lists are merged. A context with many tasks occurs many times in the second one, so a page
 * looks at a bounded number of tasks and may be short. The cursor is an instant with an id, not a
 * row, and stays valid when sessions are added, change or are removed.
 */
const PAGE = 50
const LOOK_AT = 1_000
/** A text that is greater than every id. */
const LAST = '\u{10ffff}'

type Place = Pick<SessionRow, 'updatedAt' | 'id'>

interface SessionPage {
  readonly sessions: readonly Session[]
  readonly cursor?: string
}

async function listSessions(
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
