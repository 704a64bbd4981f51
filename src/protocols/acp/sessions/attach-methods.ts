/**
 * The methods `session/new`, `session/load` and `session/resume`: a connection attaches to a
 * session.
 */
import { posix, win32 } from 'node:path'
import type {
  LoadSessionRequest,
  LoadSessionResponse,
  NewSessionRequest,
  NewSessionResponse,
  SessionConfigOption,
} from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { parse } from '../../../engine/input/parse.ts'
import { isOwn, type Meta } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { availableCommands } from '../prompts/commands.ts'
import { resumeRequest } from '../schemas/requests.ts'
import { configOptions } from '../suspend/config-options.ts'
import { suspendSession, wakeSession } from '../suspend/control-methods.ts'
import { isFields, readTunnelled } from '../suspend/tunnel.ts'

export async function newSession(
  connection: Connection,
  { cwd, _meta }: Pick<NewSessionRequest, 'cwd' | '_meta'>,
): Promise<NewSessionResponse> {
  const { acp, caller } = connection
  if (!isAbsolutePath(cwd)) {
    throw new LullError('INVALID_INPUT', { path: 'cwd', problem: 'must be an absolute path' })
  }
  const agent = agentIn(connection, _meta)
  connection.checkRoom()
  const session = await acp.sessions.create(caller, {
    cwd,
    ...(agent === undefined ? {} : { agent }),
  })
  await connection.attach(session, false)
  connection.later(() => tellCommands(connection, session.id))
  const options = await configOptions(acp, caller, session.id)
  return { sessionId: session.id, configOptions: [...options] }
}

/**
 * Accepts the absolute paths of every system, because the client may run on another operating
 * system than the server.
 */
function isAbsolutePath(path: string): boolean {
  return path.length <= LONGEST_PATH && (posix.isAbsolute(path) || win32.isAbsolute(path))
}

const LONGEST_PATH = 4_096

function agentIn({ acp }: Connection, meta: Meta): string | undefined {
  const lull = meta?.['lull']
  const agent = isFields(lull) ? lull['agent'] : undefined
  if (agent === undefined) return undefined
  if (typeof agent === 'string' && acp.engine.agents.has(agent)) return agent
  const names = [...acp.engine.agents.keys()].join(', ')
  const problem = `must be one of ${names}`
  throw new LullError('INVALID_INPUT', { path: '_meta.lull.agent', problem })
}

export async function loadSession(
  connection: Connection,
  { sessionId, _meta }: Pick<LoadSessionRequest, 'sessionId' | '_meta'>,
  signal: AbortSignal,
): Promise<LoadSessionResponse> {
  await reach(connection, sessionId, true)
  await carryOut(connection, sessionId, _meta, signal)
  return sessionState(connection, sessionId)
}

export interface ResumedSession {
  readonly configOptions: SessionConfigOption[]
  readonly _meta: JsonObject
}

/**
 * Attaches to a session. Clients send this request at every start, so it wakes a suspended task
 * only if the request has a handle, an input or `continueTranscript`, or if the client declares the
 * RFC, in which `session/resume` means wake.
 * @param reached whether the connection is already attached
 */
export async function resumeSession(
  connection: Connection,
  params: unknown,
  signal: AbortSignal,
  reached = false,
): Promise<ResumedSession> {
  const { sessionId, handle, input, continueTranscript, _meta } = parse(resumeRequest, params)
  if (!reached) await reach(connection, sessionId, false)
  const wakes =
    handle != null ||
    input !== undefined ||
    continueTranscript !== undefined ||
    (connection.peer().facts.rfc && (await isSuspended(connection, sessionId)))
  const woken = wakes
    ? await wakeSession(connection, { sessionId, handle, input, continueTranscript, _meta })
    : await carryOut(connection, sessionId, _meta, signal)
  const { configOptions: options, _meta: facts } = await sessionState(connection, sessionId)
  return { configOptions: options, _meta: withWake(facts, woken) }
}

/** Attaches to a session, and sends the client the slash commands. */
export async function reach(
  connection: Connection,
  sessionId: string,
  replays: boolean,
): Promise<void> {
  const { acp, caller } = connection
  await connection.attach(await acp.sessions.get(caller, sessionId), replays)
  await tellCommands(connection, sessionId)
}

function tellCommands(connection: Connection, sessionId: string): Promise<void> {
  return connection.peer().update(sessionId, {
    sessionUpdate: 'available_commands_update',
    availableCommands: [...availableCommands(connection.acp.offers)],
  })
}

async function isSuspended({ acp, caller }: Connection, sessionId: string): Promise<boolean> {
  const open = await acp.sessions.openTasks(caller, sessionId)
  return open.some((task) => isOwn(task) && task.suspension !== undefined)
}

/**
 * Suspends or wakes the task as the metadata of the request demands.
 * @returns the answer of a wake
 */
async function carryOut(
  connection: Connection,
  sessionId: string,
  meta: Meta,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const carried = readTunnelled(meta, sessionId, connection.acp.config.harnTunnel)
  if (carried === undefined) return undefined
  if (carried.op === 'wake') {
    return wakeSession(connection, { ...carried.request, _meta: meta })
  }
  await suspendSession(connection, { ...carried.request, _meta: meta }, signal)
  return undefined
}

async function sessionState(
  { acp, caller }: Connection,
  sessionId: string,
): Promise<ResumedSession> {
  return {
    configOptions: [...(await configOptions(acp, caller, sessionId))],
    _meta: acp.facts.ofSession(await acp.sessions.openTasks(caller, sessionId)),
  }
}

function withWake(facts: JsonObject, woken: JsonObject | undefined): JsonObject {
  if (woken === undefined) return facts
  const { _meta: _, ...wake } = woken
  return { ...facts, lull: { ...(facts['lull'] as JsonObject), wake } }
}
