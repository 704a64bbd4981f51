import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import type { StepContext } from '../../../engine/author/agent-task.ts'
import { signal } from '../../../engine/test-support/engine-harness.ts'
import type { Editor } from '../test-support/editor.ts'
import { newSession, openHarness, prompt } from '../test-support/harness.ts'
import { updateV2 } from '../v2/shapes.ts'

/** A step of two attempts, each handed to the test. */
function talker() {
  const attempts = [signal<StepContext>(), signal<StepContext>()]
  const ends = [signal(), signal()]
  let number = 0
  const made = agent({
    name: 'talker',
    description: 'streams what the test says',
    run: (task) =>
      task.step(
        'talk',
        async (step) => {
          const mine = number++
          attempts[mine]?.fire(step)
          await ends[mine]?.promise
        },
        { retry: { attempts: 1, backoffMs: 0 } },
      ),
  })
  return { attempts, ends, begun: () => number, agents: [made] }
}

const chunks = (editor: Editor) => editor.updates('agent_message_chunk')

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('live text over ACP', () => {
  it('is one message that grows and is not repeated when it is recorded', async () => {
    const { attempts, ends, agents } = talker()
    const harness = await openHarness({ agents })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.request('session/prompt', prompt(sessionId, 'go'))
    const step = await attempts[0]?.promise
    step?.stream('out').write('Hel')
    await until(() => chunks(editor).length === 1)
    step?.stream('out').write('lo')
    ends[0]?.fire()
    await turn
    expect(editor.text()).toBe('Hello')
    expect(new Set(chunks(editor).map(({ messageId }) => messageId)).size).toBe(1)
    const later = await harness.editor()
    await later.request('session/load', { sessionId, cwd: '/work', mcpServers: [] })
    expect(later.text()).toBe('Hello')
    expect(chunks(later)[0].messageId).toBe(chunks(editor)[0].messageId)
  })

  it('of a discarded attempt is marked as discarded, and the next attempt is another message', async () => {
    const { attempts, ends, begun, agents } = talker()
    const harness = await openHarness({ agents })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.request('session/prompt', prompt(sessionId, 'go'))
    const first = await attempts[0]?.promise
    first?.stream('out').write('half')
    await until(() => chunks(editor).length === 1)
    ends[0]?.fail(new Error('once more'))
    await until(() => chunks(editor).length === 2)
    await until(() => {
      harness.clock.advance(1)
      return begun() === 2
    })
    const second = await attempts[1]?.promise
    second?.stream('out').write('whole')
    await until(() => chunks(editor).length === 3)
    ends[1]?.fire()
    await turn
    const [half, notice, whole] = chunks(editor)
    expect(half.content.text).toBe('half')
    expect(notice).toMatchObject({
      messageId: half.messageId,
      content: { text: expect.stringContaining('Discarded') },
      _meta: { lull: { artifact: { stream: 'discarded' } } },
    })
    expect(whole.content.text).toBe('whole')
    expect(whole.messageId).not.toBe(half.messageId)
    expect(updateV2(notice)).toMatchObject({ sessionUpdate: 'agent_message', content: [] })
  })
})
