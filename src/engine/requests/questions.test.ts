import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import type { AgentDefinition } from '../author/agent.ts'
import type { AgentTask, ConsentRequest } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  message,
  running,
} from '../test-support/engine-harness.ts'

async function asking(
  ask: (task: AgentTask) => Promise<unknown>,
  some: Partial<AgentDefinition> = {},
): Promise<{ harness: Harness; id: string; contextId: string }> {
  const agent = running(async (task) => {
    const answer = await ask(task)
    await task.artifact({ name: 'answer', data: (answer ?? null) as Json })
  }, some)
  const harness = await createHarness({ agents: [agent] })
  const { id, contextId } = await harness.send('go')
  await harness.until(id, (task) => task.question !== undefined)
  return { harness, id, contextId }
}

const consentTo = (some: Partial<ConsentRequest> = {}) =>
  asking((task) =>
    task
      .requireConsent({ prompt: 'Book it?', operation: { book: 'LH 1' }, ...some })
      .then(({ text }) => text),
  )

describe('a question', () => {
  it('shows as input-required with its text, and the answer comes back to the code', async () => {
    const { harness, id } = await asking((task) => task.ask('Red or blue?').then((a) => a.text))
    const task = await harness.get(id)
    expect(task.state).toBe('input-required')
    expect(task.statusMessage?.parts).toEqual([{ text: 'Red or blue?' }])
    await harness.tell(id, 'blue')
    const ended = await harness.until(id, 'completed')
    expect(dataOf(ended, 'answer')).toBe('blue')
    expect(ended.history.map((one) => one.role)).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER'])
  })

  it('of the other kind shows as auth-required, and gives the data of the answer', async () => {
    const { harness, id } = await asking((task) => task.requireAuth('Sign in').then((a) => a.data))
    expect((await harness.get(id)).state).toBe('auth-required')
    await harness.tell(id, [{ text: 'here' }, { data: { token: 'x' } }])
    expect(dataOf(await harness.until(id, 'completed'), 'answer')).toEqual({ token: 'x' })
  })

  it('that expires fails the task, also when the answer comes just then', async () => {
    const at = Date.UTC(2026, 0, 1) + 1_000
    const { harness, id } = await asking((task) => task.ask('Quick!', { expiresAt: at }))
    await harness.pass(999)
    expect((await harness.get(id)).state).toBe('input-required')
    await harness.pass(1)
    expect((await harness.until(id, 'failed')).failure?.message).toContain('expired')
  })

  it('is not resumed by a resume', async () => {
    const { harness, id } = await asking((task) => task.ask('?'))
    await expect(harness.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSED',
    })
  })

  it('takes one answer: what is said after it waits for the next turn', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const { text } = await task.ask('?')
          const more = await task.turn((turn) => turn.messages.map((one) => one.parts))
          await task.artifact({ name: 'answer', data: { text, more } as unknown as Json })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    await Promise.all([harness.tell(id, 'first'), harness.tell(id, 'second')])
    expect(dataOf(await harness.until(id, 'completed'), 'answer')).toEqual({
      text: 'first',
      more: [[{ text: 'go' }], [{ text: 'second' }]],
    })
  })
})

