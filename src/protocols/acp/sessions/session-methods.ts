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
import type { Connection } from '../connection/connection.ts'
import { NOT_FOUND } from '../connection/faults.ts'
import { cancelSession } from '../prompts/canceling.ts'
import { AGENT, configOptions, runState } from '../suspend/config-options.ts'
import { RUN_STATE, readRunState } from '../suspend/run-state.ts'
import { listSessions } from './session-list.ts'
import { keyOf } from './sessions.ts'

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
