/** Every task belongs to a tenant and a principal; to everybody else it does not exist. */
import { describe, expect, it } from 'vitest'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import {
  alice,
  bob,
  createHarness,
  mallory,
  message,
  olga,
  running,
} from '../test-support/engine-harness.ts'
import {
  callOperatorVerb,
  callVerb,
  operatorVerbNames,
  verbNames,
} from '../test-support/verb-samples.ts'

type Call = (engine: Engine, caller: Caller, taskId: string) => Promise<unknown>

const ofVerbs = verbNames.map((verb): [string, Call] => [
  verb,
  (engine, caller, taskId) => callVerb(engine, verb, caller, taskId),
])

const calls: readonly [string, Call][] = [
  ...ofVerbs,
  ['get', (engine, caller, taskId) => engine.get(caller, taskId)],
  ['waitFor', (engine, caller, taskId) => engine.waitFor(caller, taskId, () => true)],
  ['subscribe', (engine, caller, taskId) => engine.subscribe(caller, taskId)],
  ['reminders', (engine, caller, taskId) => engine.reminders(caller, taskId)],
  ['verify', (engine, caller, taskId) => engine.verify(caller, taskId)],
]

async function parked() {
  const harness = await createHarness({
    agents: [running((task) => task.park({ reason: 'x', onEvent: 'go' }).then(() => undefined))],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  return { harness, id }
}

describe('a task that is not yours', () => {
  it.each(calls)('%s: is not found, exactly like one that does not exist', async (_name, call) => {
    const { harness, id } = await parked()
    const log = await harness.log(id)
    const strangers: Caller[] = [bob, mallory, { ...olga, tenant: 'evil' }]
    for (const stranger of strangers) {
      const refusal = await call(harness.engine, stranger, id).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(refusal).toMatchObject({ code: 'TASK_NOT_FOUND', details: { taskId: id } })
      const nobody = call(harness.engine, stranger, 'nobody')
      await expect(nobody).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    }
    expect(await harness.log(id)).toEqual(log)
  })

  it('is in no list and no count', async () => {
    const { harness } = await parked()
    for (const stranger of [bob, mallory]) {
      expect(await harness.engine.list(stranger)).toEqual({ tasks: [], total: 0 })
    }
  })

  it('is not woken by an event of another tenant, but of any principal of its own', async () => {
    const { harness, id } = await parked()
    const event = { id: '1', source: 's', type: 'go' }
    await harness.engine.emit(mallory, [event])
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.engine.emit(bob, [event])
    await harness.until(id, 'completed')
  })

  it('cannot be answered by reference, continued in its context, or seen from there', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.artifact({ name: 'seen', data: task.context.tasks.length })
          await task.artifact({ name: 'referenced', data: task.referenced.tasks.length })
        }),
      ],
    })
    const { id, contextId } = await harness.send('secret')
    await harness.until(id, 'completed')
    harness.clock.advance(1)
    const sent = await harness.engine.send(bob, {
      message: message('what is there?', { contextId, referenceTaskIds: [id] }),
    })
    const taskId = sent.kind === 'task' ? sent.task.id : ''
    const task = await harness.until(taskId, 'completed')
    expect(task.artifacts.map(({ parts }) => parts[0])).toEqual([{ data: 0 }, { data: 0 }])
  })
})

describe('an operator', () => {
  it.each(operatorVerbNames)('alone may call %s', async (verb) => {
    const { harness } = await parked()
    const refusal = { code: 'NOT_OFFERED', details: { agent: 'engine' } }
    await expect(callOperatorVerb(harness.engine, verb, alice)).rejects.toMatchObject(refusal)
  })

  it('sees and controls every task of the own tenant, or of all', async () => {
    const { harness, id } = await parked()
    const root: Caller = { tenant: '*', principal: 'root', operator: true }
    for (const caller of [olga, root]) {
      expect((await harness.engine.get(caller, id)).id).toBe(id)
      expect((await harness.engine.list(caller)).total).toBe(1)
    }
    await harness.engine.resume(olga, { taskId: id })
    const ended = await harness.until(id, 'completed')
    expect(ended.wake?.resumedBy).toEqual({ kind: 'operator', id: 'olga' })
  })

  it('is one only when the caller says so: a principal of that name is not', async () => {
    const { harness, id } = await parked()
    const pretender: Caller = { tenant: '*', principal: 'root' }
    await expect(harness.engine.get(pretender, id)).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    })
    expect((await harness.engine.list(alice)).total).toBe(1)
  })
})
