/** `task.park` with a schema for the input of a resume. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'

const approval = z.object({ approved: z.boolean(), note: z.string().optional() })

const releaser = running(async (task) => {
  const { input } = await task.park({ reason: 'release?', onEvent: 'go', input: approval })
  await task.park({ reason: 'thanks' })
  return JSON.stringify(input)
})

async function parked(): Promise<{ harness: Harness; id: string; handle: string }> {
  const harness = await createHarness({ agents: [releaser] })
  const { id } = await harness.send('go')
  const { suspension } = await harness.until(id, 'paused-by-agent')
  return { harness, id, handle: suspension?.handle ?? '' }
}

it('records what a resume must bring', async () => {
  const { harness, id } = await parked()
  const { suspension } = await harness.get(id)
  expect(suspension?.inputSchema).toMatchObject({ type: 'object', required: ['approved'] })
})

it('refuses other input with its path and stays stopped, also in another process', async () => {
  const { harness, id } = await parked()
  const wrong = { code: 'INVALID_INPUT', details: { path: 'input.approved' } }
  const resume = (on: Harness, input?: object) =>
    on.engine.resume(alice, { taskId: id, ...(input === undefined ? {} : { input }) } as never)
  await expect(resume(harness, { approved: 'yes' })).rejects.toMatchObject(wrong)
  await expect(resume(harness)).rejects.toMatchObject({ details: { path: 'input' } })
  const next = await harness.recover()
  await expect(resume(next, {})).rejects.toMatchObject(wrong)
  expect((await next.get(id)).state).toBe('paused-by-agent')
  await resume(next, { approved: true })
  await next.until(id, ({ suspension }) => suspension?.reason === 'thanks')
})

it('answers a resume that is repeated with its key, whatever the next stop wants', async () => {
  const { harness, id, handle } = await parked()
  const request = {
    taskId: id,
    handle,
    input: { approved: true },
    metadata: { idempotencyKey: 'once' },
  }
  const first = await harness.engine.resume(alice, request)
  await harness.until(id, ({ suspension }) => suspension?.reason === 'thanks')
  expect(await harness.engine.resume(alice, request)).toEqual(first)
})

it('refuses the handle of another stop as such, before it looks at the input', async () => {
  const { harness, id } = await parked()
  await expect(
    harness.engine.resume(alice, { taskId: id, handle: 'suspend-other', input: 'x' }),
  ).rejects.toMatchObject({ code: 'RESUME_HANDLE_MISMATCH' })
})

it('is no condition for an event', async () => {
  const { harness, id } = await parked()
  await harness.emit('go')
  await harness.until(id, ({ suspension }) => suspension?.reason === 'thanks')
})

it('is refused when it is no schema', async () => {
  const agent = running((task) => task.park({ reason: 'x', input: {} as never }).then(() => 'x'))
  const harness = await createHarness({ agents: [agent] })
  const { failure } = await harness.ended((await harness.send('go')).id)
  expect(failure).toMatchObject({ code: 'INVALID_INPUT' })
})
