/** I1: in-flight.ts. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../../testing/counting-ids.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { testSigner } from '../../../testing/test-signer.ts'
import { agent } from '../../author/agent.ts'
import { createEngine } from '../../engine.ts'
import {
  alice,
  bob,
  createHarness,
  effects,
  message,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

const uuid = (n: number): string => `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

function counting() {
  const done = effects()
  return {
    done,
    agent: running(async (task) => void (await task.step('x', () => done.note(task.text)))),
  }
}

describe('the same message twice', () => {
  it('I1: under a UUID starts one task, and both callers get it', async () => {
    const { done, agent: worker } = counting()
    const harness = await createHarness({ agents: [worker] })
    const same = message('a', { messageId: uuid(1) })
    const answers = await Promise.all(
      [1, 2, 3].map(() => harness.engine.send(alice, { message: same })),
    )
    const ids = answers.map((sent) => (sent.kind === 'task' ? sent.task.id : ''))
    expect(new Set(ids).size).toBe(1)
    expect(answers.map((sent) => sent.repeated)).toEqual([false, true, true])
    await harness.until(ids[0] ?? '', 'completed')
    const late = await harness.engine.send(alice, { message: same })
    expect(late).toMatchObject({ repeated: true, task: { id: ids[0], state: 'completed' } })
    expect(done.list).toEqual(['a'])
    expect((await harness.engine.health()).runs.busy).toBe(0)
  })

  it('by two tenants whose names were made to look alike is two messages', async () => {
    const { agent: worker } = counting()
    const harness = await createHarness({ agents: [worker] })
    const first = { tenant: 'a', principal: 'p' }
    const second = { tenant: `a\np\n${worker.name}\nq`, principal: 'p' }
    const sent = await Promise.all([
      harness.engine.send(first, {
        message: message('a'),
        idempotencyKey: `q\np\n${worker.name}\nk`,
      }),
      harness.engine.send(second, { message: message('a'), idempotencyKey: 'k' }),
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
    const harness = await createHarness({ agents: [worker] })
    const same = message('a', { messageId: 'msg-1' })
    await harness.engine.send(alice, { message: same })
    await harness.engine.send(alice, { message: same })
    await harness.settled()
    expect(done.count('a')).toBe(2)
  })

  it('under a UUID is two messages where the server says so', async () => {
    const { done, agent: worker } = counting()
    const harness = await createHarness({ agents: [worker], options: { messageIdIsKey: false } })
    const same = message('a', { messageId: uuid(1) })
    await harness.engine.send(alice, { message: same })
    await harness.engine.send(alice, { message: same })
    await harness.settled()
    expect(done.count('a')).toBe(2)
  })

  it('under an explicit key starts one task; the key with another message is refused', async () => {
    const { done, agent: worker } = counting()
    const harness = await createHarness({ agents: [worker] })
    const idempotencyKey = 'order-7'
    const first = message('a')
    const sent = await harness.engine.send(alice, { message: first, idempotencyKey })
    expect(await harness.engine.send(alice, { message: first, idempotencyKey })).toMatchObject({
      repeated: true,
    })
    const other = harness.engine.send(alice, { message: message('b'), idempotencyKey })
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    await harness.until(sent.kind === 'task' ? sent.task.id : '', 'completed')
    expect(done.list).toEqual(['a'])
  })

  it('from another principal, to another agent or in another context is another one', async () => {
    const { done, agent: worker } = counting()
    const second = running(async (task) => void (await task.step('y', () => done.note('second'))), {
      name: 'second',
    })
    const harness = await createHarness({ agents: [worker, second] })
    const same = message('a', { messageId: uuid(1) })
    await harness.engine.send(alice, { message: same })
    await harness.engine.send(bob, { message: same })
    await harness.engine.send({ ...alice, tenant: 'other' }, { message: same })
    await harness.engine.send(alice, { message: { ...same, contextId: 'here' } })
    await harness.engine.send(alice, { message: same, agent: 'second' })
    await harness.settled()
    expect(done.count('a')).toBe(4)
    expect(done.count('second')).toBe(1)
  })

  it('is the same also after a restart and after a crash', async () => {
    const { done, agent: worker } = counting()
    let harness = await createHarness({ agents: [worker] })
    const same = message('a', { messageId: uuid(1) })
    const first = await harness.engine.send(alice, { message: same })
    await harness.settled()
    harness = await harness.restart()
    harness = await harness.recover()
    const again = await harness.engine.send(alice, { message: same })
    expect(again).toMatchObject({ repeated: true })
    expect(again.kind === 'task' && again.task.id).toBe(first.kind === 'task' && first.task.id)
    expect(done.list).toEqual(['a'])
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
    const harness = await createHarness({ agents: [receptionist()] })
    const reply = await harness.engine.send(alice, { message: message('hi') })
    expect(reply).toMatchObject({ kind: 'message', message: { parts: [{ text: 'hello' }] } })
    expect((await harness.engine.list(alice)).total).toBe(0)
    const rejected = await harness.send('no')
    expect(rejected).toMatchObject({ state: 'rejected' })
    expect(rejected.statusMessage?.parts).toEqual([{ text: 'not here' }])
    const task = await harness.send('work')
    await harness.until(task.id, 'completed')
  })

  it('is asked once for the same message: the same reply, the same task', async () => {
    const asked = effects()
    const ready = signal()
    const harness = await createHarness({ agents: [receptionist(asked, ready.promise)] })
    const hi = message('hi', { messageId: uuid(6) })
    const work = message('work', { messageId: uuid(7) })
    const sends = [hi, hi, work, work].map((one) => harness.engine.send(alice, { message: one }))
    await harness.settled()
    ready.fire()
    const [first, second, third, fourth] = await Promise.all(sends)
    expect(asked.count('asked')).toBe(2)
    expect(second).toEqual({ ...first, repeated: true })
    expect(fourth?.kind === 'task' && fourth.task.id).toBe(third?.kind === 'task' && third.task.id)
    expect(await harness.engine.send(alice, { message: hi })).toEqual({ ...first, repeated: true })
    const again = await harness.recover()
    expect(await again.engine.send(alice, { message: hi })).toEqual({ ...first, repeated: true })
  })

  it('whose process died while it decided is asked again', async () => {
    const store = createMemoryStore()
    const never = new Promise<void>(() => undefined)
    const first = await createHarness({ agents: [receptionist(effects(), never)], store })
    const hi = message('hi', { messageId: uuid(8) })
    first.engine.send(alice, { message: hi }).catch(() => undefined)
    await first.settled()
    const second = await first.recover({ agents: [receptionist()] })
    expect(await second.engine.send(alice, { message: hi })).toMatchObject({ kind: 'message' })
  })

  it('I1: that failed is asked once by two repeats at the same time', async () => {
    const asked = effects()
    const harness = await createHarness({
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
    await expect(harness.engine.send(alice, hi)).rejects.toThrow('mood')
    const both = await Promise.all([hi, hi].map((one) => harness.engine.send(alice, one)))
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true])
    expect(asked.count('asked')).toBe(2)
  })

  it('that throws fails the call alone, and is asked again', async () => {
    let times = 0
    const harness = await createHarness({
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
    await expect(harness.engine.send(alice, { message: hi })).rejects.toThrow('mood')
    expect(await harness.engine.send(alice, { message: hi })).toMatchObject({ kind: 'message' })
  })
})
