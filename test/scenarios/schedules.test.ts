/** The pause of a schedule is in the store: it outlives the process, however that ends. */
import { expect, it } from 'vitest'
import { agent } from '../../src/engine/author/agent.ts'
import type { Caller } from '../../src/engine/caller.ts'
import { describeScenarios } from './engines.ts'

const HOUR = 3_600_000
const operator: Caller = { tenant: 'default', principal: 'olga', operator: true }
const id = 'worker:hourly'
const worker = agent({
  name: 'worker',
  description: 'Works',
  schedule: [{ name: 'hourly', cron: '0 * * * *', message: 'go', missed: 'run-once' }],
  run: () => 'done',
})

describeScenarios('a paused schedule', ({ open, killAndRestart, stopAndRestart }) => {
  it('stays paused when its process is killed and when it is stopped, and goes on when it is resumed', async () => {
    let harness = await open(worker)
    const started = async () => (await harness.engine.list(operator)).tasks.length
    await harness.pass(HOUR)
    expect(await started()).toBe(1)
    await harness.engine.pauseSchedule(operator, id)
    for (const restart of [killAndRestart, stopAndRestart]) {
      harness = await restart(harness)
      expect(await harness.engine.schedules(operator)).toMatchObject([
        { id, paused: true, pausedBy: 'olga' },
      ])
      await harness.pass(2 * HOUR)
      expect(await started()).toBe(1)
    }
    await harness.engine.resumeSchedule(operator, id)
    harness = await killAndRestart(harness)
    await harness.settled()
    expect(await started()).toBe(1)
    await harness.pass(HOUR)
    expect(await started()).toBe(2)
  })
})
