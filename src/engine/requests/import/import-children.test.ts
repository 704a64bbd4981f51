/** Children, parents and origins that an imported log names (C1 and C2 in child-of.ts, D1 in children/children.ts). */
import { describe, expect, it } from 'vitest'
import type { TaskExport } from '../../../core/receipts/task-export.ts'
import type { Json } from '../../../core/values/json.ts'
import { createSigner } from '../../../server/system/signer.ts'
import type { AgentTask, Child } from '../../author/agent-task.ts'
import type { Caller } from '../../caller.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  olga,
  running,
} from '../../test-support/engine-harness.ts'
import { delegatedTo, exportOf, forged } from '../../test-support/forged-export.ts'

const eve: Caller = { tenant: 'evil', principal: 'eve', operator: true }
const there = createSigner(Buffer.from('the key of the other server'))
const here = createSigner(Buffer.from('the key of this server'))

type Use = (child: Child, task: AgentTask) => Promise<unknown>

/** A parent that does with its child as the test says, and a child that runs a step and waits. */
function family(use: Use, done = effects()) {
  const parent = async (task: AgentTask): Promise<void> => {
    const child = await task.delegate('child', 'do')
    const data = (await use(child, task)) as Json
    await task.artifact({ name: 'result', data })
  }
  const child = async (task: AgentTask): Promise<void> => {
    await task.step('secret', () => done.note('the child ran'))
    await task.park({ reason: 'waits' })
    await task.artifact({ name: 'secret', text: 'the secret of acme' })
  }
  return [running(parent, { name: 'parent' }), running(child, { name: 'child' })]
}

async function childOf(harness: Harness, id: string): Promise<string> {
  const { children } = await harness.until(id, (task) => task.children.length > 0)
  await harness.settled()
  return children[0] ?? ''
}

const uses: readonly (readonly [string, Use])[] = [
  ['result', async (child) => (await child.result()).artifacts.length],
  ['get', async (child) => (await child.get()).state],
  [
    'watch',
    async (child) => {
      for await (const { type } of child.watch()) return type
      return 'nothing'
    },
  ],
  ['cancel', (child) => child.cancel('mine')],
  ['pause', (child) => child.pause({ reason: 'mine' })],
  ['resume', (child) => child.resume({ input: 'mine' })],
  ['remind', (child) => child.remind({ body: 'mine' })],
]

/** A parked task of acme that a forged log of another tenant names as its child. */
async function attacked(use: Use, ended: boolean): Promise<{ harness: Harness; victim: string }> {
  const harness = await createHarness({ agents: family(use), signer: here })
  const { id: victim } = await harness.send('go', { agent: 'child' })
  await harness.until(victim, 'paused-by-agent')
  if (!ended) return { harness, victim }
  await harness.engine.resume(alice, { taskId: victim })
  await harness.until(victim, 'completed')
  return { harness, victim }
}

describe('a forged log that names a task of another tenant as its child', () => {
  it.each(uses)('C1: gets nothing from it by %s, and does nothing to it', async (name, use) => {
    for (const ended of [false, true]) {
      const { harness, victim } = await attacked(use, ended)
      const before = await harness.get(victim)
      const file = forged({ taskId: 'forged', tenant: 'evil' }, [delegatedTo(victim)])
      const answer = await harness.engine.importTask(eve, { ...file, start: true })
      expect(answer.missingChildren).toEqual([victim])
      await harness.pass(120_000)
      // The parent waits for a child of its own, as if there were no such task.
      expect((await harness.engine.get(eve, 'forged')).state, name).toBe('working')
      expect(await harness.get(victim)).toEqual(before)
    }
  })

  it('C1: cancels, pauses and holds it with nothing that happens to the parent', async () => {
    const { harness, victim } = await attacked((child) => child.result(), false)
    const before = await harness.get(victim)
    const file = forged({ taskId: 'forged', tenant: 'evil' }, [delegatedTo(victim)])
    await harness.engine.importTask(eve, { ...file, start: true })
    await harness.settled()
    await harness.engine.pause(eve, { taskId: 'forged', cascade: true })
    await harness.engine.hold(eve, { scope: { taskIds: ['forged'] }, reason: 'x' })
    await harness.engine.cancel(eve, { taskId: 'forged' })
    await harness.settled()
    expect(await harness.get(victim)).toEqual(before)
  })

  it('C1: that exists or not is answered alike', async () => {
    const { harness, victim } = await attacked((child) => child.result(), false)
    const children = [delegatedTo(victim), delegatedTo('nobody', 'other')]
    const file = forged({ taskId: 'forged', tenant: 'evil' }, children)
    const { missingChildren } = await harness.engine.importTask(eve, file)
    expect(missingChildren).toEqual([victim, 'nobody'])
  })
})

