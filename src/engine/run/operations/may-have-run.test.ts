/** `mayHaveRun` (agent-task.ts) is false only when no execution of the step can have begun before. */
import { describe, expect, it } from 'vitest'
import type { AgentTask, StepContext } from '../../author/agent-task.ts'
import {
  aborted,
  alice,
  createHarness,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

type Seen = readonly [name: string, attempt: number, mayHaveRun: boolean]

function watched(program: (task: AgentTask, step: Step) => Promise<unknown>) {
  const seen: Seen[] = []
  const agent = running(async (task) => {
    const step: Step = (name, run = () => undefined, options = {}) =>
      task.step(
        name,
        (context) => {
          seen.push([name, context.attempt, context.mayHaveRun])
          return run(context) as undefined
        },
        options,
      )
    await program(task, step)
  })
  return { seen, agents: [agent] }
}

type Step = (
  name: string,
  run?: (context: StepContext) => unknown,
  options?: Parameters<AgentTask['step']>[2],
) => Promise<unknown>

async function ended(harness: Harness, id: string): Promise<void> {
  await harness.until(id, 'completed')
}

describe('mayHaveRun', () => {
  it('is true for a step a crash may have interrupted, and false behind its result', async () => {
    const hung = signal()
    let first = true
    const { seen, agents } = watched(async (_task, step) => {
      await step('before')
      await step('in flight', () => (first ? hung.promise : undefined))
      await step('after')
    })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    first = false
    await ended(await harness.recover(), id)
    expect(seen).toEqual([
      ['before', 1, false],
      ['in flight', 1, false],
      ['in flight', 1, true],
      ['after', 1, false],
    ])
  })

  it('is true inside a step for which it is true', async () => {
    const hung = signal()
    let first = true
    const { seen, agents } = watched(async (_task, step) => {
      await step('outer', async () => {
        await step('inner')
        if (first) await hung.promise
        await step('next')
      })
    })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    first = false
    await ended(await harness.recover(), id)
    expect(seen).toEqual([
      ['outer', 1, false],
      ['inner', 1, false],
      ['outer', 1, true],
      ['next', 1, true],
    ])
  })

  it('is false after an orderly stop: a park, a pause at a boundary, a drain', async () => {
    const { seen, agents } = watched(async (task, step) => {
      await step('a')
      await task.park({ reason: 'x' })
      await step('b')
    })
    const harness = await createHarness({ agents, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const next = await harness.restart()
    await next.engine.resume(alice, { taskId: id })
    await ended(next, id)
    expect(seen).toEqual([
      ['a', 1, false],
      ['b', 1, false],
    ])
  })

  it('is true when a stopping process left the step behind', async () => {
    const hung = signal()
    let first = true
    const { seen, agents } = watched(async (_task, step) => {
      await step('slow', () => (first ? hung.promise : undefined))
    })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    first = false
    const again = harness.restart()
    await harness.pass(60_000)
    await ended(await again, id)
    expect(seen.at(-1)).toEqual(['slow', 1, true])
  })

  it('is true when the process died while a pause waited for the step', async () => {
    const hung = signal()
    let first = true
    const { seen, agents } = watched(async (_task, step) => {
      await step('slow', () => (first ? hung.promise : undefined))
    })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id, graceMs: 0 })
    first = false
    const next = await harness.recover()
    await next.until(id, 'paused-by-client')
    await next.engine.resume(alice, { taskId: id })
    await ended(next, id)
    expect(seen.at(-1)).toEqual(['slow', 1, true])
  })

  it('is true for a retry and after an abort', async () => {
    let first = true
    const { seen, agents } = watched(async (_task, step) => {
      const flaky = ({ attempt }: StepContext): void => {
        if (attempt === 1) throw new Error('no')
      }
      await step('flaky', flaky, { retry: { attempts: 1, backoffMs: 0 } })
      await step('slow', ({ signal: abort }) => (first ? aborted(abort) : undefined))
    })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.pass(0)
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    first = false
    await harness.engine.resume(alice, { taskId: id })
    await ended(harness, id)
    expect(seen).toEqual([
      ['flaky', 1, false],
      ['flaky', 2, true],
      ['slow', 1, false],
      ['slow', 2, true],
    ])
  })
})
