import { describe, expect, it } from 'vitest'
import { alice, createWorld, message, running } from './test-support/world.ts'

const HOUR = 3_600_000

describe('what is older than its age', () => {
  it('is removed, by itself once an hour: ended tasks, events and claims', async () => {
    const world = await createWorld({
      agents: [
        running(async (task) => {
          if (task.text === 'park') await task.park({ reason: 'x' })
        }),
      ],
      options: { tasksForMs: HOUR / 2, eventsForMs: HOUR / 2, claimsForMs: HOUR / 2 },
    })
    const ended = await world.send('end')
    const parked = await world.send('park')
    await world.until(ended.id, 'completed')
    await world.until(parked.id, 'paused-by-agent')
    await world.emit('tick')
    await world.pass(HOUR)
    await expect(world.engine.get(alice, ended.id)).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    })
    expect((await world.engine.list(alice)).tasks.map(({ id }) => id)).toEqual([parked.id])
    await world.engine.resume(alice, { taskId: parked.id })
    await world.until(parked.id, 'completed')
    expect(await world.engine.prune()).toEqual({ tasks: 0, events: 0, claims: 0 })
  })

  it('may be asked for again: the key of a message counts for its time alone', async () => {
    const world = await createWorld({ options: { claimsForMs: HOUR } })
    const same = message('x', { messageId: '0190a000-0000-7000-8000-000000000001' })
    const first = await world.engine.send(alice, { message: same })
    await world.pass(2 * HOUR)
    expect(await world.engine.prune()).toMatchObject({ claims: 1 })
    const again = await world.engine.send(alice, { message: same })
    expect(again.repeated).toBe(false)
    expect(again.kind === 'task' && again.task.id).not.toBe(first.kind === 'task' && first.task.id)
  })

  it('keeps ended tasks where no age is set', async () => {
    const world = await createWorld()
    const { id } = await world.send('x')
    await world.until(id, 'completed')
    await world.pass(10 * HOUR)
    expect((await world.engine.get(alice, id)).state).toBe('completed')
  })
})
