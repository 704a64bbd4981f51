import { describe, expect, it } from 'vitest'
import { type Message, textOf } from '../../core/messages/message.ts'
import { agent } from '../author/agent.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  message,
  running,
} from '../test-support/engine-harness.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
/** How long after a start the first run is. */
const SOON = 2_000

describe('what is older than its age', () => {
  it('is removed, by itself once an hour: ended tasks, events and claims', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          if (task.text === 'park') await task.park({ reason: 'x' })
        }),
      ],
      options: { tasksForMs: HOUR / 2, eventsForMs: HOUR / 2, claimsForMs: HOUR / 2 },
    })
    const ended = await harness.send('end')
    const parked = await harness.send('park')
    await harness.until(ended.id, 'completed')
    await harness.until(parked.id, 'paused-by-agent')
    await harness.emit('tick')
    await harness.pass(SOON)
    await harness.pass(HOUR)
    await expect(harness.engine.get(alice, ended.id)).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    })
    expect((await harness.engine.list(alice)).tasks.map(({ id }) => id)).toEqual([parked.id])
    await harness.engine.resume(alice, { taskId: parked.id })
    await harness.until(parked.id, 'completed')
    expect(await harness.engine.prune()).toMatchObject({ tasks: 0, events: 0, claims: 0 })
  })

  it('R5: is removed soon after a start when the last run is an hour ago, however short the lives are', async () => {
    const options = { tasksForMs: HOUR / 2 }
    let harness = await createHarness({ options })
    await harness.pass(SOON)
    const { id } = await harness.send('end')
    await harness.until(id, 'completed')
    const lives = HOUR / MINUTE
    for (let life = 0; life < lives; life++) {
      harness = await (life % 2 === 0 ? harness.restart() : harness.recover())
      await harness.pass(SOON)
      expect((await harness.engine.list(alice)).tasks).toHaveLength(1)
      // While nothing runs.
      harness.clock.advance(MINUTE - SOON)
    }
    harness = await harness.restart()
    await harness.pass(SOON)
    expect((await harness.engine.list(alice)).tasks).toEqual([])
  })

  it('R5: is removed although the last run seems to be in the future', async () => {
    const harness = await createHarness({ options: { tasksForMs: MINUTE } })
    const { id } = await harness.send('end')
    await harness.until(id, 'completed')
    await harness.store.setValue('retention.last-run', harness.clock.now() + 1_000 * HOUR)
    harness.crash()
    harness.clock.advance(2 * MINUTE)
    const next = await harness.recover()
    await next.pass(SOON)
    expect((await next.engine.list(alice)).tasks).toEqual([])
  })

  it('may be asked for again: the key of a message counts for its time alone', async () => {
    const harness = await createHarness({ options: { claimsForMs: HOUR } })
    const same = message('x', { messageId: '0190a000-0000-7000-8000-000000000001' })
    const first = await harness.engine.send(alice, { message: same })
    await harness.pass(2 * HOUR)
    expect(await harness.engine.prune()).toMatchObject({ claims: 1 })
    const again = await harness.engine.send(alice, { message: same })
    expect(again.repeated).toBe(false)
    expect(again.kind === 'task' && again.task.id).not.toBe(first.kind === 'task' && first.task.id)
  })

  it('keeps ended tasks where no age is set', async () => {
    const harness = await createHarness()
    const { id } = await harness.send('x')
    await harness.until(id, 'completed')
    await harness.pass(10 * HOUR)
    expect((await harness.engine.get(alice, id)).state).toBe('completed')
  })
})

describe('what retention must not break', () => {
  const options = { tasksForMs: HOUR, warmForMs: 0, cachedTasks: 1 }

  it('R1: a parent that is rebuilt finds the child that ended long ago, and it runs once', async () => {
    const done = effects()
    const child = running(
      (task) => {
        done.note('child')
        return `done ${task.text}`
      },
      { name: 'child' },
    )
    const parent = running(async (task) => {
      const made = await task.delegate('child', 'work')
      await task.park({ reason: 'long' })
      const { state, message: said } = await made.result()
      await task.artifact({ name: 'result', data: [state, textOf(said as Message)] })
    })
    const harness = await createHarness({ agents: [parent, child], options })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.pass(5 * HOUR)
    const next = await harness.recover()
    await next.engine.prune()
    await next.engine.resume(alice, { taskId: id })
    const ended = await next.until(id, 'completed')
    expect(dataOf(ended, 'result')).toEqual(['completed', 'done work'])
    expect(done.list).toEqual(['child'])
    await next.pass(5 * HOUR)
    await next.engine.prune()
    expect((await next.engine.list(alice)).tasks).toEqual([])
  })

  it.each(['with receive', 'without receive'])(
    'R3: a late repeat of a removed key is answered as done, %s',
    async (how) => {
      const done = effects()
      const agent = running(
        () => {
          done.note('run')
          throw new Error('broken')
        },
        how === 'with receive' ? { receive: () => done.note('receive') as undefined } : {},
      )
      const harness = await createHarness({ agents: [agent], options })
      const request = { message: message('x'), idempotencyKey: 'once' }
      const first = await harness.engine.send(alice, request)
      const { id, contextId } = first.kind === 'task' ? first.task : { id: '', contextId: '' }
      await harness.ended(id)
      await harness.pass(2 * HOUR)
      await harness.engine.prune()
      await expect(harness.get(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
      const effectsBefore = [...done.list]
      const again = await harness.engine.send(alice, request)
      expect(again).toMatchObject({
        kind: 'task',
        repeated: true,
        task: { id, contextId, state: 'failed', artifacts: [] },
      })
      await harness.settled()
      expect(done.list).toEqual(effectsBefore)
      await expect(harness.get(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    },
  )

  it('removes messages, sessions and lifted holds after their ages', async () => {
    const harness = await createHarness({
      agents: [agent({ name: 'chat', description: 'x', receive: (_m, { reply }) => reply('hi') })],
      options: { ...options, holdsForMs: HOUR },
    })
    await harness.engine.send(alice, { message: message('hello', { contextId: 'c' }) })
    const at = harness.clock.now()
    const session = { tenant: 'acme', principal: 'alice', id: 's', cwd: '/' }
    await harness.store.putSession({ ...session, createdAt: at, updatedAt: at })
    const root = { tenant: '*', principal: 'root', operator: true } as const
    const { holdId } = await harness.engine.hold(root, { scope: { all: true }, reason: 'x' })
    await harness.engine.lift(root, holdId)
    expect(await harness.engine.prune()).toMatchObject({ messages: 0, sessions: 0, holds: 0 })
    harness.clock.advance(HOUR - 1)
    expect(await harness.engine.prune()).toMatchObject({ messages: 0, sessions: 0, holds: 0 })
    harness.clock.advance(2)
    await harness.settled()
    await harness.engine.prune()
    expect(await harness.store.contextMessages('acme', 'alice', 'c', 9)).toEqual([])
    expect(await harness.store.session('acme', 'alice', 's')).toBeUndefined()
    expect(await harness.store.holds(true)).toEqual([])
  })
})

it('removes the duties that processes of a cluster have left', async () => {
  const { join, pass, store } = createClusterHarness()
  const { engine } = await join()
  await store.cluster?.takeDuty('short', 'dead', 1_000)
  await store.cluster?.takeDuty('long', 'dead', HOUR)
  await pass(2_000)
  await engine.prune()
  expect(await store.cluster?.pruneDuties(9)).toBe(0)
  expect(await store.cluster?.takeDuty('long', 'another', HOUR)).toBe(false)
})
