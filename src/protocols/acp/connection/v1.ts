/** Version 1 of the protocol: the SDK's app for one connection. */
import * as sdk from '@agentclientprotocol/sdk'
import { clientFacts, initializeResponse } from '../capabilities.ts'
import { type Extension, inbound } from '../names.ts'
import { cancelSession } from '../prompts/canceling.ts'
import { prompt } from '../prompts/prompt-methods.ts'
import { loadSession, newSession, resumeSession } from '../sessions/attach-methods.ts'
import { close, list, remove, setConfigOption } from '../sessions/session-methods.ts'
import { extension } from '../suspend/control-methods.ts'
import type { Connection } from './connection.ts'
import { type Handled, handling } from './handling.ts'
import { createPeer } from './peer.ts'
import {
  configRequest,
  listRequest,
  loadRequest,
  newRequest,
  promptRequest,
  sessionRequest,
} from './requests.ts'

export function createV1(connection: Connection): sdk.AgentApp {
  const { acp, caller } = connection
  const { handle, report } = handling(connection)

  const app = sdk
    .agent({ name: 'lull' })
    .onRequest('initialize', ({ params, client }) => {
      connection.setPeer(createPeer(client, clientFacts(params.clientCapabilities), acp.traces))
      return initializeResponse(acp.agentInfo, acp.offers)
    })
    // Prompt and cancel are registered one after the other: the SDK tries its handlers in order,
    // and both requests must arrive in order.
    .onRequest('session/prompt', raw, handle('session/prompt', prompt, promptRequest))
    .onNotification('session/cancel', async ({ params: { sessionId } }) => {
      await cancelSession(acp, caller, sessionId).catch(report)
    })
    .onRequest('session/new', raw, handle('session/new', newSession, newRequest))
    .onRequest('session/load', raw, handle('session/load', loadSession, loadRequest))
    // `raw`, because the SDK would remove the members of the RFC, and reject a request without
    // `cwd`.
    .onRequest('session/resume', raw, handle('session/resume', resumeSession))
    .onRequest('session/list', raw, handle('session/list', list, listRequest))
    .onRequest('session/close', raw, handle('session/close', close, sessionRequest))
    .onRequest('session/delete', raw, handle('session/delete', remove, sessionRequest))
    .onRequest(
      'session/set_config_option',
      raw,
      handle('session/set_config_option', setConfigOption, configRequest),
    )

  for (const name of Object.keys(extension) as Extension[]) {
    for (const called of inbound[name]) {
      const method = handle(called, extension[name])
      app.onRequest(called, raw, (request: Handled<unknown>) => {
        connection.peer().markAware()
        return method(request)
      })
    }
  }
  return app
}

/** Passes parameters through, so that the SDK does not parse them. */
function raw<P>(params: unknown): P {
  return params as P
}
