/** Once `paused-by-client` is reported, nothing of the task happens until it is resumed: counted in the effects file. */
import { afterEach, expect, it } from 'vitest'
import type { PauseMode } from '../../src/core/suspension.ts'
import { killAll } from '../support/worker-process.ts'
import { createHarness } from './harness.ts'

afterEach(killAll)

const script = [
  {
    turn: [
      { tool: 'a' },
      {
        tools: [
          { name: 'b', ms: 600 },
          { name: 'c', ms: 10 },
        ],
      },
      { tool: 'd', ms: 10 },
    ],
  },
  { step: 'e', ms: 10 },
] as const

const whole = ['a', 'b', 'c', 'd', 'e'].flatMap((name) => [`begin ${name}`, `end ${name}`])

it.each<[PauseMode, readonly string[], readonly string[]]>([
  [
    'interrupt_immediate',
    ['begin a', 'end a', 'begin b', 'abort b'],
    [...whole.slice(0, 3), 'abort b', ...whole.slice(2)],
  ],
  ['finish_step', whole.slice(0, 6), whole],
  ['wait_for_completion', whole.slice(0, 8), whole],
])('%s freezes at its boundary, also through a death', async (mode, frozen, all) => {
  const harness = await createHarness()
  const began = harness.begins('b')
  const taskId = await harness.run(...script)
  await began
  const answer = await harness.worker().call('pause', { taskId, mode })
  expect(answer.state).toBe('paused-by-client')
  expect(harness.effects(taskId)).toEqual(frozen)

  await harness.pass(100)
  expect(harness.effects(taskId)).toEqual(frozen)

  await harness.restart()
  await harness.pass(100)
  expect(harness.effects(taskId)).toEqual(frozen)

  await harness.worker().call('resume', { taskId, handle: answer.handle })
  expect((await harness.ended(taskId)).state).toBe('completed')
  expect(harness.effects(taskId)).toEqual(all)
})

it('says that it is still pausing when a stubborn step outlasts the grace time, and commits after it', async () => {
  const harness = await createHarness()
  const began = harness.begins('stubborn')
  const taskId = await harness.run({ step: 'stubborn', ms: 800, stubborn: true }, { step: 'next' })
  await began
  const request = { taskId, mode: 'interrupt_immediate', graceMs: 20 } as const
  const answer = await harness.worker().call('pause', request)
  expect(answer).toMatchObject({ state: 'working', pausing: true })

  const paused = await harness.reached(taskId, 'paused-by-client')
  expect(paused.suspension?.handle).toBe(answer.handle)
  expect(harness.effects(taskId)).toEqual(['begin stubborn', 'end stubborn'])
  await harness.pass(100)
  expect(harness.effects(taskId)).toHaveLength(2)

  await harness.worker().call('resume', { taskId, handle: answer.handle })
  await harness.ended(taskId)
  expect(harness.effects(taskId)).toEqual([
    'begin stubborn',
    'end stubborn',
    'begin next',
    'end next',
  ])
})

it('commits a pause that was still pausing when the process died, before any agent code runs', async () => {
  const harness = await createHarness()
  const began = harness.begins('stubborn')
  const taskId = await harness.run(
    { step: 'stubborn', ms: 1_000, stubborn: true },
    { step: 'next' },
  )
  await began
  const request = { taskId, mode: 'interrupt_immediate', graceMs: 0 } as const
  const answer = await harness.worker().call('pause', request)
  expect(answer).toMatchObject({ state: 'working', pausing: true })

  await harness.restart()
  const paused = await harness.worker().call('get', taskId)
  expect(paused).toMatchObject({ state: 'paused-by-client', suspension: { handle: answer.handle } })
  await harness.pass(100)
  expect(harness.effects(taskId)).toEqual(['begin stubborn'])

  await harness.worker().call('resume', { taskId, handle: answer.handle })
  expect((await harness.ended(taskId)).state).toBe('completed')
  expect(harness.effects(taskId).filter((line) => line.endsWith('stubborn'))).toEqual([
    'begin stubborn',
    'begin stubborn',
    'end stubborn',
  ])
})

it('is not reported by a process that stops while a stubborn step goes on, but by the next one', async () => {
  const harness = await createHarness()
  const began = harness.begins('stubborn')
  const taskId = await harness.run({ step: 'stubborn', ms: 1_000, stubborn: true })
  await began
  const request = { taskId, mode: 'interrupt_immediate', graceMs: 0 } as const
  const answer = await harness.worker().call('pause', request)
  await harness.worker().call('drain', 20)
  expect(harness.effects(taskId)).toEqual(['begin stubborn'])
  expect(await harness.worker().call('get', taskId)).toMatchObject({
    state: 'working',
    pausing: { handle: answer.handle },
  })

  await harness.restart()
  expect(await harness.worker().call('get', taskId)).toMatchObject({
    state: 'paused-by-client',
    suspension: { handle: answer.handle },
  })
})
