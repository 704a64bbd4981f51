/** When going on by itself would be wrong, a task stops and says why. */
import { afterEach, expect, it } from 'vitest'
import { Died, killAll, startWorker } from '../support/worker-process.ts'
import { readEffects } from './effects-file.ts'
import { createStage, type Stage } from './stage.ts'

afterEach(killAll)

const DEATHS = 5

it('pauses a task that took five processes down, and only that one', async () => {
  const stage = await createStage({ deadlyStep: 'deadly' })
  const innocent = await stage.run({ ask: 'go on?' }, { step: 'after' })
  await stage.reached(innocent, 'input-required')
  const taskId = await stage.run({ step: 'fine' }, { step: 'deadly' })
  await stage.worker().died
  for (let deaths = 1; deaths < DEATHS; deaths++) {
    const next = startWorker({ data: stage.data, deadlyStep: 'deadly' })
    // It may die before it gets to say that it is ready.
    const worker = await next.catch((error: unknown) => {
      if (!(error instanceof Died)) throw error
    })
    await worker?.died
  }
  await stage.restart({ deadlyStep: 'deadly' })
  const task = await stage.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({
    reason: 'crash-loop',
    actor: { kind: 'policy', id: 'crash-loop' },
  })
  const begins = stage.effects(taskId).filter((line) => line.startsWith('begin'))
  expect(begins).toEqual(['begin fine', ...Array(DEATHS).fill('begin deadly')])
  await answer(stage, innocent, 'yes')
  expect((await stage.ended(innocent)).state).toBe('completed')

  // Mended, it goes on where it was.
  await stage.restart()
  await stage.worker().call('resume', { taskId })
  expect((await stage.ended(taskId)).state).toBe('completed')
  expect(stage.effects(taskId).filter((line) => line === 'begin fine')).toHaveLength(1)
})

it('pauses a task whose agent is gone, and goes on when it is back', async () => {
  const stage = await createStage({ agents: ['script', 'editor'] })
  const began = stage.begins('long')
  const taskId = await stage.run({ step: 'first' }, { step: 'long', ms: 600 })
  const asking = await stage.run({ ask: 'go on?' })
  await began
  await stage.reached(asking, 'input-required')

  await stage.restart({ agents: ['editor'] })
  const task = await stage.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({ reason: 'agent-unknown', actor: { kind: 'policy' } })
  await answer(stage, asking, 'yes')
  const answered = await stage.reached(asking, 'paused-by-client')
  expect(answered.suspension?.reason).toBe('agent-unknown')

  await stage.restart({ agents: ['editor', 'script'] })
  for (const one of [taskId, asking]) {
    await stage.worker().call('resume', { taskId: one })
    expect((await stage.ended(one)).state).toBe('completed')
  }
  const begins = readEffects(stage.data).filter(({ kind }) => kind === 'begin')
  expect(begins.map(({ name }) => name)).toEqual(['first', 'long', 'long'])
})

it('pauses a task whose code asks something else than what is recorded, until somebody accepts it', async () => {
  const stage = await createStage({ agents: ['editor'] })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'write' }] } as const
  const sent = await stage.worker().call('send', { message })
  const taskId = sent.kind === 'task' ? sent.task.id : ''
  await stage.reached(taskId, 'input-required')
  await answer(stage, taskId, 'Moby Dick')
  await stage.worker().call('waitFor', taskId, ['input-required'])

  await stage.restart({ agents: ['editor, edited'] })
  await answer(stage, taskId, 'yes')
  const task = await stage.reached(taskId, 'paused-by-client')
  expect(task.suspension).toMatchObject({
    reason: 'code-changed',
    mismatch: 'ask:input-required#1',
    actor: { kind: 'policy' },
  })

  await stage.worker().call('resume', { taskId })
  const asking = await stage.reached(taskId, 'input-required')
  expect(asking.question?.message.parts).toEqual([{ text: 'Title and author?' }])
  await answer(stage, taskId, 'Moby Dick, Melville')
  const ended = await stage.ended(taskId)
  expect(ended.statusMessage?.parts).toEqual([{ text: 'printed Moby Dick, Melville' }])
})

async function answer(stage: Stage, taskId: string, text: string): Promise<void> {
  const message = { messageId: text, taskId, role: 'ROLE_USER', parts: [{ text }] } as const
  await stage.worker().call('send', { message })
}
