/** Consents by a second person, with a comment, and with an operation that was edited. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ConsentBy } from '../../../core/records.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Caller } from '../../caller.ts'
import { alice, createHarness, olga, running } from '../../test-support/engine-harness.ts'

const reach = { read: 'tenant', answer: 'tenant' } as const
const ben: Caller = { tenant: 'acme', principal: 'ben', credential: 'key-b', reach }
const cay: Caller = { ...ben, principal: 'cay', scopes: new Set(['ops:control']) }
const amount = z.object({ pay: z.number().max(100) })

async function asking(by?: ConsentBy, editable?: typeof amount) {
  const heard: Json[] = []
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        const { operation, comment = null } = await task.requireConsent({
          prompt: 'Pay?',
          operation: { pay: 50 },
          ...(by === undefined ? {} : { by }),
          ...(editable === undefined ? {} : { editable }),
        })
        heard.push({ operation, comment })
      }),
    ],
  })
  const { id: taskId } = await harness.send('go')
  const { question } = await harness.until(taskId, 'user-consent-required')
  const consentId = question?.consent?.consentId ?? ''
  const answer = (who: Caller, decision: 'granted' | 'denied', more: object = {}) =>
    harness.engine.answer(who, { taskId, consentId, decision, ...more })
  return { harness, taskId, answer, heard }
}

describe('a consent by a second person', () => {
  it.each<[ConsentBy, Caller, Caller]>([
    ['other', alice, ben],
    [{ principal: 'ben' }, cay, ben],
    [{ principal: 'ben' }, alice, ben],
    [{ withScope: 'ops:control' }, ben, cay],
  ])('%j is not granted by another, and granted by who is meant', async (by, wrong, right) => {
    const { harness, taskId, answer } = await asking(by)
    const log = await harness.log(taskId)
    const refused = { code: 'CONSENT_NOT_YOURS', details: { taskId } }
    await expect(answer(wrong, 'granted')).rejects.toMatchObject(refused)
    expect(await harness.log(taskId)).toEqual(log)
    expect(await answer(right, 'granted')).toMatchObject({ isAnswer: true, decision: 'granted' })
    const { lastAnswer } = await harness.until(taskId, 'completed')
    expect(lastAnswer).toMatchObject({ actor: { id: right.principal }, decision: 'granted' })
  })

  it('may be denied by the starter, and is not answered by an operator', async () => {
    const { harness, taskId, answer } = await asking('other')
    const scope = 'tasks:answer:all'
    const refused = { code: 'FORBIDDEN', details: { scope } }
    await expect(answer(olga, 'granted')).rejects.toMatchObject(refused)
    await answer(alice, 'denied', { comment: 'not today' })
    const { statusMessage } = await harness.until(taskId, 'rejected')
    expect(JSON.stringify(statusMessage)).toContain('not today')
  })

  it('notes who was refused and who granted it in the audit log', async () => {
    const { harness, taskId, answer } = await asking('other')
    await answer(alice, 'granted').catch(() => undefined)
    await answer(ben, 'granted')
    const entries = await harness.engine.audit.read(olga, { taskId })
    expect(entries.map(({ principal, action, outcome }) => [principal, action, outcome])).toEqual([
      ['alice', 'task.answer', 'CONSENT_NOT_YOURS'],
      ['ben', 'consent.grant', 'done'],
    ])
  })

  it('counts once when two people race: the other is told who was first', async () => {
    const { harness, taskId, answer } = await asking('other')
    const raced = await Promise.allSettled([answer(ben, 'granted'), answer(cay, 'denied')])
    expect(raced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const winner = raced[0]?.status === 'fulfilled' ? 'ben' : 'cay'
    const lost = raced.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(lost.reason).toMatchObject({
      code: 'NOT_ASKING',
      details: { answeredBy: { id: winner } },
    })
    const answers = (await harness.log(taskId)).filter(({ type }) => type === 'answered')
    expect(answers).toHaveLength(1)
  })
})

describe('a decision with content', () => {
  it('gives the agent the operation that was granted and the comment', async () => {
    const { harness, taskId, answer, heard } = await asking(undefined, amount)
    await answer(ben, 'granted', { operation: { pay: 20 }, comment: 'less' })
    await harness.until(taskId, 'completed')
    expect(heard).toEqual([{ operation: { pay: 20 }, comment: 'less' }])
  })

  it('refuses an edit that the schema refuses, with its path, and changes nothing', async () => {
    const { harness, taskId, answer } = await asking(undefined, amount)
    const log = await harness.log(taskId)
    await expect(answer(ben, 'granted', { operation: { pay: 500 } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'operation.pay' },
    })
    expect(await harness.log(taskId)).toEqual(log)
  })

  it('refuses an edit of an operation that is not editable', async () => {
    const { answer } = await asking()
    const edited = answer(ben, 'granted', { operation: { pay: 20 } })
    await expect(edited).rejects.toMatchObject({ details: { path: 'operation' } })
    await answer(ben, 'granted', { operation: { pay: 50 } })
  })

  it('is recorded with who made it', async () => {
    const { harness, taskId, answer, heard } = await asking(undefined, amount)
    await answer(ben, 'granted', { operation: { pay: 20 }, comment: 'less' })
    await harness.until(taskId, 'completed')
    const answered = (await harness.log(taskId)).find(({ type }) => type === 'answered')
    expect(answered).toMatchObject({
      actor: { kind: 'client', id: 'ben', keyId: 'key-b' },
      content: { operation: { pay: 20 }, comment: 'less' },
    })
    expect(heard).toHaveLength(1)
  })
})
