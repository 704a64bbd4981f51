/**
 * Makes Lull's engine an `A2ARequestHandler` of the official SDK, for programs that already use
 * that SDK. The SDK is passed as an argument, so that Lull does not depend on it:
 *
 *   import { toA2ARequestHandler } from 'lull/a2a'
 *   import * as sdk from '@a2a-js/sdk'
 *   import * as errors from '@a2a-js/sdk/errors'
 *   const requestHandler = toA2ARequestHandler(a2a, { ...sdk, ...errors }, { callerOf, may })
 *   app.use('/', jsonRpcHandler({ requestHandler, userBuilder }))
 *
 * The control methods of Lull's extensions cannot be called this way: the SDK rejects methods that
 * it does not know.
 */

import type { Scope } from '../../../core/scopes.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { A2A } from '../a2a.ts'
import { isObject } from '../addresses/params.ts'

/** A message type of the SDK, which converts from and to JSON. */
export interface OfficialType {
  fromJSON(value: unknown): unknown
  toJSON(value: unknown): unknown
}

export type OfficialValue<T extends OfficialType> = ReturnType<T['fromJSON']>

export interface OfficialSdk {
  readonly AgentCard: OfficialType
  readonly Task: OfficialType
  readonly Message: OfficialType
  readonly StreamResponse: OfficialType
  readonly ListTasksResponse: OfficialType
  readonly TaskPushNotificationConfig: OfficialType
  readonly ListTaskPushNotificationConfigsResponse: OfficialType
  readonly SendMessageRequest: OfficialType
  readonly GetTaskRequest: OfficialType
  readonly ListTasksRequest: OfficialType
  readonly CancelTaskRequest: OfficialType
  readonly SubscribeToTaskRequest: OfficialType
  readonly GetTaskPushNotificationConfigRequest: OfficialType
  readonly ListTaskPushNotificationConfigsRequest: OfficialType
  readonly DeleteTaskPushNotificationConfigRequest: OfficialType
  fromJsonRpcErrorResponse(response: unknown): Error
}

type TypeName = Exclude<keyof OfficialSdk, 'fromJsonRpcErrorResponse'>

export interface OfficialHandler<S extends OfficialSdk, C> {
  getAgentCard(): Promise<OfficialValue<S['AgentCard']>>
  getAuthenticatedExtendedAgentCard(
    params: unknown,
    context: C,
  ): Promise<OfficialValue<S['AgentCard']>>
  sendMessage(
    params: unknown,
    context: C,
  ): Promise<OfficialValue<S['Message']> | OfficialValue<S['Task']>>
  sendMessageStream(
    params: unknown,
    context: C,
  ): AsyncGenerator<OfficialValue<S['StreamResponse']>, void, undefined>
  getTask(params: unknown, context: C): Promise<OfficialValue<S['Task']>>
  cancelTask(params: unknown, context: C): Promise<OfficialValue<S['Task']>>
  listTasks(params: unknown, context: C): Promise<OfficialValue<S['ListTasksResponse']>>
  resubscribe(
    params: unknown,
    context: C,
  ): AsyncGenerator<OfficialValue<S['StreamResponse']>, void, undefined>
  createTaskPushNotificationConfig(
    params: unknown,
    context: C,
  ): Promise<OfficialValue<S['TaskPushNotificationConfig']>>
  getTaskPushNotificationConfig(
    params: unknown,
    context: C,
  ): Promise<OfficialValue<S['TaskPushNotificationConfig']>>
  listTaskPushNotificationConfigs(
    params: unknown,
    context: C,
  ): Promise<OfficialValue<S['ListTaskPushNotificationConfigsResponse']>>
  deleteTaskPushNotificationConfig(params: unknown, context: C): Promise<void>
}

export interface OfficialOptions<C> {
  /** Finds the caller in the context of an SDK call. */
  readonly callerOf: (context: C) => Caller
  /** Whether that caller has a scope. */
  readonly may: (context: C, scope: Scope) => boolean
  /** The name of the agent. Default: the first agent. */
  readonly agent?: string
}

export function toA2ARequestHandler<S extends OfficialSdk, C>(
  a2a: A2A,
  sdk: S,
  options: OfficialOptions<C>,
): OfficialHandler<S, C> {
  const { card, call, stream } = createOfficialCalls(a2a, sdk, options)
  /** The return type is repeated, because the compiler does not resolve it through the type parameter. */
  const read = <N extends TypeName>(name: N, value: unknown): OfficialValue<S[N]> =>
    sdk[name].fromJSON(value) as OfficialValue<S[N]>

  const unary =
    <N extends TypeName>(method: string, request: TypeName, result: N) =>
    async (params: unknown, context: C): Promise<OfficialValue<S[N]>> =>
      read(result, await call(method, sdk[request].toJSON(params), context))

  const streaming = (method: string, request: TypeName) =>
    async function* (
      params: unknown,
      context: C,
    ): AsyncGenerator<OfficialValue<S['StreamResponse']>, void, undefined> {
      for await (const frame of stream(method, sdk[request].toJSON(params), context)) {
        yield read('StreamResponse', frame)
      }
    }

  return {
    getAgentCard: async () => read('AgentCard', await card()),
    getAuthenticatedExtendedAgentCard: async (_params, context) =>
      read('AgentCard', await call('GetExtendedAgentCard', {}, context)),
    async sendMessage(params, context) {
      const sent = await call('SendMessage', sdk.SendMessageRequest.toJSON(params), context)
      const { task, message } = isObject(sent) ? sent : {}
      return task === undefined ? read('Message', message) : read('Task', task)
    },
    sendMessageStream: streaming('SendStreamingMessage', 'SendMessageRequest'),
    getTask: unary('GetTask', 'GetTaskRequest', 'Task'),
    cancelTask: unary('CancelTask', 'CancelTaskRequest', 'Task'),
    listTasks: unary('ListTasks', 'ListTasksRequest', 'ListTasksResponse'),
    resubscribe: streaming('SubscribeToTask', 'SubscribeToTaskRequest'),
    createTaskPushNotificationConfig: unary(
      'CreateTaskPushNotificationConfig',
      'TaskPushNotificationConfig',
      'TaskPushNotificationConfig',
    ),
    getTaskPushNotificationConfig: unary(
      'GetTaskPushNotificationConfig',
      'GetTaskPushNotificationConfigRequest',
      'TaskPushNotificationConfig',
    ),
    listTaskPushNotificationConfigs: unary(
      'ListTaskPushNotificationConfigs',
      'ListTaskPushNotificationConfigsRequest',
      'ListTaskPushNotificationConfigsResponse',
    ),
    async deleteTaskPushNotificationConfig(params, context) {
      const asked = sdk.DeleteTaskPushNotificationConfigRequest.toJSON(params)
      await call('DeleteTaskPushNotificationConfig', asked, context)
    },
  }
}

/**
 * Calls the A2A adapter on behalf of the official SDK: JSON-RPC in version 1.0, with the SDK's
 * errors.
 */
interface OfficialCalls<C> {
  card(): Promise<unknown>
  /** @returns the result as JSON */
  call(method: string, params: unknown, context: C): Promise<unknown>
  /** Yields each frame as JSON. */
  stream(method: string, params: unknown, context: C): AsyncGenerator<unknown, void, undefined>
}

function createOfficialCalls<C>(
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
