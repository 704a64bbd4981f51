/** `task.ask` with a schema or with choices. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { QUESTION_TYPE } from '../../../core/messages/question-part.ts'
import type { StandardSchemaV1 } from '../../author/standard-schema.ts'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'

const release = z.object({ env: z.enum(['test', 'live']), count: z.number().int() })

const deployer = running(async (task) => {
  const { value } = await task.ask({ text: 'Where to?', schema: release })
  return `${value.count} to ${value.env}`
})

const merger = running(async (task) => {
  const choices = ['squash', { value: 'merge', label: 'Merge commit' }] as const
  const { value } = await task.ask({ text: 'How?', choices, expiresInMs: '1 day' })
  return value
})

async function asking(agent: typeof merger): Promise<{ harness: Harness; id: string }> {
  const harness = await createHarness({ agents: [agent] })
  const { id } = await harness.send('go')
  await harness.until(id, 'input-required')
  return { harness, id }
}

async function saidBy(harness: Harness, id: string): Promise<unknown> {
  return (await harness.until(id, 'completed')).statusMessage?.parts
}

describe('a question with a schema', () => {
  it('shows the schema, and gives the value', async () => {
    const { harness, id } = await asking(deployer)
    const { question } = await harness.get(id)
    expect(question?.schema).toMatchObject({ type: 'object', required: ['env', 'count'] })
    expect(question?.message.parts).toEqual([
      { text: 'Where to?' },
      { data: { schema: question?.schema }, mediaType: QUESTION_TYPE },
    ])
    await harness.tell(id, [{ data: { env: 'live', count: 3 } }])
    expect(await saidBy(harness, id)).toEqual([{ text: '3 to live' }])
  })

  it('refuses a wrong answer with the path and keeps waiting, also in another process', async () => {
    const { harness, id } = await asking(deployer)
    const wrong = [{ text: 'here' }, { data: { env: 'live', count: 1.5 } }]
    await expect(harness.tell(id, wrong)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'message.parts.1.data.count' },
    })
    const next = await harness.recover()
    await expect(next.tell(id, [{ data: { env: 'moon', count: 1 } }])).rejects.toMatchObject({
      details: { path: 'message.parts.0.data.env', problem: 'must be one of test, live' },
    })
    expect((await next.get(id)).state).toBe('input-required')
    await next.tell(id, '{"env": "test", "count": 1}')
    expect(await saidBy(next, id)).toEqual([{ text: '1 to test' }])
  })

  it('is not answered by a wrong message whose key comes again with a right one', async () => {
    const { harness, id } = await asking(deployer)
    const send = (data: { env: string; count: number }) =>
      harness.engine.send(alice, {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }], taskId: id },
        idempotencyKey: 'k',
      })
    await expect(send({ env: 'moon', count: 1 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await send({ env: 'live', count: 1 })
    expect(await saidBy(harness, id)).toEqual([{ text: '1 to live' }])
  })

  it('asks again for what a JSON Schema cannot say, with the problem, and replays that', async () => {
    const even = z.number().refine((value) => value % 2 === 0, 'must be even')
    const agent = running(async (task) => {
      const { value } = await task.ask({ text: 'How many?', schema: z.object({ n: even }) })
      await task.park({ reason: 'x' })
      return `${value.n}`
    })
    const { harness, id } = await asking(agent)
    await harness.tell(id, [{ data: { n: 3 } }])
    const again = await harness.until(id, ({ history, state }) => {
      return state === 'input-required' && history.length > 2
    })
    expect(again.statusMessage?.parts[0]).toEqual({ text: 'n: must be even' })
    await harness.tell(id, [{ data: { n: 4 } }])
    await harness.until(id, 'paused-by-agent')
    const next = await harness.recover()
    await next.engine.resume(alice, { taskId: id })
    expect(await saidBy(next, id)).toEqual([{ text: '4' }])
  })

  it('works with a library that gives no JSON Schema', async () => {
    const yes: StandardSchemaV1<unknown, 'yes'> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value) =>
          value === 'yes' ? { value } : { issues: [{ message: 'must be yes' }] },
      },
    }
    const { harness, id } = await asking(
      running(async (task) => (await task.ask({ text: 'Well?', schema: yes })).value),
    )
    await harness.tell(id, 'no')
    await harness.until(id, ({ statusMessage }) => statusMessage?.parts.length === 2)
    await harness.tell(id, 'yes')
    expect(await saidBy(harness, id)).toEqual([{ text: 'yes' }])
  })
})

describe('a question with choices', () => {
  it.each(['merge', 'Merge commit', ' MERGE '])('is answered by %j', async (text) => {
    const { harness, id } = await asking(merger)
    expect((await harness.get(id)).question?.choices).toEqual([
      { value: 'squash' },
      { value: 'merge', label: 'Merge commit' },
    ])
    await harness.tell(id, text)
    expect(await saidBy(harness, id)).toEqual([{ text: 'merge' }])
  })

  it('refuses another answer, names the choices, and keeps waiting', async () => {
    const { harness, id } = await asking(merger)
    await expect(harness.tell(id, 'rebase')).rejects.toMatchObject({
      details: { path: 'message.parts', problem: 'must be one of squash, merge' },
    })
    expect((await harness.get(id)).state).toBe('input-required')
    await harness.pass(86_400_000)
    expect((await harness.ended(id)).state).toBe('failed')
  })

  it('is refused when it is not well formed', async () => {
    const agent = running((task) => task.ask({ text: '', choices: [] } as never).then(() => 'x'))
    const harness = await createHarness({ agents: [agent] })
    const { failure } = await harness.ended((await harness.send('go')).id)
    expect(failure).toMatchObject({ code: 'INVALID_INPUT' })
  })
})
