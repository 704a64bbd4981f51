/** Pause & Resume (Bindu): its examples as tests, request and answer, with the script agent behind a real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { examplesOf, headingsOf, type Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'
import { createNames, differences, type Names } from './match.ts'

const FILE = 'bindu-pause-resume.md'
const example = examplesOf(FILE)
const TASK = example('tasks/pause request').params.task_id

/** The document shows what matters to it; the whole Task is there, in its spelling. */
const WHOLE_TASK = ['result.kind', 'result.context_id', 'result.artifacts', 'result.status.message']

/** Something to find in the checkpoint, then a boundary every few milliseconds, without end. */
const busy = [
  { artifact: { name: 'draft', text: 'half' } },
  { repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] },
]

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ agents: [createScriptAgent()] })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

async function working(): Promise<string> {
  const { id } = await harness.script(busy)
  await expect.poll(async () => (await harness.get(id)).artifacts.length).toBe(1)
  return id
}

/** The task of the examples, made when the first of them needs it. */
function begun(names: Names): () => Promise<void> {
  let task: Promise<string> | undefined
  return async () => {
    task ??= working()
    names.bind(TASK, await task)
  }
}

const exchanges = [
  ['tasks/pause request', 'tasks/pause response'],
  ['tasks/resume request', 'tasks/resume response'],
] as const

const curls = [
  'curl: pause a running task',
  'curl: check checkpoint data',
  'curl: resume a suspended task',
] as const

it('has every example of the document in a test below', () => {
  expect([...exchanges, ...curls].flat().sort()).toEqual([...headingsOf(FILE)].sort())
})

describe('the examples, request by request and answer by answer', () => {
  const names = createNames()
  const answers: Loose[] = []
  const begin = begun(names)

  it.each(exchanges)('%s: %s', async (request, response) => {
    await begin()
    const answer = await harness.post(names.ours(example(request)))
    expect(differences(answer, example(response), names, WHOLE_TASK)).toEqual([])
    answers.push(answer.result)
  })

  it('show what was stopped, and that it goes on without its checkpoint', async () => {
    const [suspended, resumed] = answers
    const { checkpoint } = suspended.metadata
    expect(checkpoint.message_history).toMatchObject([{ role: 'user', task_id: suspended.id }])
    expect(checkpoint.artifacts).toMatchObject([{ name: 'draft', parts: [{ text: 'half' }] }])
    expect(checkpoint.paused_at).toBe(suspended.status.timestamp)
    expect(resumed).not.toHaveProperty('metadata.checkpoint')
    expect(resumed.status.timestamp >= suspended.status.timestamp).toBe(true)
    const now = await harness.result('tasks/get', { task_id: suspended.id })
    expect(now.status.state).toBe('working')
    expect(now).not.toHaveProperty('metadata.checkpoint')
  })
})

describe('the commands of the document', () => {
  const names = createNames()
  const begin = begun(names)

  it.each([
    [curls[0], 'tasks/pause response'],
    // "Response includes metadata.checkpoint when task is suspended."
    [curls[1], 'tasks/pause response'],
    [curls[2], 'tasks/resume response'],
  ] as const)('%s: answered like %s', async (request, response) => {
    await begin()
    const answer = await harness.post(names.ours(example(request)))
    const expected = { ...example(response), id: example(request).id }
    expect(differences(answer, expected, names, WHOLE_TASK)).toEqual([])
  })
})

describe('the errors of the document', () => {
  const unknown = { error: 'TaskNotFoundError' }

  it.each(['tasks/pause', 'tasks/resume', 'tasks/get', 'tasks/cancel'])(
    '-32001 TaskNotFoundError: %s of an unknown task',
    async (method) => {
      const error = await harness.error(method, { task_id: TASK })
      expect(error).toMatchObject({ code: -32001, data: unknown })
    },
  )

  it('-32040 TaskNotPausableError, with the state in words', async () => {
    const { id } = await harness.script([{ complete: 'done' }])
    await harness.until(id, 'completed')
    expect(await harness.error('tasks/pause', { task_id: id })).toMatchObject({
      code: -32040,
      message:
        "Task cannot be paused in 'completed' state. Tasks can only be paused while submitted, working, input-required.",
      data: { error: 'TaskNotPausableError', state: 'completed' },
    })
  })

  it('-32041 TaskNotResumableError, with the state in words', async () => {
    const error = await harness.error('tasks/resume', { task_id: await working() })
    expect(error).toMatchObject({
      code: -32041,
      message: "Task cannot be resumed from 'working' state. Only suspended tasks can be resumed.",
      data: { error: 'TaskNotResumableError', state: 'working' },
    })
  })

  it('are the same under A2A 1.0, whose clients get them as ErrorInfo', async () => {
    const params = { task_id: await working() }
    const request = { jsonrpc: '2.0', id: 1, method: 'tasks/resume', params }
    const { error } = await harness.post(request, undefined, { 'a2a-version': '1.0' })
    expect(error).toMatchObject({
      code: -32041,
      data: [{ domain: 'lull', metadata: { error: 'TaskNotResumableError', state: 'working' } }],
    })
  })
})
