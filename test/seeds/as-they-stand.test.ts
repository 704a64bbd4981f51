/**
 * Every request that the documents show, sent to the plain address as it stands: no id replaced, no header added. Tasks of the
 * documents do not exist here, so requests about one get the error that its document names.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examplesOf, headingsOf } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())

const requestsIn = (file: string): readonly (readonly [string, string])[] =>
  headingsOf(file)
    .filter((heading) => examplesOf(file)(heading).method !== undefined)
    .filter((heading) => 'id' in examplesOf(file)(heading))
    .map((heading) => [file, heading] as const)

const ofRfcs = [...requestsIn('paused-state-rfc.md'), ...requestsIn('reminders-rfc.md')]
const ofBindu = requestsIn('bindu-pause-resume.md')
const ofLife = requestsIn('life-of-a-task.md')

it('finds every request of the four documents over A2A', () => {
  expect([ofRfcs, ofBindu, ofLife].map((requests) => requests.length)).toEqual([4, 5, 4])
})

describe('a request of a document, as it stands', () => {
  it.each(ofRfcs)('%s, %s: -32004, there is no such task', async (file, heading) => {
    const request = examplesOf(file)(heading)
    const { taskId } = request.params
    expect(await harness.post(request)).toEqual({
      jsonrpc: '2.0',
      id: request.id,
      error: {
        code: -32004,
        message: expect.any(String),
        data: expect.objectContaining({ taskId }),
      },
    })
  })

  it.each(ofBindu)('%s, %s: -32001, there is no such task', async (file, heading) => {
    const request = examplesOf(file)(heading)
    expect(await harness.post(request)).toEqual({
      jsonrpc: '2.0',
      id: request.id,
      error: {
        code: -32001,
        message: expect.any(String),
        data: expect.objectContaining({ error: 'TaskNotFoundError' }),
      },
    })
  })

  it.each(ofLife)('%s, %s: a task', async (file, heading) => {
    const request = examplesOf(file)(heading)
    const { contextId, messageId } = request.params.message
    expect(await harness.post(request)).toMatchObject({
      jsonrpc: '2.0',
      id: request.id,
      result: {
        kind: 'task',
        contextId: contextId ?? expect.any(String),
        history: [{ messageId }],
      },
    })
  })
})