describe('a forged log that names a task of another tenant in other places', () => {
  it('does not see it in its conversation', async () => {
    const { harness, victim } = await attacked((child) => child.result(), true)
    const { version } = await harness.get(victim)
    const look = running(
      async (task) => {
        await task.artifact({ name: 'seen', data: task.context.tasks.map(({ id }) => id) })
      },
      { name: 'look' },
    )
    const second = await harness.restart({ agents: [look] })
    const seen = { tasks: [[victim, version]] as const, messagesUpTo: 0 }
    const file = forged({ taskId: 'forged', tenant: 'evil', agent: 'look', seen })
    await second.engine.importTask(eve, { ...file, start: true })
    await second.settled()
    expect(dataOf(await second.engine.get(eve, 'forged'), 'seen')).toEqual([])
  })

  it('C2: gets no child of it as a fork of it', async () => {
    const harness = await createHarness({
      agents: family(async (child) => (await child.result()).state),
      signer: here,
    })
    const { id: origin } = await harness.send('go', { agent: 'parent' })
    const child = await childOf(harness, origin)
    await harness.until(child, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: child })
    await harness.until(origin, 'completed')
    for (const owner of [
      { tenant: 'evil', principal: 'alice' },
      { tenant: 'acme', principal: 'bob' },
    ]) {
      const taskId = `fork-of-${owner.tenant}`
      const forking = { taskId, contextId: 'context', from: origin, step: 'x' }
      const file = forged({ ...owner, taskId: 'base' }, [
        delegatedTo(child),
        { type: 'forked', ...forking },
      ])
      const header = { ...file.header, taskId }
      const operator = { ...owner, operator: true }
      const wrong = harness.engine.importTask(operator, { ...file, header, start: true })
      await expect(wrong).rejects.toThrow('not genuine')
      const whole = exportOf(taskId, file.records)
      await harness.engine.importTask(operator, { ...whole, start: true })
      await harness.pass(120_000)
      expect((await harness.engine.get(operator, taskId)).state).toBe('working')
    }
  })

  it('can be paused with its children where two logs name each other as parent and child', async () => {
    const harness = await createHarness({ agents: family((child) => child.result()), signer: here })
    const [a, b] = ['a', 'b'].map((taskId) => {
      const parentId = taskId === 'a' ? 'b' : 'a'
      return forged({ taskId, tenant: 'evil', parentId }, [delegatedTo(parentId)])
    }) as [TaskExport, TaskExport]
    const own = forged({ taskId: 'c', tenant: 'evil', parentId: 'c' }, [delegatedTo('c')])
    for (const file of [a, b, own]) await harness.engine.importTask(eve, { ...file, start: true })
    await harness.settled()
    for (const taskId of ['a', 'c']) {
      await harness.engine.pause(eve, { taskId, cascade: true })
      await harness.engine.cancel(eve, { taskId })
    }
    await harness.settled()
    for (const taskId of ['a', 'b', 'c']) {
      expect((await harness.engine.get(eve, taskId)).state).toBe('canceled')
    }
  })
})

/** A parent and its parked child of another server as files. */
async function exported(use: Use) {
  const done = effects()
  const agents = family(use, done)
  const first = await createHarness({ agents, signer: there })
  const { id } = await first.send('go', { agent: 'parent' })
  const childId = await childOf(first, id)
  await first.until(childId, 'paused-by-agent')
  await first.settled()
  return {
    agents,
    done,
    first,
    id,
    childId,
    parent: await fileOf(first, id),
    child: await fileOf(first, childId),
  }
}

async function fileOf({ engine }: Harness, taskId: string): Promise<TaskExport> {
  return JSON.parse(JSON.stringify(await engine.exportTask(olga, { taskId }))) as TaskExport
}

