import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import { agent } from '../../author/agent.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import {
  alice,
  bob,
  createHarness,
  dataOf,
  type Harness,
  message,
  running,
} from '../../test-support/engine-harness.ts'

/** Paints "paint <name>" and shows for anything else what it sees of the conversation. */
const painter = running(async (task) => {
  const [verb, name] = task.text.split(' ')
  if (verb === 'paint') return void (await task.artifact({ name: name ?? '', text: task.text }))
  if (verb === 'pick') {
    const picked = await task.pickArtifact(name)
    return void (await task.artifact({ name: 'picked', data: picked?.artifact.artifactId ?? null }))
  }
  await task.artifact({ name: 'seen', data: seen(task) })
})

function seen({ context, referenced }: AgentTask): Json {
  return {
    messages: context.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => ('text' in part ? [part.text] : [])),
    ),
    tasks: context.tasks.length,
    artifacts: context.artifacts.map(({ artifact }) => artifact.name ?? ''),
    latest: context.latest('boat')?.taskId ?? null,
    referenced: referenced.tasks.length,
  }
}

async function say(harness: Harness, text: string, some: Partial<ReturnType<typeof message>> = {}) {
  const sent = await harness.engine.send(alice, { message: message(text, some) })
  if (sent.kind !== 'task') throw new Error('no task')
  await harness.settled()
  harness.clock.advance(1)
  return harness.get(sent.task.id)
}

describe('a context', () => {
  it('is generated, or taken from the client, or inferred from a task', async () => {
    const harness = await createHarness()
    expect((await harness.send('x')).contextId).not.toBe('')
    const own = await say(harness, 'x', { contextId: 'mine' })
    expect(own.contextId).toBe('mine')
    const parker = await createHarness({
      agents: [running((task) => task.park({ reason: 'x' }).then(() => undefined))],
    })
    const { id, contextId } = await parker.send('x')
    expect((await parker.tell(id, 'more')).contextId).toBe(contextId)
    const wrong = parker.tell(id, 'more', { contextId: 'other' })
    await expect(wrong).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'message.contextId' },
    })
  })

  it('shows its agent what happened in it before, and nothing of anybody else', async () => {
    const harness = await createHarness({ agents: [painter] })
    const first = await say(harness, 'paint boat', { contextId: 'sea' })
    const second = await say(harness, 'paint boat', { contextId: 'sea' })
    await say(harness, 'paint boat', { contextId: 'land' })
    await harness.engine.send(bob, { message: message('paint boat', { contextId: 'sea' }) })
    await harness.settled()
    const look = await say(harness, 'look', { contextId: 'sea', referenceTaskIds: [first.id] })
    expect(dataOf(look, 'seen')).toEqual({
      messages: ['paint boat', 'paint boat'],
      tasks: 2,
      artifacts: ['boat', 'boat'],
      latest: second.id,
      referenced: 1,
    })
  })

  it('keeps stateless messages too', async () => {
    const chatty = agent({
      name: 'chatty',
      description: 'counts',
      receive: (_message, { context, reply }) => reply(`${context.messages.length} before`),
    })
    const harness = await createHarness({ agents: [chatty] })
    const texts: unknown[] = []
    for (const text of ['one', 'two', 'three']) {
      const sent = await harness.engine.send(alice, { message: message(text, { contextId: 'c' }) })
      if (sent.kind === 'message') texts.push(sent.message.parts[0])
      expect(sent.kind === 'message' && sent.message.contextId).toBe('c')
      harness.clock.advance(1)
    }
    expect(texts).toEqual([{ text: '0 before' }, { text: '2 before' }, { text: '4 before' }])
  })

  it('shows a rebuilt run no more than it saw the first time', async () => {
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        running(async (task) => {
          if (task.text === 'other') {
            await task.park({ reason: 'slow' })
            return void (await task.artifact({ name: 'late', text: 'x' }))
          }
          const before = await task.step('look', () => seen(task))
          await task.park({ reason: 'x' })
          await task.artifact({ name: 'seen', data: [before, seen(task)] })
        }),
      ],
    })
    const other = await say(harness, 'other', { contextId: 'c' })
    const watching = await say(harness, 'watch', { contextId: 'c' })
    await harness.engine.resume(alice, { taskId: other.id })
    await harness.until(other.id, 'completed')
    await say(harness, 'other', { contextId: 'c' })
    await harness.engine.resume(alice, { taskId: watching.id })
    const [before, after] = dataOf(await harness.until(watching.id, 'completed'), 'seen') as Json[]
    expect(after).toEqual(before)
  })
})

describe('picking an artifact', () => {
  async function gallery(): Promise<{
    harness: Harness
    boat: string
    car: string
    ids: string[]
  }> {
    const harness = await createHarness({ agents: [painter] })
    const one = await say(harness, 'paint boat', { contextId: 'c' })
    const two = await say(harness, 'paint car', { contextId: 'c' })
    const [boat, car] = [one, two].map((task) => task.artifacts[0]?.artifactId ?? '')
    return { harness, boat: boat ?? '', car: car ?? '', ids: [one.id, two.id] }
  }

  it('takes the only candidate of the name, or of the referenced task', async () => {
    const { harness, boat, car, ids } = await gallery()
    const named = await say(harness, 'pick boat', { contextId: 'c' })
    expect(dataOf(named, 'picked')).toBe(boat)
    const referenced = await say(harness, 'pick', {
      contextId: 'c',
      referenceTaskIds: [ids[1] ?? ''],
    })
    expect(dataOf(referenced, 'picked')).toBe(car)
  })

  it.each(['in a list', 'without the list'])('takes the one a part names, %s', async (how) => {
    const { harness, car, ids } = await gallery()
    const reference = { artifactId: car, taskId: ids[1] ?? '' }
    const metadata = how === 'in a list' ? { referenceArtifacts: [reference] } : reference
    const parts = [{ text: 'pick', metadata }]
    const sent = await harness.engine.send(alice, { message: message(parts, { contextId: 'c' }) })
    await harness.settled()
    const task = await harness.get(sent.kind === 'task' ? sent.task.id : '')
    expect(dataOf(task, 'picked')).toBe(car)
  })

  it('asks back when several could be meant, until the answer names one', async () => {
    const { harness, car } = await gallery()
    const asking = await say(harness, 'pick', { contextId: 'c' })
    expect(asking.state).toBe('input-required')
    expect(JSON.stringify(asking.statusMessage)).toContain('boat')
    await harness.tell(asking.id, 'the other one')
    await harness.until(asking.id, 'input-required')
    await harness.settled()
    await harness.tell(asking.id, 'the car please')
    expect(dataOf(await harness.until(asking.id, 'completed'), 'picked')).toBe(car)
  })

  it('returns nothing for an empty context', async () => {
    const harness = await createHarness({ agents: [painter] })
    expect(dataOf(await say(harness, 'pick boat', { contextId: 'c' }), 'picked')).toBeNull()
  })
})
