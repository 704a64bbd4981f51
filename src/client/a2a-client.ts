/** A client for one A2A 1.0 agent, with the control methods of our extensions. */
import type { Json, JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import type { State } from '../core/states.ts'
import type { PauseMode } from '../core/suspension.ts'
import { createRpc, type Fetch, type Framed, type RpcOptions } from './rpc.ts'
import type { StreamFrame, WirePage, WireTask } from './wire-task.ts'

export interface TaskFrame {
  readonly id: string
  readonly frame: StreamFrame
}

export interface PauseParams {
  readonly taskId: string
  readonly reason?: string
  readonly mode?: PauseMode
  readonly conditions?: Json
  readonly graceMs?: number
}

export interface PauseResult {
  readonly taskId: string
  readonly state: State
  readonly handle: string
  /** The task has not come to its boundary yet. */
  readonly pausing?: boolean
  readonly pausedAt?: string
  readonly reason?: string
}

export interface ResumeParams {
  readonly taskId: string
  readonly handle?: string
  readonly input?: Json
  readonly continueTranscript?: boolean
}

export interface ResumeResult {
  readonly taskId: string
  readonly state: State
  readonly previousState: State
  readonly cause: string
  readonly resumedAt: string
}

export interface ListParams {
  readonly contextId?: string
  readonly status?: string
  readonly pageSize?: number
  readonly pageToken?: string
  readonly historyLength?: number
}

export interface A2AClient {
  readonly url: string
  stream(message: Message, options?: RpcOptions): AsyncGenerator<TaskFrame, void>
  subscribe(taskId: string, options?: RpcOptions): AsyncGenerator<TaskFrame, void>
  get(taskId: string): Promise<WireTask>
  list(params?: ListParams): Promise<WirePage>
  cancel(taskId: string, metadata?: JsonObject): Promise<WireTask>
  pause(params: PauseParams): Promise<PauseResult>
  resume(params: ResumeParams): Promise<ResumeResult>
}

/** @param url of the agent, such as `http://127.0.0.1:8787/agents/painter` */
export function createA2AClient(url: string, fetch: Fetch = globalThis.fetch): A2AClient {
  const rpc = createRpc(url, fetch)
  // The server is trusted to speak the protocol: what is read from it is shown, never decided upon.
  const call = <T>(method: string, params: object): Promise<T> =>
    rpc.call(method, params) as Promise<T>

  return {
    url,
    stream: (message, options) => frames(rpc.stream('SendStreamingMessage', { message }, options)),
    subscribe: (id, options) => frames(rpc.stream('SubscribeToTask', { id }, options)),
    get: (id) => call('GetTask', { id }),
    list: (params = {}) => call('ListTasks', params),
    cancel: (id, metadata) =>
      call('CancelTask', { id, ...(metadata === undefined ? {} : { metadata }) }),
    pause: (params) => call('tasks/pause', params),
    resume: (params) => call('tasks/resume', params),
  }
}

async function* frames(source: AsyncGenerator<Framed, void>): AsyncGenerator<TaskFrame, void> {
  for await (const { id, result } of source) yield { id, frame: result as StreamFrame }
}
