import { describe, expect, it } from 'vitest'
import type { ArtifactFrame, StatusFrame, TaskState } from '../../client/tasks/task-types.ts'
import { createFakeIo } from '../test-support/fake-io.ts'
import { createFrameView } from './show-frames.ts'

const of = { taskId: 't', contextId: 'c', cursor: '' } as const

function text(given: string, append: boolean): ArtifactFrame {
  const artifact = { artifactId: 'a', name: 'poem', parts: [{ text: given }] }
  return { ...of, kind: 'artifact', artifact, append, lastChunk: false }
}

function status(state: TaskState, messageId?: string): StatusFrame {
  const message = messageId && {
    messageId,
    role: 'ROLE_AGENT' as const,
    parts: [{ text: `says ${messageId}` }],
  }
  return {
    ...of,
    kind: 'status',
    state,
    status: message ? { state, message } : { state },
    metadata: {},
  }
}

function shown(...frames: readonly (ArtifactFrame | StatusFrame)[]): readonly string[] {
  const io = createFakeIo()
  const view = createFrameView(io)
  for (const frame of frames) view.frame(frame)
  return io.out
}

describe('a task as it happens', () => {
  it('shows text as it comes, on one line, not one line per piece', () => {
    const pieces = [text('Once', false), text(' upon', true), text(' a time', true)]
    expect(shown(...pieces)).toEqual(['artifact  poem', 'Once upon a time'])
  })

  it('does not show text again that is told whole at the end', () => {
    const pieces = [text('Once', false), text(' upon', true), text('Once upon a time', false)]
    expect(shown(...pieces)).toEqual(['artifact  poem', 'Once upon a time'])
  })

  it('begins anew with a new attempt', () => {
    expect(shown(text('first', false), text('second', false))).toEqual([
      'artifact  poem',
      'first',
      'artifact  poem  (begins anew)',
      'second',
    ])
  })

  it('does not show a result twice: as an artifact, and as the message of the task', () => {
    const result = (messageId: string): ArtifactFrame => ({
      ...text('says m1', false),
      artifact: {
        artifactId: `${messageId}-result`,
        name: 'result',
        parts: [{ text: 'says m1' }],
      },
    })
    expect(shown(result('m1'), status('completed', 'm1'))).toEqual(['completed  says m1'])
    expect(shown(result('other'), status('completed', 'm1'))).toEqual([
      'artifact  result',
      'says m1',
      'completed  says m1',
    ])
  })

  it('does not repeat the last message after a wake', () => {
    const frames = [
      status('working', 'm1'),
      status('paused-by-agent', 'm1'),
      status('working', 'm1'),
    ]
    expect(shown(...frames)).toEqual(['working  says m1', 'paused-by-agent', 'working'])
  })

  it('takes control characters out of text of others', () => {
    expect(shown(text('\u001b[31mred', false))).toEqual(['artifact  poem', '[31mred'])
  })
})
