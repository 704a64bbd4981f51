/** Version 1 of the protocol: the SDK's app for one connection. */

import * as sdk from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { clientFacts, initializeResponse } from '../capabilities.ts'
import { prompt } from '../prompts/prompt-methods.ts'
import { loadSession, newSession, resumeSession } from '../sessions/attach-methods.ts'
import { close, list, remove, setConfigOption } from '../sessions/session-methods.ts'
import type { Connection } from './connection.ts'
import { handling } from './handling.ts'
import { createPeerV1 } from './peer.ts'

export function createV1(connection: Connection): sdk.AgentApp {
  const { acp } = connection
  const { handle, cancel, extensions } = handling(connection)

  const app = sdk
    .agent({ name: 'lull' })
    .onRequest('initialize', ({ params, client }) => {
      connection.setPeer(createPeerV1(client, clientFacts(params.clientCapabilities), acp.traces))
      return initializeResponse(acp.agentInfo, acp.offers)
    })
    // Prompt and cancel are registered one after the other: the SDK tries its handlers in order,
    // and both requests must arrive in order.
    .onRequest('session/prompt', raw, handle('session/prompt', prompt, promptRequest))
    .onNotification('session/cancel', cancel)
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

  for (const [name, handler] of extensions) app.onRequest(name, raw, handler)
  return app
}

/** Passes parameters through, so that the SDK does not parse them. */
function raw<P>(params: unknown): P {
  return params as P
}

/**
 * The schemas of the requests of version 1. They are parsed here and not by the SDK, so that an
 * error names the path of the invalid member. Unknown members are ignored.
 */
const sessionId = z.string().max(256)
const meta = z.record(z.string(), z.unknown()).nullish()
const cwd = z.string().min(1)
const mcpServers = z.array(z.looseObject({ name: z.string() }))

const newRequest: z.ZodType = z.looseObject({ cwd, mcpServers, _meta: meta })
const loadRequest: z.ZodType = z.looseObject({ sessionId, cwd, mcpServers, _meta: meta })
const listRequest: z.ZodType = z.looseObject({
  cwd: cwd.nullish(),
  cursor: z.string().nullish(),
})
const sessionRequest: z.ZodType = z.looseObject({ sessionId })
const promptRequest: z.ZodType = z.looseObject({
  sessionId,
  prompt: z.array(z.unknown()),
  _meta: meta,
})
const configRequest: z.ZodType = z.looseObject({
  sessionId,
  configId: z.string(),
  value: z.union([z.string(), z.boolean()]),
})
