/** `lull/client` with agents that were not written by us and know nothing of pausing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Client,
  connect,
  type SendResult,
  type Task,
  type TaskFrame,
} from '../../../src/client/index.ts'
import { type OfficialServer, startOfficial1, startOfficial03 } from './official-servers.ts'

function taskOf(sent: SendResult): Task {
  if (sent.kind !== 'task') throw new Error(`a message: ${JSON.stringify(sent.message)}`)
  return sent.task
}

async function all(frames: AsyncIterable<TaskFrame>): Promise<readonly TaskFrame[]> {
  const seen: TaskFrame[] = []
  for await (const frame of frames) seen.push(frame)
  return seen
}

const lastState = (frames: readonly TaskFrame[]): string | undefined => {
  const last = frames.at(-1)
  return last?.kind === 'task' ? last.task.state : last?.kind === 'status' ? last.state : last?.kind
}

/** A network that breaks every stream after its first piece. */
async function brittle(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  const reader = response.body?.getReader()
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done || value === undefined) return controller.close()
      if (pieces++ === 0) return controller.enqueue(value)
      await reader?.cancel()
      controller.error(new TypeError('terminated'))
    },
    cancel: (reason) => reader?.cancel(reason),
  })
  return new Response(body, { headers: response.headers })
}

describe.each([
  ['1.3.0', startOfficial1, '1.0'],
  ['0.3.13', startOfficial03, '0.3'],
] as const)('@a2a-js/sdk %s', (_, startServer, version) => {
  let server: OfficialServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.close())

  describe.each(['JSONRPC', 'HTTP+JSON'] as const)('over %s', (binding) => {
    let client: Client
    beforeAll(async () => {
      client = await connect(server.url, { binding })
    })

    const work = async (): Promise<Task> =>
      taskOf(await client.send('work', { returnImmediately: true }))

    it('is spoken to in its own version, and known to offer neither pause nor reminders', async () => {
      expect([client.version, client.binding]).toEqual([version, binding])
      expect(await client.capabilities()).toMatchObject({
        streaming: true,
        pause: false,
        awaitResumption: false,
        conditions: false,
        consent: false,
        reminders: { inject: false, emit: false },
      })
    })

    it('answers with a message or a task, which can be read again', async () => {
      const hello = await client.send('hello')
      expect(hello).toMatchObject({
        kind: 'message',
        message: { role: 'ROLE_AGENT', parts: [{ text: 'Hello to you' }] },
      })
      const task = taskOf(await client.send('anything'))
      expect(task).toMatchObject({
        state: 'completed',
        status: { message: { parts: [{ text: 'done' }] } },
        artifacts: [{ name: 'metadata' }],
      })
      // Not every agent sends the history when it is not asked for.
      const { history } = task
      expect({ ...(await client.get(task.id)), history }).toEqual(task)
    })

    it('streams to the end', async () => {
      const frames = await all(client.stream('anything'))
      expect(frames[0]).toMatchObject({ kind: 'task', task: { state: 'working' } })
      expect(frames.filter(({ kind }) => kind === 'artifact')).toHaveLength(1)
      expect(lastState(frames)).toBe('completed')
    })

    it('is answered when it asks', async () => {
      const frames = await all(client.stream('ask'))
      expect(lastState(frames)).toBe('input-required')
      const [first] = frames
      const id = first?.kind === 'task' ? first.task.id : ''
      expect(taskOf(await client.answer(id, 'that one')).state).toBe('completed')
      await expect(client.answer(id, 'x')).rejects.toMatchObject({ reason: 'NOT_WAITING' })
    })

    it('cancels, and refuses in its own words', async () => {
      const { id } = await work()
      expect((await client.cancel(id)).state).toBe('canceled')
      await expect(client.get('nope')).rejects.toMatchObject({
        kind: 'refused',
        reason: 'TASK_NOT_FOUND',
      })
    })

    it('is watched until the end', async () => {
      const { id } = await work()
      const watching = client.watch(id)
      expect((await watching.next()).value).toMatchObject({ kind: 'task' })
      const rest = all(watching)
      server.release(id)
      expect(lastState(await rest)).toBe('completed')
      expect(lastState(await all(client.watch(id)))).toBe('completed')
    })

    it('is read again where a stream broke, since it cannot continue one', async () => {
      const fragile = await connect(server.url, { binding, fetch: brittle })
      const watching = fragile.stream('work')
      const { value: first } = await watching.next()
      const id = first?.kind === 'task' ? first.task.id : ''
      const rest = all(watching)
      server.release(id)
      const frames = await rest
      expect(lastState(frames)).toBe('completed')
      expect(frames.some((frame) => frame.kind === 'task' && frame.reread === true)).toBe(true)
    })

    it('is not paused in silence: the default says that it cannot be', async () => {
      const { id } = await work()
      await expect(client.pause(id)).rejects.toMatchObject({
        kind: 'unsupported',
        reason: 'NOT_SUPPORTED',
      })
      await expect(client.resume(id)).rejects.toMatchObject({ kind: 'unsupported' })
      expect((await client.get(id)).state).toBe('working')
      await client.cancel(id)
    })

    it('is cancelled in place of a pause when the caller chose that, and the outcome says so', async () => {
      const { id } = await work()
      const outcome = await client.pause(id, { reason: 'lunch', fallback: 'cancel' })
      expect(outcome).toMatchObject({ outcome: 'cancelled', task: { state: 'canceled' } })
    })

    it('is let go of in place of a pause when the caller chose that, and found again', async () => {
      const { id } = await work()
      const watching = client.watch(id)
      await watching.next()
      const rest = all(watching)
      const outcome = await client.pause(id, { fallback: 'detach' })
      if (outcome.outcome !== 'detached') throw new Error(outcome.outcome)
      expect(lastState(await rest)).not.toBe('completed')
      expect((await client.get(id)).state).toBe('working')

      const again = outcome.reconnect()
      await again.next()
      server.release(id)
      expect(lastState(await all(again))).toBe('completed')
    })

    it('gets a reminder with the next message, or none, as the caller chose', async () => {
      const { id } = taskOf(await client.send('ask'))
      await expect(client.remind(id, 'rebase')).rejects.toMatchObject({ kind: 'unsupported' })
      const suppressed = await client.remind(id, 'rebase', { fallback: 'suppress' })
      expect(suppressed).toEqual({ outcome: 'suppressed' })
      const reminder = { body: 'rebase', dedupeKey: 'pr-1', ttlTurns: 2 }
      const attached = await client.remind(id, reminder, { fallback: 'metadata' })
      if (attached.outcome !== 'attached') throw new Error(attached.outcome)

      const sent = await client.answer(id, 'that one')
      expect(sent.reminderIds).toEqual([attached.reminderId])
      const seen = taskOf(sent).artifacts[0]?.parts[0]
      expect(seen).toMatchObject({
        data: {
          harn: {
            reminder: {
              id: attached.reminderId,
              body: 'rebase',
              dedupe_key: 'pr-1',
              ttl_turns: 2,
            },
          },
        },
      })
    })
  })
})
