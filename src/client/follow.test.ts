import { expect, it } from 'vitest'
import type { A2AClient, TaskFrame } from './a2a-client.ts'
import { RefusedError, UnreachableError } from './client-error.ts'
import { follow } from './follow.ts'
import type { WireTask } from './wire-task.ts'

function status(id: string, state: string): TaskFrame {
  const statusUpdate = { taskId: 't1', contextId: 'c1', status: { state } }
  return { id, frame: { statusUpdate } }
}

const done = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } }

type Session = readonly (TaskFrame | Error)[]

/** Each subscription plays the next session; an error in it breaks the connection. */
function clientWith(...sessions: readonly Session[]) {
  const asked: (string | undefined)[] = []
  const client = {
    async *subscribe(_: string, options: { lastEventId?: string }) {
      asked.push(options.lastEventId)
      for (const next of sessions[asked.length - 1] ?? []) {
        if (next instanceof Error) throw next
        yield next
      }
    },
    get: async (): Promise<WireTask> => done,
  } as unknown as A2AClient
  return { client, asked }
}

async function collect(client: A2AClient) {
  const waits: number[] = []
  let lost = 0
  const frames: TaskFrame[] = []
  const options = {
    wait: async (ms: number) => void waits.push(ms),
    lost: () => {
      lost++
    },
  }
  for await (const next of follow(client, 't1', options)) frames.push(next)
  return { ids: frames.map(({ id }) => id), frames, waits, lost: lost }
}

it('goes on after the last event when the connection breaks, and ends with the task', async () => {
  const gone = new UnreachableError('gone')
  const { client, asked } = clientWith(
    [status('1.1', 'TASK_STATE_WORKING'), gone],
    [gone],
    [],
    [status('2.1', 'TASK_STATE_WORKING'), status('3.1', 'TASK_STATE_COMPLETED')],
  )
  const { ids, waits, lost } = await collect(client)
  expect(ids).toEqual(['1.1', '2.1', '3.1'])
  expect(asked).toEqual([undefined, '1.1', '1.1', '1.1'])
  expect(waits).toEqual([250, 500, 1_000])
  expect(lost).toBe(1)
})

it('shows how a task ended that had ended before', async () => {
  const { client } = clientWith([new RefusedError(-32004, 'ended', 'UNSUPPORTED_OPERATION')])
  const { frames } = await collect(client)
  expect(frames).toEqual([{ id: '', frame: { task: done } }])
})

it('does not go on where the server says no', async () => {
  const { client } = clientWith([new RefusedError(-32001, 'no such task', 'TASK_NOT_FOUND')])
  await expect(collect(client)).rejects.toThrow('no such task')
})