describe('consent', () => {
  it('is granted by a structured answer that names it', async () => {
    const { harness, id } = await consentTo()
    const { state, question } = await harness.get(id)
    expect(state).toBe('user-consent-required')
    const consentId = question?.consent?.consentId
    await harness.tell(id, [{ data: { consentId, decision: 'granted' } as Json }])
    await harness.until(id, 'completed')
  })

  it('is refused under another id, and nothing is written', async () => {
    const { harness, id } = await consentTo()
    const log = await harness.log(id)
    const data = { consentId: 'consent-x', decision: 'granted' }
    await expect(harness.tell(id, [{ data }])).rejects.toMatchObject({ code: 'CONSENT_MISMATCH' })
    expect(await harness.log(id)).toEqual(log)
  })

  it('counts once: it does not decide the next consent, not even to the same operation', async () => {
    const twice = (task: AgentTask) =>
      task
        .requireConsent({ prompt: 'Pay?', operation: { pay: 1 } })
        .then(() => task.requireConsent({ prompt: 'Pay?', operation: { pay: 1 } }))
    const { harness, id } = await asking(twice)
    const first = (await harness.get(id)).question?.consent?.consentId
    const data = { consentId: first, decision: 'granted' } as Json
    await harness.tell(id, [{ data }])
    await harness.until(id, ({ question }) => (question?.consent?.consentId ?? first) !== first)
    await expect(harness.tell(id, [{ data }])).rejects.toMatchObject({
      code: 'NOT_ASKING',
      details: { answeredBy: { id: 'alice' } },
    })
    expect((await harness.get(id)).state).toBe('user-consent-required')
  })

  it('is for its operation: code that asks for another one does not get it', async () => {
    const paying = (amount: number) =>
      running(async (task) => {
        await task.requireConsent({ prompt: 'Pay?', operation: { pay: amount } })
        await task.artifact({ name: 'paid', data: amount })
        await task.park({ reason: 'later' })
      })
    const first = await createHarness({ agents: [paying(1)] })
    const { id } = await first.send('go')
    const { question } = await first.until(id, (task) => task.question !== undefined)
    const consentId = question?.consent?.consentId
    await first.tell(id, [{ data: { consentId, decision: 'granted' } as Json }])
    await first.until(id, 'paused-by-agent')
    const second = await first.recover({ agents: [paying(1_000)] })
    await second.engine.resume(alice, { taskId: id })
    const task = await second.until(id, (now) => now.pausing === undefined && now.epoch > 1)
    await second.settled()
    expect(dataOf(task, 'paid')).toBe(1)
    expect(JSON.stringify(await second.get(id))).not.toContain('1000')
  })

  it('that is denied throws; uncaught, it ends the task as rejected', async () => {
    const { harness, id } = await consentTo()
    const consentId = (await harness.get(id)).question?.consent?.consentId
    await harness.tell(id, [{ data: { consentId, decision: 'denied' } as Json }])
    const task = await harness.until(id, 'rejected')
    expect(JSON.stringify(task.statusMessage)).toContain('Book it?')
  })

  it('that is denied can be caught', async () => {
    const { harness, id } = await asking((task) =>
      task
        .requireConsent({ prompt: 'Sure?', operation: 1 })
        .catch((error: { code: string }) => error.code),
    )
    const consentId = (await harness.get(id)).question?.consent?.consentId
    await harness.tell(id, [{ data: { consentId, decision: 'denied' } as Json }])
    expect(dataOf(await harness.until(id, 'completed'), 'answer')).toBe('CONSENT_DENIED')
  })

  it('is asked for again when the answer is free text', async () => {
    const { harness, id } = await consentTo()
    const before = await harness.get(id)
    await harness.tell(id, 'hmm, maybe')
    const after = await harness.get(id)
    expect(after.state).toBe('user-consent-required')
    expect(after.question).toEqual(before.question)
    expect(await harness.types(id)).toContain('asked-again')
  })

  it.each([
    ['yes please', 'completed'],
    ['no way', 'rejected'],
    ['what?', 'user-consent-required'],
  ] as const)('is read out of "%s" by an agent that can', async (text, state) => {
    const acceptTextConsent = (said: string) =>
      said.startsWith('yes') ? true : said.startsWith('no') ? false : undefined
    const { harness, id } = await asking(
      (task) => task.requireConsent({ prompt: 'Sure?', operation: 1 }).then(() => null),
      { acceptTextConsent },
    )
    await harness.tell(id, text)
    await harness.settled()
    expect((await harness.get(id)).state).toBe(state)
  })

  it('is asked for again when the agent throws over the text', async () => {
    const { harness, id } = await asking(
      (task) => task.requireConsent({ prompt: 'Sure?', operation: 1 }).then(() => null),
      {
        acceptTextConsent: () => {
          throw new Error('bug')
        },
      },
    )
    await harness.tell(id, 'yes')
    expect((await harness.get(id)).state).toBe('user-consent-required')
  })

  it.each([
    ['a promise of false', () => Promise.resolve(false)],
    ['a promise that is rejected', () => Promise.reject(new Error('bug'))],
    ['a text', () => 'no'],
  ])('is asked for again, and not given, when the agent answers %s', async (_, answer) => {
    const { harness, id } = await asking(
      (task) => task.requireConsent({ prompt: 'Sure?', operation: 1 }).then(() => null),
      { acceptTextConsent: answer as unknown as () => boolean },
    )
    await harness.tell(id, 'no')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('user-consent-required')
    expect(harness.said.map(({ text }) => text)).toContain(
      'an agent could not read consent out of a text',
    )
  })

  it('can be given by a message without a task that refers to exactly this one', async () => {
    const { harness, id, contextId } = await consentTo()
    const consentId = (await harness.get(id)).question?.consent?.consentId
    const data: Json = { consentId: consentId ?? '', decision: 'granted' }
    const answer = message([{ data }], { contextId, referenceTaskIds: [id] })
    const sent = await harness.engine.send(alice, { message: answer })
    expect(sent).toMatchObject({ kind: 'task', task: { id } })
    await harness.until(id, 'completed')
  })

  it('is not given by a reference from another context, nor by somebody else', async () => {
    const { harness, id, contextId } = await consentTo()
    const consentId = (await harness.get(id)).question?.consent?.consentId
    const data: Json = { consentId: consentId ?? '', decision: 'granted' }
    const elsewhere = message([{ data }], { contextId: 'other', referenceTaskIds: [id] })
    const sent = await harness.engine.send(alice, { message: elsewhere })
    expect(sent.kind === 'task' && sent.task.id).not.toBe(id)
    const theirs = message([{ data }], { contextId, referenceTaskIds: [id] })
    await harness.engine.send({ tenant: 'acme', principal: 'bob' }, { message: theirs })
    await harness.settled()
    expect((await harness.get(id)).state).toBe('user-consent-required')
  })

  it('that expires fails the task', async () => {
    const { harness, id } = await consentTo({ expiresAt: Date.UTC(2026, 0, 1) + 5_000 })
    await harness.pass(5_000)
    await harness.until(id, 'failed')
  })
})

describe('a message to a task that did not ask', () => {
  it('waits for its next turn, and does not resume a paused task', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.turn(() => undefined)
          await task.park({ reason: 'x' })
          const heard = await task.turn((turn) => turn.messages)
          await task.artifact({ name: 'heard', data: heard.map((one) => one.parts) as never })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.tell(id, 'one')
    await harness.tell(id, 'two')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    expect(dataOf(await harness.until(id, 'completed'), 'heard')).toEqual([
      [{ text: 'one' }],
      [{ text: 'two' }],
    ])
  })

  it('is refused when the task has ended, and nothing is written', async () => {
    const harness = await createHarness()
    const { id } = await harness.send('go')
    await harness.until(id, 'completed')
    const log = await harness.log(id)
    await expect(harness.tell(id, 'more')).rejects.toMatchObject({ code: 'TASK_TERMINAL' })
    expect(await harness.log(id)).toEqual(log)
  })
})
