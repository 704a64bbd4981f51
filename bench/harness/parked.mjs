/** Tasks that started a build and wait for it: for an event of their own name, and for a deadline. */
import { load } from './lull.mjs'

const agentName = 'sleeper'
const reason = 'waiting for the build'
const step = 'start the build'

const conditionsOf = (number, timeout) => ({ onEvent: `build.done:${number}`, timeout })

/** The life `fill` writes. `timeoutOf`: a task's number -> its `timeout` condition. */
export async function parkedLife(timeoutOf) {
  const { canonical } = await load('core/receipts/canonical-json.js')
  return {
    agent: agentName,
    commands(number, { token, ids }) {
      const conditions = conditionsOf(number, timeoutOf(number))
      const record = { type: 'step', key: `step:${step}#1`, name: step, attempt: 1 }
      return [
        {
          type: 'record',
          run: token,
          records: [{ ...record, result: { build: number }, topLevel: true }],
        },
        {
          type: 'park',
          run: token,
          key: 'park:#1',
          fingerprint: canonical(conditions),
          handle: `suspend-${ids.uuid()}`,
          reason,
          conditions,
          eventsNow: 0,
        },
      ]
    },
  }
}

/** The agent that fits these logs: it goes on from the park and ends. */
export async function sleeper({ woke = () => undefined, timeoutOf }) {
  const { agent } = await load('engine/author/agent.js')
  return agent({
    name: agentName,
    description: 'Starts a build and waits for it.',
    async run(task) {
      const number = Number(task.text)
      await task.step(step, () => ({ build: number }))
      const wake = await task.park({ reason, ...conditionsOf(number, timeoutOf(number)) })
      woke(number, wake)
    },
  })
}
