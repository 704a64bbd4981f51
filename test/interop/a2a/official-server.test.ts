/** Our engine under the official SDK's own transport: its parsing, its error mapping, its streaming. */
import * as sdk from 'a2a-js-v1'
import * as errors from 'a2a-js-v1/errors'
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
} from 'a2a-js-v1/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toA2ARequestHandler } from '../../../src/protocols/a2a/dialects/official-handler.ts'
import { caller, type Harness, openHarness } from './harness.ts'

let harness: Harness
let transport: JsonRpcTransportHandler
beforeAll(async () => {
  harness = await openHarness()
  const options = { callerOf: () => caller, may: () => true }
  const handler: A2ARequestHandler = toA2ARequestHandler(
    harness.a2a,
    { ...sdk, ...errors },
    options,
  )
  transport = new JsonRpcTransportHandler(handler)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
const rpc = (method: string, params: object): Promise<any> =>
  transport.handle(
    { jsonrpc: '2.0', id: 1, method, params },
    new ServerCallContext({ requestedVersion: '1.0' } as never),
  ) as never

const message = (value: unknown, some: object = {}) => ({
  messageId: `m-${Math.random()}`,
  role: 'ROLE_USER',
  parts: [typeof value === 'string' ? { text: value } : { data: { script: value } }],
  ...some,
})

describe('under the official SDK', () => {
  it('sends, gets, lists and cancels', async () => {
    const sent = await rpc('SendMessage', { message: message([{ ask: 'ok?' }]) })
    const { id } = sent.result.task
    expect(sent.result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect((await rpc('GetTask', { id })).result.id).toBe(id)
    const list = await rpc('ListTasks', {})
    expect(list.result.tasks.map((task: { id: string }) => task.id)).toContain(id)
    expect((await rpc('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED')
  })

  it('streams', async () => {
    const ops = [{ say: 'a' }, { artifact: { name: 'x', text: 'y' } }, { complete: 'z' }]
    const kinds: string[] = []
    for await (const frame of await rpc('SendStreamingMessage', { message: message(ops) })) {
      kinds.push(Object.keys(frame.result)[0] ?? '')
    }
    const artifacts = ['artifactUpdate', 'artifactUpdate']
    expect(kinds).toEqual(['task', 'statusUpdate', ...artifacts, 'statusUpdate'])
  })

  it('refuses with the right codes', async () => {
    expect((await rpc('GetTask', { id: 'nope' })).error.code).toBe(-32001)
    const done = await rpc('SendMessage', { message: message('x') })
    const { id } = done.result.task
    expect((await rpc('CancelTask', { id })).error.code).toBe(-32002)
    const again = { message: message('y', { taskId: id }) }
    expect((await rpc('SendMessage', again)).error.code).toBe(-32004)
  })
})
