import { expect, it } from 'vitest'
import { applyFrame } from './apply-frame.ts'
import type { StreamState, Task, TaskFrame } from './task-types.ts'

const CONTROL = 'urn:lull:a2a:task-control:1'
const base: Task = {
  id: 't',
  contextId: 'c',
  state: 'working',
  status: { state: 'TASK_STATE_WORKING' },
  artifacts: [],
  history: [],
  metadata: { mine: 1 },
}
const of = { cursor: '', taskId: 't', contextId: 'c' }
const fold = (...frames: readonly TaskFrame[]) =>
  frames.reduce<Task | undefined>(applyFrame, undefined)

const working = (control: object): TaskFrame => ({
  ...of,
  kind: 'status',
  state: 'working',
  status: { state: 'TASK_STATE_WORKING' },
  metadata: { [CONTROL]: control as never },
})

it('knows nothing before the first snapshot', () => {
  expect(fold(working({ state: 'active' }))).toBeUndefined()
  expect(fold({ kind: 'task', cursor: '', task: base })).toBe(base)
})

it('follows a stop and a wake, and keeps what the frames do not speak of', () => {
  const snapshot: TaskFrame = { kind: 'task', cursor: '', task: base }
  const stopped = fold(snapshot, working({ state: 'paused-by-client', handle: 'h' }))
  expect(stopped).toMatchObject({
    state: 'paused-by-client',
    suspension: { handle: 'h' },
    metadata: { mine: 1 },
  })
  const woken = applyFrame(
    stopped,
    working({ state: 'active', cause: 'timeout', previousState: 'paused-by-client' }),
  )
  expect(woken).toMatchObject({ state: 'working', resumption: { cause: 'timeout' } })
  expect(woken).not.toHaveProperty('suspension')
})

it('puts artifacts together', () => {
  const piece = (text: string, append: boolean): TaskFrame => ({
    ...of,
    kind: 'artifact',
    artifact: { artifactId: 'a', parts: [{ text }] },
    append,
    lastChunk: false,
  })
  const snapshot: TaskFrame = { kind: 'task', cursor: '', task: base }
  const parts = (...frames: readonly TaskFrame[]) => fold(snapshot, ...frames)?.artifacts[0]?.parts
  expect(parts(piece('a', false), piece('b', true))).toEqual([{ text: 'a' }, { text: 'b' }])
  expect(parts(piece('a', false), piece('b', false))).toEqual([{ text: 'b' }])
})

it('shows the stream of a step as one growing text, of one attempt only', () => {
  const piece = (text: string, append: boolean, stream: StreamState): TaskFrame => ({
    ...of,
    kind: 'artifact',
    artifact: { artifactId: 'a', name: 'out', parts: [{ text }] },
    append,
    lastChunk: stream !== 'open',
    stream,
  })
  const snapshot: TaskFrame = { kind: 'task', cursor: '', task: base }
  const artifacts = (...frames: readonly TaskFrame[]) => fold(snapshot, ...frames)?.artifacts
  const out = (text: string) => [{ artifactId: 'a', name: 'out', parts: [{ text }] }]
  const begun = [piece('Hel', false, 'open'), piece('lo', true, 'open')]
  expect(artifacts(...begun)).toEqual(out('Hello'))
  expect(artifacts(...begun, piece('!', true, 'recorded'))).toEqual(out('Hello!'))
  expect(artifacts(...begun, piece('Bye', false, 'open'))).toEqual(out('Bye'))
  expect(artifacts(...begun, piece('', false, 'discarded'))).toEqual([])
})
