import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { agent } from '../agent.ts'
import { createEngine } from '../engine.ts'
import {
  alice,
  bob,
  createWorld,
  effects,
  message,
  olga,
  running,
  signal,
} from '../test-support/world.ts'

const uuid = (n: number): string => `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

function counting() {
  const done = effects()
  return {
    done,
    agent: running(async (task) => void (await task.step('x', () => done.note(task.text)))),
  }
}

describe('the same message twice', () => {
  it('under a UUID starts one task, and both callers get it', async () => {
    const { done, agent: worker } = counting()
    const world = await createWorld({ agents: [worker] })
    const same = message('a', { messageId: uuid(1) })
    const answers = await Promise.all(
      [1, 2, 3].map(() => world.engine.send(alice, { message: same })),
    )
    const ids = answers.map((sent) => (sent.kind === 'task' ? sent.task.id : ''))
    expect(new Set(ids).size).toBe(1)
    expect(answers.map((sent) => sent.repeated)).toEqual([false, true, true])
    await world.until(ids[0] ?? '', 'completed')
    const late = await world.engine.send(alice, { message: same })
    expect(late).toMatchObject({ repeated: true, task: { id: ids[0], state: 'completed' } })
    expect(done.list).toEqual(['a'])
    expect((await world.engine.health()).runs.busy).toBe(0)
  })

  it('by two tenants whose names were made to look alike is two messages', async () => {
    const { agent: worker } = counting()
    const world = await createWorld({ agents: [worker] })
    const first = { tenant: 'a', principal: 'p' }
    const second = { tenant: `a\np\n${worker.name}\nq`, principal: 'p' }
    const sent = await Promise.all([
      world.engine.send(first, {
        message: message('a'),
        idempotencyKey: `q\np\n${worker.name}\nk`,
      }),
      world.engine.send(second, { message: message('a'), idempotencyKey: 'k' }),
    ])
    expect(sent.map(({ repeated }) => repeated)).toEqual([false, false])
  })

  it('is tried anew after the store had failed, in whatever way', async () => {
    const inner = createMemoryStore()
    let broken = true
    const findClaim: typeof inner.findClaim = (key) => {
      if (broken) throw new Error('the disk is on fire')
      return inner.findClaim(key)
    }
    const engine = createEngine({
      store: { ...inner, findClaim },
      agents: [counting().agent],
      clock: createManualClock(),
      ids: createCountingIds(),
      signer: testSigner,
      log: () => undefined,
      memory: { usedBytes: () => 0 },
    })
    await engine.start()
    const same = message('a', { messageId: uuid(1) })
    await expect(engine.send(alice, { message: same })).rejects.toThrow()
    broken = false
    expect(await engine.send(alice, { message: same })).toMatchObject({ repeated: false })
    await engine.drain()
  })

  it('under an id that is no UUID is two messages', async () => {
    const { done, agent: worker } = counting()
    const world = await createWorld({ agents: [worker] })
    const same = message('a', { messageId: 'msg-1' })
    await world.engine.send(alice, { message: same })
    await world.engine.send(alice, { message: same })
    await world.settled()
    expect(done.count('a')).toBe(2)
  })

  it('under a UUID is two messages where the server says so', async () => {
    const { done, agent: worker } = counting()
    const world = await createWorld({ agents: [worker], options: { messageIdIsKey: false } })
    const same = message('a', { messageId: uuid(1) })
    await world.engine.send(alice, { message: same })
    await world.engine.send(alice, { message: same })
    await world.settled()
    expect(done.count('a')).toBe(2)
  })

  it('under an explicit key starts one task; the key with another message is refused', async () => {
    const { done, agent: worker } = counting()
    const world = await createWorld({ agents: [worker] })
    const idempotencyKey = 'order-7'
    const first = message('a')
    const sent = await world.engine.send(alice, { message: first, idempotencyKey })
    expect(await world.engine.send(alice, { message: first, idempotencyKey })).toMatchObject({
      repeated: true,
    })
    const other = world.engine.send(alice, { message: message('b'), idempotencyKey })
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    await world.until(sent.kind === 'task' ? sent.task.id : '', 'completed')
    expect(done.list).toEqual(['a'])
  })

  it('from another principal, to another agent or in another context is another one', async () => {
    const { done, agent: worker } = counting()
    const second = running(async (task) => void (await task.step('y', () => done.note('second'))), {
      name: 'second',
    })
    const world = await createWorld({ agents: [worker, second] })
    const same = message('a', { messageId: uuid(1) })
    await world.engine.send(alice, { message: same })
    await world.engine.send(bob, { message: same })
    await world.engine.send({ ...alice, tenant: 'other' }, { message: same })
    await world.engine.send(alice, { message: { ...same, contextId: 'here' } })
    await world.engine.send(alice, { message: same, agent: 'second' })
    await world.settled()
    expect(done.count('a')).toBe(4)
    expect(done.count('second')).toBe(1)
  })

  it('is the same also after a restart and after a crash', async () => {
    const { done, agent: worker } = counting()
    let world = await createWorld({ agents: [worker] })
    const same = message('a', { messageId: uuid(1) })
    const first = await world.engine.send(alice, { message: same })
    await world.settled()
    world = await world.restart()
    world = await world.recover()
    const again = await world.engine.send(alice, { message: same })
    expect(again).toMatchObject({ repeated: true })
    expect(again.kind === 'task' && again.task.id).toBe(first.kind === 'task' && first.task.id)
    expect(done.list).toEqual(['a'])
  })
})

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

describe('an agent that decides before a task exists', () => {
  const receptionist = (asked = effects(), ready: Promise<void> = Promise.resolve()) =>
    agent({
      name: 'desk',
      description: 'decides',
      async receive({ parts }, { reply, reject }) {
        asked.note('asked')
        await ready
        const [first] = parts
        const text = first !== undefined && 'text' in first ? first.text : ''
        if (text === 'hi') return reply('hello')
        if (text === 'no') return reject('not here')
        return undefined
      },
      run: (task) => task.text,
    })

  it('replies without a task, rejects, or lets one start', async () => {
    const world = await createWorld({ agents: [receptionist()] })
    const reply = await world.engine.send(alice, { message: message('hi') })
    expect(reply).toMatchObject({ kind: 'message', message: { parts: [{ text: 'hello' }] } })
    expect((await world.engine.list(alice)).total).toBe(0)
    const rejected = await world.send('no')
    expect(rejected).toMatchObject({ state: 'rejected' })
    expect(rejected.statusMessage?.parts).toEqual([{ text: 'not here' }])
    const task = await world.send('work')
    await world.until(task.id, 'completed')
  })

  it('is asked once for the same message: the same reply, the same task', async () => {
    const asked = effects()
    const ready = signal()
    const world = await createWorld({ agents: [receptionist(asked, ready.promise)] })
    const hi = message('hi', { messageId: uuid(6) })
    const work = message('work', { messageId: uuid(7) })
    const sends = [hi, hi, work, work].map((one) => world.engine.send(alice, { message: one }))
    await world.settled()
    ready.fire()
    const [first, second, third, fourth] = await Promise.all(sends)
    expect(asked.count('asked')).toBe(2)
    expect(second).toEqual({ ...first, repeated: true })
    expect(fourth?.kind === 'task' && fourth.task.id).toBe(third?.kind === 'task' && third.task.id)
    expect(await world.engine.send(alice, { message: hi })).toEqual({ ...first, repeated: true })
    const again = await world.recover()
    expect(await again.engine.send(alice, { message: hi })).toEqual({ ...first, repeated: true })
  })

  it('whose process died while it decided is asked again', async () => {
    const store = createMemoryStore()
    const never = new Promise<void>(() => undefined)
    const first = await createWorld({ agents: [receptionist(effects(), never)], store })
    const hi = message('hi', { messageId: uuid(8) })
    first.engine.send(alice, { message: hi }).catch(() => undefined)
    await first.settled()
    const second = await first.recover({ agents: [receptionist()] })
    expect(await second.engine.send(alice, { message: hi })).toMatchObject({ kind: 'message' })
  })

  it('that failed is asked once by two repeats at the same time', async () => {
    const asked = effects()
    const world = await createWorld({
      agents: [
        agent({
          name: 'moody',
          description: 'throws once',
          async receive(_message, { reply }) {
            asked.note('asked')
            if (asked.count('asked') === 1) throw new Error('mood')
            return reply('fine')
          },
        }),
      ],
    })
    const hi = { message: message('hi', { messageId: uuid(21) }) }
    await expect(world.engine.send(alice, hi)).rejects.toThrow('mood')
    const both = await Promise.all([hi, hi].map((one) => world.engine.send(alice, one)))
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true])
    expect(asked.count('asked')).toBe(2)
  })

  it('that throws fails the call alone, and is asked again', async () => {
    let times = 0
    const world = await createWorld({
      agents: [
        agent({
          name: 'moody',
          description: 'throws once',
          receive: (_message, { reply }) => {
            if (times++ === 0) throw new Error('mood')
            return reply('fine')
          },
        }),
      ],
    })
    const hi = message('hi', { messageId: uuid(9) })
    await expect(world.engine.send(alice, { message: hi })).rejects.toThrow('mood')
    expect(await world.engine.send(alice, { message: hi })).toMatchObject({ kind: 'message' })
  })
})
