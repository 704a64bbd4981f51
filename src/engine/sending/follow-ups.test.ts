import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { alice, bob, createWorld, message, olga, running } from '../test-support/world.ts'

const uuid = (n: number): string => `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

describe('the same message to a task twice', () => {
  const listener = running(async (task) => {
    await task.park({ reason: 'x' })
    const heard = await task.turn((turn) => turn.messages.length)
    await task.artifact({ name: 'heard', data: heard })
  })

  it.each([
    ['one after the other', false],
    ['at the same time', true],
  ])('under a UUID is heard once, %s', async (_name, together) => {
    const world = await createWorld({ agents: [listener] })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    const more = message('more', { messageId: uuid(2), taskId: id })
    const send = () => world.engine.send(alice, { message: more })
    const answers = together ? await Promise.all([send(), send()]) : [await send(), await send()]
    expect(answers.map((sent) => sent.repeated)).toEqual([false, true])
    expect((await world.get(id)).history.map((one) => one.messageId)).toHaveLength(2)
  })

  it('is repeated and not refused when the task has ended meanwhile', async () => {
    const world = await createWorld({
      agents: [running((task) => task.ask('?').then(() => undefined))],
    })
    const { id } = await world.send('go')
    await world.until(id, 'input-required')
    const answer = message('yes', { messageId: uuid(3), taskId: id })
    await world.engine.send(alice, { message: answer })
    await world.until(id, 'completed')
    expect(await world.engine.send(alice, { message: answer })).toMatchObject({ repeated: true })
  })

  it('under an explicit key is heard once; the key with another message is refused', async () => {
    const world = await createWorld({ agents: [listener] })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    const more = message('more', { taskId: id })
    const idempotencyKey = 'k'
    await world.engine.send(alice, { message: more, idempotencyKey })
    expect(await world.engine.send(alice, { message: more, idempotencyKey })).toMatchObject({
      repeated: true,
    })
    const other = message('other', { taskId: id })
    await expect(
      world.engine.send(alice, { message: other, idempotencyKey }),
    ).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
    expect((await world.get(id)).history).toHaveLength(2)
  })

  it('under a fresh explicit key is a new message, whatever its id', async () => {
    const world = await createWorld({ agents: [listener] })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    const same = message('more', { messageId: uuid(20), taskId: id })
    const send = (idempotencyKey?: string) =>
      world.engine.send(alice, {
        message: same,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        reminders: [{ body: 'note' }],
      })
    expect(await send()).toMatchObject({ repeated: false })
    expect(await send('first')).toMatchObject({ repeated: false })
    expect(await send('second')).toMatchObject({ repeated: false })
    expect((await world.get(id)).history).toHaveLength(4)
    expect((await world.get(id)).reminders).toHaveLength(3)
    expect(await send()).toMatchObject({ repeated: true })
    expect(await send('first')).toMatchObject({ repeated: true })
    expect(await send('second')).toMatchObject({ repeated: true })
    expect((await world.get(id)).history).toHaveLength(4)
    expect((await world.get(id)).reminders).toHaveLength(3)
  })

  it('under an explicit key is delivered by a repeat when the process died before it was', async () => {
    const store = createMemoryStore()
    const first = await createWorld({ agents: [listener], store })
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    const claim = store.claim.bind(store)
    // Dies with the key claimed, and nothing more.
    store.claim = async (mine) => {
      const owner = await claim(mine)
      first.crash()
      return owner
    }
    const more = { message: message('more', { taskId: id }), idempotencyKey: 'k' }
    first.engine.send(alice, more).catch(() => undefined)
    await first.settled()
    store.claim = claim
    const second = await first.recover()
    expect((await second.get(id)).history).toHaveLength(1)
    expect(await second.engine.send(alice, more)).toMatchObject({ repeated: false })
    expect(await second.engine.send(alice, more)).toMatchObject({ repeated: true })
    expect((await second.get(id)).history).toHaveLength(2)
  })

  it('under an explicit key answers one question, at the same time, later, and under a hold', async () => {
    const asker = running(async (task) => {
      await task.ask('one?')
      await task.ask('two?')
    })
    const world = await createWorld({ agents: [asker] })
    const { id } = await world.send('go')
    await world.until(id, 'input-required')
    const answer = { message: message('yes', { taskId: id }), idempotencyKey: 'k' }
    const both = await Promise.all([answer, answer].map((one) => world.engine.send(alice, one)))
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true])
    await world.until(id, 'input-required')
    expect(await world.engine.send(alice, answer)).toMatchObject({ repeated: true })
    await world.engine.hold(olga, { scope: { all: true }, reason: 'x' })
    const next = { message: message('two', { taskId: id }), idempotencyKey: 'l' }
    expect(await world.engine.send(alice, next)).toMatchObject({ repeated: false })
    expect(await world.engine.send(alice, next)).toMatchObject({ repeated: true })
    const types = await world.types(id)
    expect(types.filter((type) => type === 'answered' || type === 'deferred')).toHaveLength(2)
  })

  it('R3: under an explicit key is answered as done when retention has removed the task', async () => {
    const HOUR = 3_600_000
    const world = await createWorld({
      agents: [running((task) => task.ask('?').then(() => undefined))],
      options: { tasksForMs: HOUR, cachedTasks: 1 },
    })
    const { id } = await world.send('go')
    await world.until(id, 'input-required')
    const answer = { message: message('yes', { taskId: id }), idempotencyKey: 'k' }
    await world.engine.send(alice, answer)
    await world.until(id, 'completed')
    await world.pass(2 * HOUR)
    await world.engine.prune()
    await expect(world.get(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    expect(await world.engine.send(alice, answer)).toMatchObject({
      repeated: true,
      task: { id, state: 'completed' },
    })
    await expect(world.engine.send(bob, answer)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    const other = { message: message('no', { taskId: id }), idempotencyKey: 'k' }
    await expect(world.engine.send(alice, other)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })

  it('under a key that a refused message to an ended task bore does not keep the key', async () => {
    const world = await createWorld({ agents: [running(() => 'done')] })
    const { id } = await world.send('go')
    await world.until(id, 'completed')
    for (const text of ['late', 'later']) {
      const sent = world.engine.send(alice, {
        message: message(text, { taskId: id }),
        idempotencyKey: 'k',
      })
      await expect(sent).rejects.toMatchObject({ code: 'TASK_TERMINAL' })
    }
  })

  it('as an answer by reference counts once, also when the task has gone on', async () => {
    const world = await createWorld({
      agents: [
        running(async (task) => {
          await task.requireConsent({ prompt: '?', operation: 1 })
          await task.park({ reason: 'x' })
        }),
      ],
    })
    const { id, contextId } = await world.send('go')
    const asking = await world.until(id, 'user-consent-required')
    const consentId = asking.question?.consent?.consentId ?? ''
    const answer = message([{ data: { consentId, decision: 'granted' } }], {
      messageId: uuid(4),
      contextId,
      referenceTaskIds: [id],
    })
    await world.engine.send(alice, { message: answer })
    await world.until(id, 'paused-by-agent')
    const again = await world.engine.send(alice, { message: answer })
    expect(again).toMatchObject({ repeated: true, task: { id } })
    expect((await world.engine.list(alice)).total).toBe(1)
  })

  it('under a hold is kept once', async () => {
    const world = await createWorld({
      agents: [running((task) => task.ask('?').then(() => undefined))],
    })
    const { id } = await world.send('go')
    await world.until(id, 'input-required')
    await world.engine.hold(olga, { scope: { all: true }, reason: 'x' })
    const answer = message('yes', { messageId: uuid(5), taskId: id })
    await world.engine.send(alice, { message: answer })
    expect(await world.engine.send(alice, { message: answer })).toMatchObject({ repeated: true })
    expect((await world.types(id)).filter((type) => type === 'message')).toEqual([])
  })
})