const results: readonly (readonly [string, Use])[] = [
  ['result', async (child) => (await child.result()).state],
  [
    'get',
    async (child) => {
      await child.get()
      return (await child.result()).state
    },
  ],
  [
    'remind',
    async (child) => {
      await child.remind({ body: 'hurry' })
      return (await child.result()).state
    },
  ],
  [
    'watch',
    async (child) => {
      let last = ''
      for await (const { type } of child.watch()) last = type
      return last
    },
  ],
]

describe('an imported parent whose child is not here', () => {
  it.each(results)(
    'D1: waits in %s for the child to be imported, and never makes it',
    async (_, use) => {
      for (const warmForMs of [0, 60_000]) {
        const { agents, done, id, childId, parent, child } = await exported(use)
        const second = await createHarness({ agents, signer: here, options: { warmForMs } })
        const answer = await second.engine.importTask(olga, { ...parent, start: true })
        expect(answer.missingChildren).toEqual([childId])
        await second.pass(120_000)
        await expect(second.get(childId)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
        // It can be paused while it waits, and needs no slot.
        expect((await second.engine.pause(alice, { taskId: id })).state).toBe('paused-by-client')
        await second.engine.resume(alice, { taskId: id })
        await second.settled()
        expect((await second.engine.health()).runs.busy).toBe(0)
        await second.engine.importTask(olga, { ...child, start: true })
        await second.settled()
        await second.engine.resume(alice, { taskId: childId })
        expect(dataOf(await second.until(id, 'completed'), 'result')).toBe('completed')
        expect(done.count('the child ran')).toBe(1)
      }
    },
  )

  it('D1: is taken over after a crash, and still waits', async () => {
    const { agents, done, id, childId, parent, child } = await exported(
      async (one) => (await one.result()).state,
    )
    const second = await createHarness({ agents, signer: here })
    await second.engine.importTask(olga, { ...parent, start: true })
    await second.settled()
    const third = await second.recover()
    await third.pass(120_000)
    await third.engine.importTask(olga, { ...child, start: true })
    await third.settled()
    await third.engine.resume(alice, { taskId: childId })
    await third.until(id, 'completed')
    expect(done.count('the child ran')).toBe(1)
  })

  it('D1: makes the children that it delegates to after the import', async () => {
    const done = effects()
    const agents = family(async (child, task) => {
      await child.result()
      const next = await task.delegate('child', 'again')
      await next.cancel('enough')
      return (await next.result()).state
    }, done)
    const second = await createHarness({ agents, signer: here })
    const file = forged({ taskId: 'parent-1', tenant: 'acme' }, [delegatedTo('child-1')])
    const child = forged(
      { taskId: 'child-1', tenant: 'acme', parentId: 'parent-1', agent: 'child' },
      [{ type: 'canceled', actor: { kind: 'client', id: 'alice' } }],
    )
    await second.engine.importTask(olga, { ...file, start: true })
    await second.engine.importTask(olga, child)
    await second.settled()
    expect(dataOf(await second.until('parent-1', 'completed'), 'result')).toBe('canceled')
  })
})

describe('a fork behind an ended child', () => {
  it('C2: reads and watches the child of its origin, and cannot act on it', async () => {
    const harness = await createHarness({
      agents: family(async (child, task) => {
        const { state } = await child.result()
        await task.step('after', () => 1)
        const seen: string[] = []
        for await (const { type } of child.watch()) seen.push(type)
        const read = (await child.get()).state
        const acted = await child.remind({ body: 'x' }).catch(({ code }: { code: string }) => code)
        return [state, read, seen.at(-1) ?? '', acted ?? 'done']
      }),
    })
    const { id } = await harness.send('go', { agent: 'parent' })
    const childId = await childOf(harness, id)
    await harness.until(childId, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: childId })
    await harness.until(id, 'completed')
    const fork = await harness.engine.fork(alice, { taskId: id, at: 'after' })
    const again = await harness.engine.fork(alice, {
      taskId: (await harness.until(fork.id, 'completed')).id,
      at: 'after',
    })
    for (const one of [fork, again]) {
      const read = dataOf(await harness.until(one.id, 'completed'), 'result')
      expect(read).toEqual(['completed', 'completed', 'completed', 'TASK_NOT_FOUND'])
    }
  })
})
