/** A function that was told to stop is in flight until it settles, or is abandoned (X6 in execution.ts). */
import { describe, expect, it } from 'vitest'
import type { PauseMode } from '../../../core/suspension.ts'
import type { AgentTask, StepContext, StepOptions } from '../../author/agent-task.ts'
import {
  aborted,
  alice,
  createHarness,
  effects,
  type Harness,
  olga,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

const modes: readonly PauseMode[] = ['interrupt_immediate', 'finish_step', 'wait_for_completion']
const MINUTE = 60_000

/** An agent with one step that ignores its signal: its first attempt ends when the test says. */
function stubborn(options: StepOptions = {}, after?: (task: AgentTask) => Promise<unknown>) {
  const done = effects()
  const finish = signal()
  const seen: Pick<StepContext, 'attempt' | 'mayHaveRun'>[] = []
  const pay = async ({ attempt, mayHaveRun }: StepContext): Promise<string> => {
    seen.push({ attempt, mayHaveRun })
    done.note(`begin ${attempt}`)
    if (attempt === 1) await finish.promise
    done.note(`end ${attempt}`)
    return `paid ${attempt}`
  }
  const agent = running(async (task) => {
    const paid = await task.step('pay', pay, options)
    await after?.(task)
    return paid
  })
  return { agent, done, seen, finish: finish.fire }
}

const once: StepOptions = { timeoutMs: 1_000, retry: { attempts: 1, backoffMs: 0 } }

async function begun(agent: ReturnType<typeof stubborn>['agent'], some = {}) {
  const harness = await createHarness({ agents: [agent], ...some })
  const { id } = await harness.send('go')
  await harness.settled()
  return { harness, id }
}

const records = async (harness: Harness, id: string, type: string) =>
  (await harness.log(id)).filter((record) => record.type === type)

describe.each(modes)('a pause (%s) while a step that ran out of time goes on', (mode) => {
  it('X6: is answered with pausing, and commits when the function has ended', async () => {
    const { agent, done, finish } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    const answer = await harness.engine.pause(alice, { taskId: id, mode, graceMs: 0 })
    expect(answer).toMatchObject({ state: 'working', pausing: true })
    await harness.pass(10_000)
    expect((await harness.get(id)).state).toBe('working')
    expect(done.list).toEqual(['begin 1'])

    finish()
    const paused = await harness.until(id, 'paused-by-client')
    expect(paused.suspension?.mayStillAct).toBeUndefined()
    await harness.settled()
    expect(done.list).toEqual(['begin 1', 'end 1'])
    await harness.engine.resume(alice, { taskId: id })
    expect((await harness.until(id, 'completed')).statusMessage?.parts).toEqual([
      { text: 'paid 2' },
    ])
    expect(done.list).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
  })

  it('commits after abandonAfterMs, and then says everywhere that the step may still act', async () => {
    const { agent, seen } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    await harness.engine.pause(alice, { taskId: id, mode, graceMs: 0 })
    await harness.pass(MINUTE - 1)
    expect((await harness.get(id)).state).toBe('working')
    await harness.pass(1)
    const paused = await harness.until(id, 'paused-by-client')
    expect(paused.suspension?.mayStillAct).toEqual(['pay'])
    expect(await records(harness, id, 'abandoned')).toMatchObject([{ name: 'pay', attempt: 1 }])
    expect(await harness.engine.pause(alice, { taskId: id })).toMatchObject({
      state: 'paused-by-client',
      mayStillAct: ['pay'],
    })
    const receipts = await records(harness, id, 'receipt')
    expect(receipts.at(-1)).toMatchObject({
      receipt: { kind: 'SuspensionReceipt', facts: { mayStillAct: ['pay'] } },
    })
    expect(seen).toHaveLength(1)

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen).toEqual([
      { attempt: 1, mayHaveRun: false },
      { attempt: 2, mayHaveRun: true },
    ])
    expect((await harness.engine.verify(alice, id)).faults).toEqual([])
  })
})

