/** What `digest` and `compact` of an agent used is counted once, also when the run is rebuilt. */
import { expect, it } from 'vitest'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'

const usage = { inputTokens: 7, costUsd: 0.5 }

it('counts the usage of a digest and of a compaction, also over crashes', async () => {
  let asked = 0
  const worker = running(
    async (task) => {
      await task.turn((turn) => turn.record('agent', 'one'))
      await task.compact()
      await task.park({ reason: 'night' })
      await task.turn((turn) => turn.record('agent', 'two'))
      await task.ask('Go on?')
    },
    {
      compact(transcript, spend) {
        asked++
        spend(usage)
        return transcript
      },
      digest(_, spend) {
        asked++
        spend(usage)
        return 'short'
      },
    },
  )
  let harness = await createHarness({ agents: [worker] })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  harness = await harness.recover()
  await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
  await harness.until(id, 'input-required')
  harness = await harness.recover()
  await harness.tell(id, 'yes')
  const task = await harness.ended(id)
  expect(task.state).toBe('completed')
  expect(task.usage).toMatchObject({ inputTokens: 14, costUsd: 1 })
  expect(asked).toBe(2)
})

it('an agent whose functions report nothing has no usage', async () => {
  const worker = running(
    async (task) => {
      await task.turn((turn) => turn.record('agent', 'one'))
      await task.compact()
    },
    { compact: (transcript) => transcript },
  )
  const harness = await createHarness({ agents: [worker] })
  const { id } = await harness.send('go')
  await harness.ended(id)
  expect(await harness.types(id)).not.toContain('usage')
})
