/** Every task belongs to a tenant and a principal; to everybody else it does not exist. */
import { describe, expect, it } from 'vitest'
import { type Act, type Caller, reachScopes } from '../caller.ts'
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
import { verbs } from './verbs.ts'

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

describe('a task of a colleague', () => {
  const eve: Caller = { tenant: 'acme', principal: 'eve' }
  const colleagues: Readonly<Record<string, Caller>> = {
    reader: { ...eve, reach: { read: 'tenant' } },
    approver: { ...eve, reach: { read: 'tenant', answer: 'tenant' } },
    controller: { ...eve, reach: { read: 'tenant', control: 'tenant' } },
    operator: { ...eve, operator: true },
    'operator of all tenants': { tenant: '*', principal: 'root', operator: true },
    'approver of all tenants': { ...eve, tenant: '*', reach: { read: 'tenant', answer: 'tenant' } },
  }
  const acts: Readonly<Record<string, readonly Act[]>> = {
    reader: ['read'],
    approver: ['read', 'answer'],
    controller: ['read', 'control'],
    operator: ['read', 'control'],
    'operator of all tenants': ['read', 'control'],
    'approver of all tenants': ['read', 'answer'],
  }
  const rows = Object.entries(colleagues).flatMap(([who, caller]) =>
    verbNames.map((verb) => [who, verb, caller] as const),
  )

  it.each(rows)('%s: %s is allowed as its kind of act is', async (who, verb, caller) => {
    const { harness, id } = await parked()
    const log = await harness.log(id)
    const outcome = await callVerb(harness.engine, verb, caller, id).then(
      () => 'done',
      (error: { code: string; details: object }) => error,
    )
    const { act } = verbs[verb]
    const refusal = { code: 'FORBIDDEN', details: { scope: reachScopes[act] } }
    if (acts[who]?.includes(act)) expect(outcome).not.toMatchObject({ code: 'FORBIDDEN' })
    else {
      expect(outcome).toMatchObject(refusal)
      expect(await harness.log(id)).toEqual(log)
    }
  })

  it.each(Object.entries(colleagues))('%s reads it, alone and in lists', async (_, caller) => {
    const { harness, id } = await parked()
    expect((await harness.engine.get(caller, id)).id).toBe(id)
    expect((await harness.engine.list(caller)).tasks.map((task) => task.id)).toEqual([id])
    expect(await harness.engine.count(caller)).toEqual({ 'paused-by-agent': 1 })
  })

  it('is answered by an approver and not talked to: a message that answers nothing is refused', async () => {
    const approver = colleagues['approver'] as Caller
    const { harness, id } = await parked()
    const log = await harness.log(id)
    const sent = harness.engine.send(approver, { message: message('hello', { taskId: id }) })
    await expect(sent).rejects.toMatchObject({ code: 'NOT_ASKING', details: { taskId: id } })
    expect(await harness.log(id)).toEqual(log)
  })

  it('tells who answered first and when, over whatever way the second answer comes', async () => {
    const approver = colleagues['approver'] as Caller
    const harness = await createHarness({
      agents: [
        running((task) => task.ask('Ship?').then(() => task.sleep('1 day').then(() => undefined))),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    const answer = { message: message('yes', { taskId: id }) }
    await harness.engine.send({ ...approver, credential: 'key-1' }, answer)
    const { lastAnswer } = await harness.until(id, 'paused-by-agent')
    expect(lastAnswer?.actor).toEqual({ kind: 'client', id: 'eve', keyId: 'key-1' })
    await expect(harness.engine.send(approver, answer)).rejects.toMatchObject({
      code: 'NOT_ASKING',
      details: { answeredBy: { kind: 'client', id: 'eve' }, answeredAt: lastAnswer?.at },
    })
  })
})
