/** The three modes differ inside a turn; each test counts the side effects that happened before the pause committed. */
import { describe, expect, it } from 'vitest'
import type { PauseMode } from '../../core/suspension.ts'
import { Fatal } from '../author/agent.ts'
import {
  aborted,
  alice,
  createHarness,
  effects,
  running,
  signal,
} from '../test-support/engine-harness.ts'

/** A turn of a batch of three tools and one more tool, then a step after the turn. */
function turnAgent() {
  const done = effects()
  const started = signal()
  const finish = signal()
  const tool = (name: string) => ({
    name,
    run: async ({ signal: abort }: { signal: AbortSignal }) => {
      done.note(`begin ${name}`)
      if (name === 'a' && done.count('begin a') === 1) {
        started.fire()
        await Promise.race([finish.promise, aborted(abort)])
      }
      done.note(`end ${name}`)
      return name
    },
  })
  const agent = running(async (task) => {
    await task.turn(async (turn) => {
      await turn.tools([tool('a'), tool('b'), tool('c')])
      await turn.tool('d', tool('d').run)
    })
    await task.step('after', () => done.note('after'))
    return 'done'
  })
  return { agent, done, started: started.promise, finish: finish.fire }
}

async function pausedInTheFirstTool(mode: PauseMode) {
  const { agent, done, started, finish } = turnAgent()
  const harness = await createHarness({ agents: [agent] })
  const { id } = await harness.send('go')
  await started
  const answer = harness.engine.pause(alice, { taskId: id, mode })
  await harness.settled()
  finish()
  const paused = await answer
  return { harness, id, done, paused }
}

describe('a pause in the first tool of a batch', () => {
  it('with interrupt_immediate ends that tool and dispatches no other', async () => {
    const { harness, id, done, paused } = await pausedInTheFirstTool('interrupt_immediate')
    expect(paused.state).toBe('paused-by-client')
    await harness.settled()
    expect(done.list).toEqual(['begin a'])

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list.slice(1)).toEqual(
      ['a', 'b', 'c', 'd'].flatMap((name) => [`begin ${name}`, `end ${name}`]).concat('after'),
    )
  })

  it('with finish_step lets the whole batch finish and nothing after it', async () => {
    const { harness, id, done, paused } = await pausedInTheFirstTool('finish_step')
    expect(paused.state).toBe('paused-by-client')
    await harness.settled()
    const batch = ['a', 'b', 'c'].flatMap((name) => [`begin ${name}`, `end ${name}`])
    expect(done.list).toEqual(batch)

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual([...batch, 'begin d', 'end d', 'after'])
  })

  it('with wait_for_completion lets the whole turn finish and nothing after it', async () => {
    const { harness, id, done, paused } = await pausedInTheFirstTool('wait_for_completion')
    expect(paused.state).toBe('paused-by-client')
    await harness.settled()
    const turn = ['a', 'b', 'c', 'd'].flatMap((name) => [`begin ${name}`, `end ${name}`])
    expect(done.list).toEqual(turn)
    expect(await harness.types(id)).toContain('turn-ended')

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual([...turn, 'after'])
  })
})

