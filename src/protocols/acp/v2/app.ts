/** Version 2 of ACP, a draft: a prompt is answered when it is accepted, and `state_update` says when its work ends. */
import { RequestError } from '@agentclientprotocol/sdk'
import * as sdk from '@agentclientprotocol/sdk/experimental/v2'
import { LullError } from '../../../core/errors.ts'
import { parse } from '../../../engine/input/parse.ts'
import { capabilitiesMeta, clientFacts, steeringMeta } from '../capabilities.ts'
import type { Connection } from '../connection/connection.ts'
import { handling, type Method } from '../connection/handling.ts'
import { availableCommands } from '../prompts/commands.ts'
import { beginPrompt, type PromptFields } from '../prompts/prompt-methods.ts'
import { resumeRequest } from '../schemas/requests.ts'
import { newSession, reach, resumeSession } from '../sessions/attach-methods.ts'
import { closeIfKnown, list, remove, setConfigOption } from '../sessions/session-methods.ts'
import { createPeerV2 } from './peer.ts'
import { commandV2, optionV2 } from './shapes.ts'

export function createV2(connection: Connection): sdk.AgentApp {
  const { acp } = connection
  const { handle, cancel, extensions } = handling(connection)

  const app = sdk
    .agent({ name: 'lull' })
    .onRequest('initialize', ({ params, client }) => {
      connection.setPeer(createPeerV2(client, clientFacts(params.capabilities), acp.traces))
      return {
        protocolVersion: sdk.PROTOCOL_VERSION,
        info: { ...acp.agentInfo },
        capabilities: {
          session: { prompt: { image: {}, audio: {}, embeddedContext: {} }, delete: {} },
          _meta: capabilitiesMeta(acp.offers),
        },
        _meta: steeringMeta,
      }
    })
    .onRequest('session/prompt', handle('session/prompt', insert))
    .onRequest('session/new', handle('session/new', begin))
    .onRequest('session/resume', handle('session/resume', resume))
    .onRequest('session/list', handle('session/list', list))
    .onRequest('session/close', handle('session/close', closeIfKnown))
    .onRequest('session/delete', handle('session/delete', remove))
    .onRequest('session/set_config_option', handle('session/set_config_option', configure))
    .onNotification('session/cancel', cancel)

  for (const [name, handler] of extensions) app.onRequest(name as `_${string}`, raw, handler)
  return app
}

function raw(params: unknown): unknown {
  return params
}

const insert: Method<PromptFields, sdk.PromptResponse> = async (connection, request, signal) => {
  const { messageId, ended } = await beginPrompt(connection, request, signal)
  // Not awaited: `state_update` reports how the prompt ends.
  ended.catch(() => undefined)
  if (messageId === undefined) throw RequestError.requestCancelled()
  return { messageId }
}

const begin: Method<sdk.NewSessionRequest, sdk.NewSessionResponse> = async (connection, params) => {
  const { configOptions, ...created } = await newSession(connection, params)
  return {
    ...created,
    configOptions: (configOptions ?? []).map(optionV2),
    availableCommands: availableCommands(connection.acp.offers).map(commandV2),
  }
}

const resume: Method<sdk.ResumeSessionRequest, sdk.ResumeSessionResponse> = async (
  connection,
  params,
  signal,
) => {
  const { sessionId } = parse(resumeRequest, params)
  const { replayFrom } = params
  if (replayFrom != null && replayFrom.type !== 'start') {
    const problem = 'must be start: histories are replayed whole'
    throw new LullError('INVALID_INPUT', { path: 'replayFrom.type', problem })
  }
  if (replayFrom != null) await reach(connection, sessionId, true)
  const answer = await resumeSession(connection, params, signal, replayFrom != null)
  await connection.peer().sendState?.(sessionId)
  const { configOptions, ...rest } = answer
  return {
    ...rest,
    configOptions: configOptions.map(optionV2),
    availableCommands: availableCommands(connection.acp.offers).map(commandV2),
  }
}

const configure: Method<
  sdk.SetSessionConfigOptionRequest,
  sdk.SetSessionConfigOptionResponse
> = async (connection, { sessionId, configId, value }) => {
  const request = { sessionId, configId, value } as Parameters<typeof setConfigOption>[1]
  const { configOptions } = await setConfigOption(connection, request)
  return { configOptions: configOptions.map(optionV2) }
}
