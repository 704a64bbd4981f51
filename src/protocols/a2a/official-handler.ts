/**
 * For people who already mount the official SDK: our engine behind its `A2ARequestHandler`. The SDK is theirs and comes in
 * as an argument, so that we do not depend on it:
 *
 *   import { toA2ARequestHandler } from 'lull/a2a'
 *   import * as sdk from '@a2a-js/sdk'
 *   import * as errors from '@a2a-js/sdk/errors'
 *   const requestHandler = toA2ARequestHandler(a2a, { ...sdk, ...errors }, { callerOf })
 *   app.use('/', jsonRpcHandler({ requestHandler, userBuilder }))
 *
 * The control methods of our extensions are not reachable this way: the SDK refuses methods it does not know.
 */
import type { Caller } from '../../engine/caller.ts'
import type { A2A } from './a2a.ts'
import { isObject } from './params.ts'

/** A message type of the SDK: how it is read from and written to JSON. */
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
  /** On whose behalf a call of the SDK is made. */
  readonly callerOf: (context: C) => Caller
  /** Which agent; the default one when absent. */
  readonly agent?: string
}

export function toA2ARequestHandler<S extends OfficialSdk, C>(
  a2a: A2A,
  sdk: S,
  { callerOf, agent }: OfficialOptions<C>,
): OfficialHandler<S, C> {
  const base = agent === undefined ? 'http://lull' : `http://lull/agents/${agent}`
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  /** The compiler does not resolve what a member of a type parameter returns, so the type is repeated. */
  const read = <N extends TypeName>(name: N, value: unknown): OfficialValue<S[N]> =>
    sdk[name].fromJSON(value) as OfficialValue<S[N]>

  async function post(method: string, params: unknown, context: C): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const request = new Request(`${base}/`, { method: 'POST', headers, body })
    const response = await a2a.fetch(request, { caller: callerOf(context), anyTenant: false })
    if (response === undefined) throw new Error(`${method} was not answered`)
    return response
  }

  async function call(method: string, params: unknown, context: C): Promise<unknown> {
    return resultOf(sdk, await (await post(method, params, context)).json())
  }

  const ask = (type: OfficialType, params: unknown): unknown => type.toJSON(params)

  async function* stream(
    method: string,
    params: unknown,
    context: C,
  ): AsyncGenerator<OfficialValue<S['StreamResponse']>, void, undefined> {
    const response = await post(method, params, context)
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    if (!isStream || response.body === null) {
      resultOf(sdk, await response.json())
      return
    }
    let text = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1]
        if (data !== undefined) yield read('StreamResponse', resultOf(sdk, JSON.parse(data)))
      }
    }
  }

  return {
    async getAgentCard() {
      const request = new Request(`${base}/.well-known/agent-card.json`, { headers })
      const caller = { tenant: '', principal: '' }
      return read('AgentCard', await (await a2a.fetch(request, { caller }))?.json())
    },
    getAuthenticatedExtendedAgentCard: async (_params, context) =>
      read('AgentCard', await call('GetExtendedAgentCard', {}, context)),
    async sendMessage(params, context) {
      const sent = await call('SendMessage', ask(sdk.SendMessageRequest, params), context)
      const { task, message } = isObject(sent) ? sent : {}
      return task === undefined ? read('Message', message) : read('Task', task)
    },
    sendMessageStream: (params, context) =>
      stream('SendStreamingMessage', ask(sdk.SendMessageRequest, params), context),
    getTask: async (params, context) =>
      read('Task', await call('GetTask', ask(sdk.GetTaskRequest, params), context)),
    cancelTask: async (params, context) =>
      read('Task', await call('CancelTask', ask(sdk.CancelTaskRequest, params), context)),
    listTasks: async (params, context) =>
      read(
        'ListTasksResponse',
        await call('ListTasks', ask(sdk.ListTasksRequest, params), context),
      ),
    resubscribe: (params, context) =>
      stream('SubscribeToTask', ask(sdk.SubscribeToTaskRequest, params), context),
    async createTaskPushNotificationConfig(params, context) {
      const asked = ask(sdk.TaskPushNotificationConfig, params)
      const made = await call('CreateTaskPushNotificationConfig', asked, context)
      return read('TaskPushNotificationConfig', made)
    },
    async getTaskPushNotificationConfig(params, context) {
      const asked = ask(sdk.GetTaskPushNotificationConfigRequest, params)
      const found = await call('GetTaskPushNotificationConfig', asked, context)
      return read('TaskPushNotificationConfig', found)
    },
    async listTaskPushNotificationConfigs(params, context) {
      const asked = ask(sdk.ListTaskPushNotificationConfigsRequest, params)
      const found = await call('ListTaskPushNotificationConfigs', asked, context)
      return read('ListTaskPushNotificationConfigsResponse', found)
    },
    async deleteTaskPushNotificationConfig(params, context) {
      const asked = ask(sdk.DeleteTaskPushNotificationConfigRequest, params)
      await call('DeleteTaskPushNotificationConfig', asked, context)
    },
  }
}

/** @throws the SDK's own error for ours, so that its transports show the right code */
function resultOf(sdk: OfficialSdk, answer: unknown): unknown {
  if (isObject(answer) && answer['error'] !== undefined) {
    throw sdk.fromJsonRpcErrorResponse(answer)
  }
  return isObject(answer) ? answer['result'] : undefined
}