describe('interrupt_immediate', () => {
  it('runs an interrupted step again with the next attempt and the same idempotency key', async () => {
    const seen: { attempt: number; idempotencyKey: string }[] = []
    const started = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.step('call', async ({ attempt, idempotencyKey, signal: abort }) => {
            seen.push({ attempt, idempotencyKey })
            if (attempt > 1) return
            started.fire()
            await aborted(abort)
          })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    const paused = await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    expect(paused.state).toBe('paused-by-client')
    const attempt = (await harness.log(id)).find((record) => record.type === 'attempt')
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'interrupted' })

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen.map((one) => one.attempt)).toEqual([1, 2])
    expect(seen[0]?.idempotencyKey).toBe(seen[1]?.idempotencyKey)
  })

  it.each([
    ['returns what cannot be recorded', () => new Date(0)],
    ['fails for good', () => Promise.reject(new Fatal('declined'))],
    ['takes too long', () => new Promise(() => undefined)],
  ] as const)('does not repeat a step that ignores the signal and then %s', async (_, end) => {
    const done = effects()
    const started = signal()
    const finish = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const pay = async (): Promise<unknown> => {
            done.note('pay')
            started.fire()
            await finish.promise
            return end()
          }
          await task.step('pay', pay, { timeoutMs: 5_000, abandonAfterMs: 8_000 })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    const pausing = harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.settled()
    finish.fire()
    await harness.pass(5_000)
    await harness.pass(3_000)
    expect((await pausing).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    expect((await harness.ended(id)).state).toBe('failed')
    expect(done.count('pay')).toBe(1)
  })

  it('keeps the result of a step that ignores the signal, and commits when it is done', async () => {
    const done = effects()
    const started = signal()
    const finish = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const result = await task.step('stubborn', async () => {
            done.note('stubborn')
            started.fire()
            await finish.promise
            return 'kept'
          })
          await task.step('next', () => done.note('next'))
          return result
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    const pausing = await harness.engine.pause(alice, {
      taskId: id,
      mode: 'interrupt_immediate',
      graceMs: 0,
    })
    expect(pausing).toMatchObject({ state: 'working', pausing: true })
    finish.fire()
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension?.handle).toBe(pausing.handle)
    await harness.settled()
    expect(done.list).toEqual(['stubborn'])

    await harness.engine.resume(alice, { taskId: id })
    const ended = await harness.until(id, 'completed')
    expect(done.list).toEqual(['stubborn', 'next'])
    expect(ended.statusMessage?.parts).toEqual([{ text: 'kept' }])
  })

  it('discards code that is in no task call: neither catch nor finally runs, and resume rebuilds it', async () => {
    const done = effects()
    const raw = signal()
    const inRaw = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          done.note('begin')
          await task.step('first', () => done.note('first'))
          try {
            if (done.count('begin') === 1) {
              inRaw.fire()
              await raw.promise
            }
            await task.step('second', () => done.note('second'))
          } catch {
            done.note('catch')
          } finally {
            done.note('finally')
          }
        }),
      ],
    })
    const { id } = await harness.send('go')
    await inRaw.promise
    await harness.settled()
    const paused = await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    expect(paused.state).toBe('paused-by-client')
    raw.fire()
    await harness.settled()
    expect(done.list).toEqual(['begin', 'first'])

    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    await harness.settled()
    expect(done.list).toEqual(['begin', 'first', 'begin', 'second', 'finally'])
  })

  it('fires the signal of the step, not the signal of the task', async () => {
    const started = signal()
    const fired = effects()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          task.signal.addEventListener('abort', () => fired.note('task'))
          await task.step('call', async ({ signal: abort, attempt }) => {
            abort.addEventListener('abort', () => fired.note('step'))
            started.fire()
            if (attempt === 1) await aborted(abort)
          })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    expect(fired.list).toEqual(['step'])
    await harness.engine.cancel(alice, { taskId: id })
    expect(fired.list).toEqual(['step', 'task'])
  })
})

describe('an agent without turns', () => {
  it.each<PauseMode>(['finish_step', 'wait_for_completion'])(
    'has one-step turns: %s lets the running step finish',
    async (mode) => {
      const done = effects()
      const started = signal()
      const finish = signal()
      const harness = await createHarness({
        agents: [
          running(async (task) => {
            await task.step('one', async () => {
              started.fire()
              await finish.promise
              done.note('one')
            })
            await task.step('two', () => done.note('two'))
          }),
        ],
      })
      const { id } = await harness.send('go')
      await started.promise
      const answer = harness.engine.pause(alice, { taskId: id, mode })
      await harness.settled()
      finish.fire()
      expect((await answer).state).toBe('paused-by-client')
      await harness.settled()
      expect(done.list).toEqual(['one'])
      await harness.engine.resume(alice, { taskId: id })
      await harness.until(id, 'completed')
      expect(done.list).toEqual(['one', 'two'])
    },
  )

  it('with wait_for_completion may end with its running step', async () => {
    const started = signal()
    const finish = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.step('only', async () => {
            started.fire()
            await finish.promise
          })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    const answer = harness.engine.pause(alice, { taskId: id, mode: 'wait_for_completion' })
    const refused = expect(answer).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSABLE',
      details: { state: 'completed' },
    })
    await harness.settled()
    finish.fire()
    await refused
    expect((await harness.get(id)).state).toBe('completed')
  })
})
