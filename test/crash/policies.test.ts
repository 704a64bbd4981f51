/** When going on by itself would be wrong, a task stops and says why. */
import { afterEach, expect, it } from 'vitest'
import { Died, killAll, startWorker } from '../support/worker-process.ts'
import { readEffects } from './effects-file.ts'
import { createHarness, type Harness } from './harness.ts'

afterEach(killAll)

const DEATHS = 5

it('pauses a task that took five processes down, and only that one', async () => {
  const harness = await createHarness({ deadlyStep: 'deadly' })
  const innocent = await harness.run({ ask: 'go on?' }, { step: 'after' })
  await harness.reached(innocent, 'input-required')
  const taskId = await harness.run({ step: 'fine' }, { step: 'deadly' })
  await harness.worker().died
  for (let deaths = 1; deaths < DEATHS; deaths++) {
    const next = startWorker({ data: harness.data, deadlyStep: 'deadly' })
    // It may die before it gets to say that it is ready.
    const worker = await next.catch((error: unknown) => {
      if (!(error instanceof Died)) throw error
    })
    await worker?.died
  }
  await harness.restart({ deadlyStep: 'deadly' })
  const task = await harness.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({
    reason: 'crash-loop',
    actor: { kind: 'policy', id: 'crash-loop' },
  })
  const begins = harness.effects(taskId).filter((line) => line.startsWith('begin'))
  expect(begins).toEqual(['begin fine', ...Array(DEATHS).fill('begin deadly')])
  await answer(harness, innocent, 'yes')
  expect((await harness.ended(innocent)).state).toBe('completed')

  // Mended, it goes on where it was.
  await harness.restart()
  await harness.worker().call('resume', { taskId })
  expect((await harness.ended(taskId)).state).toBe('completed')
  expect(harness.effects(taskId).filter((line) => line === 'begin fine')).toHaveLength(1)
})

it('pauses a task whose agent is gone, and goes on when it is back', async () => {
  const harness = await createHarness({ agents: ['script', 'editor'] })
  const began = harness.begins('long')
  const taskId = await harness.run({ step: 'first' }, { step: 'long', ms: 600 })
  const asking = await harness.run({ ask: 'go on?' })
  await began
  await harness.reached(asking, 'input-required')

  await harness.restart({ agents: ['editor'] })
  const task = await harness.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({ reason: 'agent-unknown', actor: { kind: 'policy' } })
  await answer(harness, asking, 'yes')
  const answered = await harness.reached(asking, 'paused-by-client')
  expect(answered.suspension?.reason).toBe('agent-unknown')

  await harness.restart({ agents: ['editor', 'script'] })
  for (const one of [taskId, asking]) {
    await harness.worker().call('resume', { taskId: one })
    expect((await harness.ended(one)).state).toBe('completed')
  }
  const begins = readEffects(harness.data).filter(({ kind }) => kind === 'begin')
  expect(begins.map(({ name }) => name)).toEqual(['first', 'long', 'long'])
})

it('pauses a task whose code asks something else than what is recorded, until somebody accepts it', async () => {
  const harness = await createHarness({ agents: ['editor'] })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'write' }] } as const
  const sent = await harness.worker().call('send', { message })
  const taskId = sent.kind === 'task' ? sent.task.id : ''
  await harness.reached(taskId, 'input-required')
  await answer(harness, taskId, 'Moby Dick')
  await harness.worker().call('waitFor', taskId, ['input-required'])

  await harness.restart({ agents: ['editor, edited'] })
  await answer(harness, taskId, 'yes')
  const task = await harness.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({
    reason: 'code-changed',
    mismatch: 'ask:input-required#1',
    actor: { kind: 'policy' },
  })

  await harness.worker().call('resume', { taskId })
  const asking = await harness.reached(taskId, 'input-required')
  expect(asking.question?.message.parts).toEqual([{ text: 'Title and author?' }])
  await answer(harness, taskId, 'Moby Dick, Melville')
  const ended = await harness.ended(taskId)
  expect(ended.statusMessage?.parts).toEqual([{ text: 'printed Moby Dick, Melville' }])
})

async function answer(harness: Harness, taskId: string, text: string): Promise<void> {
  const message = { messageId: text, taskId, role: 'ROLE_USER', parts: [{ text }] } as const
  await harness.worker().call('send', { message })
}
