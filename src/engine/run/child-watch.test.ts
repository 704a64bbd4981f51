import { describe, expect, it } from 'vitest'
import type { Agent } from '../agent.ts'
import { alice, createWorld, running } from '../test-support/world.ts'

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
    const world = await createWorld({
      agents: [coordinator],
      options: { concurrency: 1, warmForMs },
    })
    const { id } = await world.send('parent')
    await world.pass(120_000)
    const task = await world.get(id)
    expect(task.state).toBe('completed')
    expect(textOf(task)).toContain('submitted started step asked canceled')
    expect((await world.engine.health()).runs.busy).toBe(0)
  })

  it('can be paused there, and gets nothing until it is resumed', async () => {
    const seen: string[] = []
    const world = await createWorld({
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
    const { id } = await world.send('parent')
    await world.settled()
    await world.engine.pause(alice, { taskId: id })
    expect((await world.get(id)).state).toBe('paused-by-client')
    const [childId = ''] = (await world.get(id)).children
    await world.tell(childId, 'yes')
    await world.ended(childId)
    await world.settled()
    expect(seen).not.toContain('answered')
    await world.engine.resume(alice, { taskId: id })
    await world.until(id, 'completed')
    expect(seen).toContain('answered')
  })

  it('does not keep reading after it was canceled', async () => {
    const world = await createWorld({ agents: [coordinator] })
    const { id } = await world.send('parent')
    await world.until(id, (task) => task.children.length > 0)
    await world.engine.cancel(alice, { taskId: id })
    await world.settled()
    expect((await world.engine.health()).subscribers).toBe(0)
  })
})
