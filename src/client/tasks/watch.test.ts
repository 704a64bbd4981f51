import { expect, it } from 'vitest'
import { ClientError, unreachable, unsupported } from '../client-error.ts'
import type { StatusFrame, Task, TaskFrame } from './task-types.ts'
import { followTask, type WatchOptions } from './watch.ts'

const taskIs = (state: Task['state']): Task => ({
  id: 't1',
  contextId: 'c1',
  state,
  status: { state },
  artifacts: [],
  history: [],
  metadata: {},
})

const snapshot = (state: Task['state'], cursor = ''): TaskFrame => ({
  kind: 'task',
  cursor,
  task: taskIs(state),
})

const status = (cursor: string, state: Task['state']): StatusFrame => ({
  kind: 'status',
  cursor,
  taskId: 't1',
  contextId: 'c1',
  state,
  status: { state },
  metadata: {},
})

type Session = readonly (TaskFrame | Error)[]

interface Peer {
  /** Each subscription plays the next session; an error in it breaks the connection. */
  readonly sessions?: readonly Session[]
  /** Each read gives the next; the last one ever after. */
  readonly reads?: readonly Task['state'][]
}

async function collect({ sessions = [], reads = [] }: Peer, options: WatchOptions = {}) {
  const asked: (string | undefined)[] = []
  const waits: number[] = []
  const left = [...reads]
  let lost = 0
  const deps = {
    async *subscribe(_: string, after: string | undefined) {
      asked.push(after)
      for (const next of sessions[asked.length - 1] ?? []) {
        if (next instanceof Error) throw next
        yield next
      }
    },
    get: async () => taskIs((left.length > 1 ? left.shift() : left[0]) ?? 'unknown'),
    sleep: async (ms: number) => void waits.push(ms),
    random: () => 1,
  }
  const frames: TaskFrame[] = []
  const onLost = (): void => {
    lost++
  }
  const given = { ...options, onLost }
  for await (const next of followTask(deps, 't1', new AbortController().signal, given))
    frames.push(next)
  return { frames, cursors: frames.map(({ cursor }) => cursor), asked, waits, lost }
}

const gone = unreachable('http://x', new Error('gone'))
const refused = (reason: string) => new ClientError('refused', reason, { reason })

it('W1 W4 continues after the last frame when the connection breaks, and ends with the task', async () => {
  const { cursors, asked, waits, lost } = await collect({
    sessions: [
      [status('1.1', 'working'), gone],
      [gone],
      [],
      [status('2.1', 'working'), status('3.1', 'completed'), status('4.1', 'working')],
    ],
  })
  expect(cursors).toEqual(['1.1', '2.1', '3.1'])
  expect(asked).toEqual([undefined, '1.1', '1.1', '1.1'])
  expect(waits).toEqual([250, 500, 1_000])
  expect(lost).toBe(1)
})

it('W3 waits longer each time, at random between half and the whole', async () => {
  const waits: number[] = []
  const deps = {
    async *subscribe(): AsyncGenerator<TaskFrame, void> {
      if (waits.length < 8) throw gone
      yield status('1.1', 'completed')
    },
    get: async () => taskIs('working'),
    sleep: async (ms: number) => void waits.push(ms),
    random: () => 0,
  }
  for await (const _ of followTask(deps, 't1', new AbortController().signal, {})) break
  expect(waits).toEqual([125, 250, 500, 1_000, 2_000, 2_500, 2_500, 2_500])
})

it('W1 begins after the cursor it is given', async () => {
  const { asked, cursors } = await collect(
    { sessions: [[status('9.1', 'completed')]] },
    { after: '8.1' },
  )
  expect([asked, cursors]).toEqual([['8.1'], ['9.1']])
})

it('W2 rereads the task when a peer cannot continue, marks the frame and omits repeats', async () => {
  const { frames, waits } = await collect({
    sessions: [
      [snapshot('working'), gone],
      [snapshot('working')],
      [snapshot('working')],
      [snapshot('input-required'), status('', 'working'), gone],
      [snapshot('completed')],
    ],
  })
  const seen = frames.map((one) => [one.kind, one.kind === 'task' && one.reread === true])
  expect(seen).toEqual([
    ['task', false],
    ['task', true],
    ['status', false],
    ['task', true],
  ])
  // An answer that is no news does not make it impatient.
  expect(waits).toEqual([250, 500, 1_000, 250])
})

it('W4 shows the end of a task that had ended before', async () => {
  const peer = { sessions: [[refused('UNSUPPORTED_OPERATION')]], reads: ['failed'] as const }
  const { frames, waits } = await collect(peer)
  expect(frames).toEqual([snapshot('failed')])
  expect(waits).toEqual([])
})

it('W5 polls a peer without streams', async () => {
  const reads = ['working', 'working', 'input-required', 'completed'] as const
  const { frames, asked } = await collect({ sessions: [[unsupported('streaming')]], reads })
  expect(frames.map((one) => one.kind === 'task' && one.task.state)).toEqual([
    'working',
    'input-required',
    'completed',
  ])
  expect(asked).toHaveLength(1)
})

it('W3 waits for a server that is stopping or overloaded', async () => {
  const { cursors } = await collect({
    sessions: [[refused('UNAVAILABLE')], [refused('LIMIT_EXCEEDED')], [status('1.1', 'completed')]],
  })
  expect(cursors).toEqual(['1.1'])
})

it('W4 ends with the error when the server refuses', async () => {
  const watching = collect({ sessions: [[status('1.1', 'working')], [refused('TASK_NOT_FOUND')]] })
  await expect(watching).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
})
