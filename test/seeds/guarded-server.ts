/** A2A on a socket of its own, for callers that say who they are and what they may: `Authorization: Bearer ann tasks:read`. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { createA2A } from '../../src/protocols/a2a/index.ts'
import { listen } from '../../src/server/http/listen.ts'
import { openEngine } from '../../src/server/open-engine.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'

export interface GuardedServer extends AsyncDisposable {
  /** One call in the name of somebody with these scopes; status and answer. */
  call(
    who: { readonly tenant?: string; readonly name: string; readonly scopes: readonly string[] },
    method: string,
    params: object,
  ): Promise<{ readonly status: number; readonly answer: Loose }>
}

export async function openGuardedServer(): Promise<GuardedServer> {
  const data = await mkdtemp(join(tmpdir(), 'lull-guarded-'))
  const agents = [createScriptAgent()]
  const opened = await openEngine({ agents, data, log: () => undefined })
  const listener = await listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}`
  const { store, clock, ids, log } = opened.deps
  const a2a = createA2A({ engine: opened.engine, store, clock, ids, log, publicUrl: url })
  await a2a.start()
  const handler = async (request: Request): Promise<Response> => {
    const given = request.headers.get('authorization') ?? ''
    const [, tenant = '', principal = '', ...scopes] = given.split(' ')
    const may = (scope: string): boolean => scopes.includes(scope)
    const answer = await a2a.fetch(request, { caller: { tenant, principal }, may })
    return answer ?? new Response(null, { status: 404 })
  }
  listener.answer(getRequestListener(handler))
  return {
    async call({ tenant = 'acme', name, scopes }, method, params) {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: ['Bearer', tenant, name, ...scopes].join(' '),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return { status: response.status, answer: await response.json() }
    },
    async [Symbol.asyncDispose]() {
      a2a.close()
      await opened.close({ drainMs: 0 })
      await listener.close(0)
      await rm(data, { recursive: true, force: true })
    },
  }
}
