import { describe, expect, it } from 'vitest'
import { openDesk, scripted, textMessage } from './test-support/desk.ts'
import { all } from './test-support/frames.ts'

describe('A2A 1.0', () => {
  it('answers a blocking send with the task when it has ended', async () => {
    const desk = await openDesk()
    const result = await desk.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'hello') })
    expect(result.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ name: 'echo', parts: [{ text: 'hello' }] }],
    })
    expect(result.task.kind).toBeUndefined()
  })

  it('streams: task first, then updates, closing at the end', async () => {
    const desk = await openDesk()
    const ops = [{ say: 'one' }, { artifact: { name: 'a', text: 'x' } }, { complete: 'done' }]
    const frames = await all(
      await desk.stream('1.0', 'SendStreamingMessage', { message: scripted('1.0', ops) }),
    )
    expect(frames.map((frame) => Object.keys(frame.data.result)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ])
  })
})
