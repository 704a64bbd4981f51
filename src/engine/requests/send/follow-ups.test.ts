import { describe, expect, it } from 'vitest'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import {
  alice,
  bob,
  createHarness,
  message,
  olga,
  running,
} from '../../test-support/engine-harness.ts'

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
    const harness = await createHarness({ agents: [listener] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const more = message('more', { messageId: uuid(2), taskId: id })
    const send = () => harness.engine.send(alice, { message: more })
    const answers = together ? await Promise.all([send(), send()]) : [await send(), await send()]
    expect(answers.map((sent) => sent.repeated)).toEqual([false, true])
    expect((await harness.get(id)).history.map((one) => one.messageId)).toHaveLength(2)
  })

  it('is repeated and not refused when the task has ended meanwhile', async () => {
    const harness = await createHarness({
      agents: [running((task) => task.ask('?').then(() => undefined))],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    const answer = message('yes', { messageId: uuid(3), taskId: id })
    await harness.engine.send(alice, { message: answer })
    await harness.until(id, 'completed')
    expect(await harness.engine.send(alice, { message: answer })).toMatchObject({ repeated: true })
  })

  it('under an explicit key is heard once; the key with another message is refused', async () => {
    const harness = await createHarness({ agents: [listener] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const more = message('more', { taskId: id })
    const idempotencyKey = 'k'
    await harness.engine.send(alice, { message: more, idempotencyKey })
    expect(await harness.engine.send(alice, { message: more, idempotencyKey })).toMatchObject({
      repeated: true,
    })
    const other = message('other', { taskId: id })
    await expect(
      harness.engine.send(alice, { message: other, idempotencyKey }),
    ).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
    expect((await harness.get(id)).history).toHaveLength(2)
  })

  it('under a fresh explicit key is a new message, whatever its id', async () => {
    const harness = await createHarness({ agents: [listener] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const same = message('more', { messageId: uuid(20), taskId: id })
    const send = (idempotencyKey?: string) =>
      harness.engine.send(alice, {
        message: same,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        reminders: [{ body: 'note' }],
      })
    expect(await send()).toMatchObject({ repeated: false })
    expect(await send('first')).toMatchObject({ repeated: false })
    expect(await send('second')).toMatchObject({ repeated: false })
    expect((await harness.get(id)).history).toHaveLength(4)
    expect((await harness.get(id)).reminders).toHaveLength(3)
    expect(await send()).toMatchObject({ repeated: true })
    expect(await send('first')).toMatchObject({ repeated: true })
    expect(await send('second')).toMatchObject({ repeated: true })
    expect((await harness.get(id)).history).toHaveLength(4)
    expect((await harness.get(id)).reminders).toHaveLength(3)
  })

  it('under an explicit key is delivered when an older version claimed the key and died', async () => {
    const second = await createHarness({ agents: [listener] })
    const { id } = await second.send('go')
    await second.until(id, 'paused-by-agent')
    const more = { message: message('more', { taskId: id }), idempotencyKey: 'k' }
    await second.store.claim({
      tenant: 'acme',
      principal: 'alice',
      agent: 'worker',
      key: 'k',
      taskId: id,
      digest: sha256(canonical(more.message)),
      createdAt: 1,
    })
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
    const harness = await createHarness({ agents: [asker] })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    const answer = { message: message('yes', { taskId: id }), idempotencyKey: 'k' }
    const both = await Promise.all([answer, answer].map((one) => harness.engine.send(alice, one)))
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true])
    await harness.until(id, 'input-required')
    expect(await harness.engine.send(alice, answer)).toMatchObject({ repeated: true })
    await harness.engine.hold(olga, { scope: { all: true }, reason: 'x' })
    const next = { message: message('two', { taskId: id }), idempotencyKey: 'l' }
    expect(await harness.engine.send(alice, next)).toMatchObject({ repeated: false })
    expect(await harness.engine.send(alice, next)).toMatchObject({ repeated: true })
    const types = await harness.types(id)
    expect(types.filter((type) => type === 'answered' || type === 'deferred')).toHaveLength(2)
  })

  it('R3: under an explicit key is answered as done when retention has removed the task', async () => {
    const HOUR = 3_600_000
    const harness = await createHarness({
      agents: [running((task) => task.ask('?').then(() => undefined))],
      options: { tasksForMs: HOUR, cachedTasks: 1 },
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    const answer = { message: message('yes', { taskId: id }), idempotencyKey: 'k' }
    await harness.engine.send(alice, answer)
    await harness.until(id, 'completed')
    await harness.pass(2 * HOUR)
    await harness.engine.prune()
    await expect(harness.get(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    expect(await harness.engine.send(alice, answer)).toMatchObject({
      repeated: true,
      task: { id, state: 'completed' },
    })
    await expect(harness.engine.send(bob, answer)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    const other = { message: message('no', { taskId: id }), idempotencyKey: 'k' }
    await expect(harness.engine.send(alice, other)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })

  it('under a key that a refused message to an ended task bore does not keep the key', async () => {
    const harness = await createHarness({ agents: [running(() => 'done')] })
    const { id } = await harness.send('go')
    await harness.until(id, 'completed')
    for (const text of ['late', 'later']) {
      const sent = harness.engine.send(alice, {
        message: message(text, { taskId: id }),
        idempotencyKey: 'k',
      })
      await expect(sent).rejects.toMatchObject({ code: 'TASK_TERMINAL' })
    }
  })

  it('as an answer by reference counts once, also when the task has gone on', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.requireConsent({ prompt: '?', operation: 1 })
          await task.park({ reason: 'x' })
        }),
      ],
    })
    const { id, contextId } = await harness.send('go')
    const asking = await harness.until(id, 'user-consent-required')
    const consentId = asking.question?.consent?.consentId ?? ''
    const answer = message([{ data: { consentId, decision: 'granted' } }], {
      messageId: uuid(4),
      contextId,
      referenceTaskIds: [id],
    })
    await harness.engine.send(alice, { message: answer })
    await harness.until(id, 'paused-by-agent')
    const again = await harness.engine.send(alice, { message: answer })
    expect(again).toMatchObject({ repeated: true, task: { id } })
    expect((await harness.engine.list(alice)).total).toBe(1)
  })

  it('under a hold is kept once', async () => {
    const harness = await createHarness({
      agents: [running((task) => task.ask('?').then(() => undefined))],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    await harness.engine.hold(olga, { scope: { all: true }, reason: 'x' })
    const answer = message('yes', { messageId: uuid(5), taskId: id })
    await harness.engine.send(alice, { message: answer })
    expect(await harness.engine.send(alice, { message: answer })).toMatchObject({ repeated: true })
    expect((await harness.types(id)).filter((type) => type === 'message')).toEqual([])
  })
})