describe('a step that ran out of time and goes on', () => {
  it('is tried again when its function has ended, and not before', async () => {
    const { agent, done, finish } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    await harness.pass(10_000)
    expect(done.list).toEqual(['begin 1'])
    finish()
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
    expect(await harness.types(id)).not.toContain('abandoned')
  })

  it('is tried again after abandonAfterMs when its function hangs for ever', async () => {
    const { agent, seen } = stubborn({ ...once, abandonAfterMs: '5 seconds' })
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    await harness.pass(4_999)
    expect(seen).toHaveLength(1)
    await harness.pass(1)
    await harness.until(id, 'completed')
    expect(seen.at(-1)).toEqual({ attempt: 2, mayHaveRun: true })
    const types = await harness.types(id)
    expect(types.filter((type) => ['attempt', 'abandoned', 'step'].includes(type))).toEqual([
      'attempt',
      'abandoned',
      'step',
    ])
  })

  it('keeps a park of the agent waiting, and the slot of the task taken', async () => {
    const { agent, finish } = stubborn({ timeoutMs: 1_000 })
    const parking = running(
      async (task) => {
        await Promise.resolve(agent.run?.(task)).catch(() => undefined)
        await task.park({ reason: 'x' })
      },
      { concurrency: 1 },
    )
    const { harness, id } = await begun(parking)
    const { id: next } = await harness.send('next')
    await harness.pass(1_000)
    await harness.pass(10_000)
    expect((await harness.get(id)).state).toBe('working')
    expect((await harness.get(next)).state).toBe('submitted')
    finish()
    await harness.until(id, 'paused-by-agent')
  })

  it('is abandoned at once when the task ends without it, and the log says so before the end', async () => {
    const { agent } = stubborn({ timeoutMs: 1_000 })
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    const task = await harness.until(id, 'failed')
    expect(task.abandoned).toMatchObject([{ name: 'pay', attempts: [1] }])
    expect((await harness.types(id)).slice(-3)).toEqual(['step', 'abandoned', 'failed'])
  })

  it('is abandoned before the first await when abandonAfterMs is 0', async () => {
    const { agent, seen } = stubborn(once)
    const { harness, id } = await begun(agent, { options: { abandonAfterMs: 0 } })
    await harness.pass(1_000)
    await harness.pass(0)
    await harness.until(id, 'completed')
    expect(seen).toHaveLength(2)
  })

  it('runs again with mayHaveRun when the process dies before it is abandoned', async () => {
    const { agent, seen } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    const next = await harness.recover()
    await next.until(id, 'completed')
    expect(seen).toEqual([
      { attempt: 1, mayHaveRun: false },
      { attempt: 2, mayHaveRun: true },
    ])
    expect(await next.types(id)).not.toContain('abandoned')
  })

  it('does not keep a stopping process', async () => {
    const { agent, seen } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.pass(1_000)
    const again = harness.restart()
    await harness.pass(MINUTE / 2)
    await harness.pass(MINUTE / 2)
    await (await again).until(id, 'completed')
    expect(seen.at(-1)).toEqual({ attempt: 2, mayHaveRun: true })
  })

  it('is logged when its task was canceled', async () => {
    const { agent } = stubborn(once)
    const { harness, id } = await begun(agent)
    await harness.engine.cancel(alice, { taskId: id })
    await harness.pass(MINUTE)
    const text = 'a step goes on although its run is over; it may still act'
    expect(harness.said.filter((line) => line.text === text)).toMatchObject([
      { level: 'warn', facts: { taskId: id, step: 'pay' } },
    ])
  })

  it('ends for the step around it, too', async () => {
    const hung = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const outer = () => task.step('inner', () => hung.promise)
          await task.step('outer', outer, { timeoutMs: 1_000 }).catch(() => undefined)
          await task.park({ reason: 'x' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.pass(1_000)
    await harness.pass(MINUTE)
    const task = await harness.until(id, 'paused-by-agent')
    expect(task.suspension?.mayStillAct?.toSorted()).toEqual(['inner', 'outer'])
  })
})

describe('a step that ignores the signal of an interrupting pause', () => {
  it('is abandoned after abandonAfterMs, and runs again after the resume', async () => {
    const { agent, seen } = stubborn()
    const { harness, id } = await begun(agent)
    const pausing = harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.pass(10_000)
    expect(await pausing).toMatchObject({ state: 'working', pausing: true })
    await harness.pass(MINUTE)
    const paused = await harness.until(id, 'paused-by-client')
    expect(paused.suspension?.mayStillAct).toEqual(['pay'])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen.at(-1)).toEqual({ attempt: 2, mayHaveRun: true })
  })

  it('runs again with mayHaveRun when the abandoned run left memory meanwhile', async () => {
    const { agent, seen } = stubborn()
    const { harness, id } = await begun(agent, { options: { warmForMs: 0, graceMs: 0 } })
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.pass(MINUTE)
    await harness.until(id, 'paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen.at(-1)).toEqual({ attempt: 2, mayHaveRun: true })
  })

  it('goes on undisturbed when the pause is withdrawn, and is given its time again by the next one', async () => {
    const { agent, done, finish } = stubborn()
    const { harness, id } = await begun(agent, { options: { graceMs: 0 } })
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.engine.resume(alice, { taskId: id })
    await harness.pass(2 * MINUTE)
    expect(await harness.types(id)).not.toContain('abandoned')
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.pass(MINUTE - 1)
    finish()
    await harness.until(id, 'paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['begin 1', 'end 1'])
  })

  it('may act no longer when it has ended since', async () => {
    const { agent, finish } = stubborn({}, (task) => task.park({ reason: 'x' }))
    const { harness, id } = await begun(agent, { options: { graceMs: 0 } })
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.pass(MINUTE)
    await harness.until(id, 'paused-by-client')
    finish()
    await harness.settled()
    expect((await harness.get(id)).suspension?.mayStillAct).toEqual(['pay'])
    await harness.engine.resume(alice, { taskId: id })
    const parked = await harness.until(id, 'paused-by-agent')
    expect(parked.suspension?.mayStillAct).toBeUndefined()
    expect((await records(harness, id, 'abandoned')).at(-1)).toMatchObject({ settled: true })
  })
})

describe('a hold', () => {
  const scope = { all: true } as const

  it('says that the step of a task has not ended, and then that it may still act', async () => {
    const { agent } = stubborn()
    const { harness, id } = await begun(agent)
    const hold = { scope, reason: 'panic' }
    expect((await harness.engine.hold(olga, hold)).outcomes).toEqual([
      { taskId: id, outcome: 'held', pausing: true },
    ])
    await harness.pass(MINUTE)
    await harness.until(id, 'paused-by-client')
    expect((await harness.engine.hold(olga, hold)).outcomes).toEqual([
      { taskId: id, outcome: 'already_held', mayStillAct: ['pay'] },
    ])
  })

  it('says nothing more of a task whose step stops', async () => {
    const harness = await createHarness({
      agents: [running((task) => task.park({ reason: 'x' }).then(() => undefined))],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const { outcomes } = await harness.engine.hold(olga, { scope, reason: 'panic' })
    expect(outcomes).toEqual([{ taskId: id, outcome: 'held' }])
  })
})

it('a step that ends because of its signal is not abandoned', async () => {
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        const slow = ({ signal: abort }: StepContext) => aborted(abort)
        await task.step('slow', slow, { timeoutMs: 1_000 }).catch(() => undefined)
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.pass(1_000)
  expect((await harness.until(id, 'completed')).abandoned).toEqual([])
})
