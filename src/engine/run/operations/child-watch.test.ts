import { describe, expect, it } from 'vitest'
import type { Agent } from '../../author/agent.ts'
import { alice, createHarness, running } from '../../test-support/engine-harness.ts'

/** Watches its child, and ends it when it asks. */
const coordinator: Agent = running(async (task) => {
  if (task.text === 'child') {
    await task.step('work', () => 1)
    await task.ask('which branch?')
    return 'child done'
  }
  const child = await task.delegate('worker', 'child')
  const seen: string[] = []
  for await (const record of child.watch()) {
    seen.push(record.type)
    if (record.type === 'asked') await child.cancel('nobody is there to answer')
  }
  return seen.join(' ')
})

const textOf = (task: { statusMessage?: { parts: readonly unknown[] } | undefined }) =>
  (task.statusMessage?.parts[0] as { text?: string } | undefined)?.text

describe('a parent that watches its child', () => {
  it.each([0, 60_000])('gives its slot back meanwhile (warm for %i ms)', async (warmForMs) => {
    const harness = await createHarness({
      agents: [coordinator],
      options: { concurrency: 1, warmForMs },
    })
    const { id } = await harness.send('parent')
    await harness.pass(120_000)
    const task = await harness.get(id)
    expect(task.state).toBe('completed')
    expect(textOf(task)).toContain('submitted started step asked canceled')
    expect((await harness.engine.health()).runs.busy).toBe(0)
  })

  it('can be paused there, and gets nothing until it is resumed', async () => {
    const seen: string[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          if (task.text === 'child') {
            await task.ask('go on?')
            return
          }
          const child = await task.delegate('worker', 'child')
          for await (const record of child.watch()) seen.push(record.type)
        }),
      ],
    })
    const { id } = await harness.send('parent')
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id })
    expect((await harness.get(id)).state).toBe('paused-by-client')
    const [childId = ''] = (await harness.get(id)).children
    await harness.tell(childId, 'yes')
    await harness.ended(childId)
    await harness.settled()
    expect(seen).not.toContain('answered')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen).toContain('answered')
  })

  it('does not keep reading after it was canceled', async () => {
    const harness = await createHarness({ agents: [coordinator] })
    const { id } = await harness.send('parent')
    await harness.until(id, (task) => task.children.length > 0)
    await harness.engine.cancel(alice, { taskId: id })
    await harness.settled()
    expect((await harness.engine.health()).subscribers).toBe(0)
  })
})
