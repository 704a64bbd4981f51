/**
 * Calls the A2A adapter on behalf of the official SDK: JSON-RPC in version 1.0, with the SDK's
 * errors.
 */
import type { A2A } from '../a2a.ts'
import { isObject } from '../addresses/params.ts'
import type { OfficialOptions, OfficialSdk } from './official-handler.ts'

export interface OfficialCalls<C> {
  card(): Promise<unknown>
  /** @returns the result as JSON */
  call(method: string, params: unknown, context: C): Promise<unknown>
  /** Yields each frame as JSON. */
  stream(method: string, params: unknown, context: C): AsyncGenerator<unknown, void, undefined>
}

export function createOfficialCalls<C>(
  a2a: A2A,
  sdk: Pick<OfficialSdk, 'fromJsonRpcErrorResponse'>,
  { callerOf, may, agent }: OfficialOptions<C>,
): OfficialCalls<C> {
  const base = agent === undefined ? 'http://lull' : `http://lull/agents/${agent}`
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }

  async function post(method: string, params: unknown, context: C): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const request = new Request(`${base}/`, { method: 'POST', headers, body })
    const response = await a2a.fetch(request, {
      caller: callerOf(context),
      may: (scope) => may(context, scope),
    })
    if (response === undefined) throw new Error(`${method} was not answered`)
    return response
  }

  /**
   * Returns the result in an answer.
   * @throws the SDK's error for an error of the adapter, so that the SDK's transports show the
   * right code
   */
  function resultOf(answer: unknown): unknown {
    if (isObject(answer) && answer['error'] !== undefined) {
      throw sdk.fromJsonRpcErrorResponse(answer)
    }
    return isObject(answer) ? answer['result'] : undefined
  }

  return {
    async card() {
      const request = new Request(`${base}/.well-known/agent-card.json`, { headers })
      const caller = { tenant: '', principal: '' }
      return (await a2a.fetch(request, { caller, may: () => false }))?.json()
    },
    call: async (method, params, context) =>
      resultOf(await (await post(method, params, context)).json()),
    async *stream(method, params, context) {
      const response = await post(method, params, context)
      const isStream = response.headers.get('content-type') === 'text/event-stream'
      if (!isStream || response.body === null) {
        resultOf(await response.json())
        return
      }
      let text = ''
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + chunk).split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1]
          if (data !== undefined) yield resultOf(JSON.parse(data))
        }
      }
    },
  }
}
