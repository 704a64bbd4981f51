/** Version 1 of the protocol: the SDK's app for one connection. */
import * as sdk from '@agentclientprotocol/sdk'
import { cancelSession } from './canceling.ts'
import { clientFacts, initializeResponse } from './capabilities.ts'
import type { Connection } from './connection.ts'
import { toRequestError } from './faults.ts'
import { loadSession, newSession, resumeSession } from './methods/attaching.ts'
import { remind, steer, suspend, wake } from './methods/control.ts'
import { prompt } from './methods/prompt.ts'
import { close, list, remove, setConfigOption } from './methods/sessions.ts'
import { type Extension, inbound } from './names.ts'
import { createPeer } from './peer.ts'

/** One request: what was sent, and a signal that fires when it is given up or the connection is lost. */
type Method<P, R> = (connection: Connection, params: P, signal: AbortSignal) => Promise<R>

interface Handled<P> {
  readonly params: P
  readonly signal: AbortSignal
}

export function createV1(connection: Connection): sdk.AgentApp {
  const { acp, caller } = connection

  const report = (error: unknown): void => acp.log('error', 'an ACP request failed', { error })
  const handle =
    <P, R>(method: Method<P, R>) =>
    async ({ params, signal }: Handled<P>): Promise<R> => {
      try {
        return await method(connection, params, signal)
      } catch (error) {
        throw toRequestError(error, report)
      }
    }

  const app = sdk
    .agent({ name: 'lull' })
    .onRequest('initialize', ({ params, client }) => {
      connection.met(createPeer(client, clientFacts(params.clientCapabilities)))
      return initializeResponse(acp.agentInfo)
    })
    // Side by side, because the SDK looks through its handlers one by one: what is sent first must be met first.
    .onRequest('session/prompt', handle(prompt))
    .onNotification('session/cancel', async ({ params: { sessionId } }) => {
      await cancelSession(acp, caller, sessionId).catch(report)
    })
    .onRequest('session/new', handle(newSession))
    .onRequest('session/load', handle(loadSession))
    // Parsed by us: the SDK would strip what wakes, and refuse the RFC's shape without a `cwd`.
    .onRequest('session/resume', raw, handle(resumeSession))
    .onRequest('session/list', handle(list))
    .onRequest('session/close', handle(close))
    .onRequest('session/delete', handle(remove))
    .onRequest('session/set_config_option', handle(setConfigOption))

  for (const name of Object.keys(extension) as Extension[]) {
    const method = handle(extension[name])
    for (const called of inbound[name]) {
      app.onRequest(called, raw, (request: Handled<unknown>) => {
        connection.peer().proved()
        return method(request)
      })
    }
  }
  return app
}

const extension: Readonly<Record<Extension, Method<unknown, unknown>>> = {
  suspend,
  wake,
  remind,
  steer,
}

/** What the SDK hands on as it came. */
function raw(params: unknown): unknown {
  return params
}
