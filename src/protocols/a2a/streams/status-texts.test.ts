/** Clients take every status text for output of the agent. */
import { expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { signal } from '../../../engine/test-support/engine-harness.ts'
import { all, take } from '../test-support/frames.ts'
import { anyone, openTestServer, textMessage } from '../test-support/test-server.ts'

it('shows every text once, and none but the agent’s: not the reason of whoever paused it', async () => {
  for (const [version, method] of [
    ['1.0', 'SendStreamingMessage'],
    ['0.3', 'message/stream'],
  ] as const) {
    const [begun, gate] = [signal(), signal()]
    const speaker = agent({
      name: 'speaker',
      description: 'd',
      async run(task) {
        await task.say('begin')
        await task.step('long', async () => {
          begun.fire()
          await gate.promise
        })
        await task.park({ reason: 'ci' })
        return 'fin'
      },
    })
    const testServer = await openTestServer({ agents: [speaker] })
    const stream = await testServer.stream(version, method, { message: textMessage(version, 'go') })
    const [first] = await take(stream, 1)
    const taskId = first?.data.result.task?.id ?? first?.data.result.id
    await begun.promise
    await testServer.ok(version, 'tasks/pause', { taskId, reason: 'operator review', graceMs: 0 })
    gate.fire()
    for (const state of ['paused-by-client', 'paused-by-agent']) {
      await testServer.engine.waitFor(anyone, taskId, (task) => task.state === state)
      await testServer.ok(version, 'tasks/resume', { taskId })
    }
    const texts = (await all(stream)).flatMap(({ data: { result } }) => {
      const { status } = result.statusUpdate ?? result.task ?? result
      return status?.message?.parts.map((part: { text: string }) => part.text) ?? []
    })
    expect(texts).toEqual(['begin', 'ci', 'fin'])
  }
})
