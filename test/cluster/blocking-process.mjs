/**
 * A process on the shared store, for `blocked.test.ts`. Its agents hold the event loop, or wait for a file. A message is a call
 * of the engine; the answer is its result.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, openEngine } from '../../dist/index.js'

const { LULL_EFFECTS: effects, LULL_RELEASE: release, LULL_POSTGRES: postgres } = process.env
const note = (line) => appendFileSync(effects, `${line} ${process.pid}\n`)

/** The message says for how many milliseconds. */
const blocking = agent({
  name: 'blocking',
  description: 'Holds the event loop.',
  async run(task) {
    await task.step('hold', () => {
      note('hold')
      const until = Date.now() + Number(task.text)
      while (Date.now() < until);
    })
    await task.step('after', () => note('after'))
    return 'done'
  },
})

const beside = agent({
  name: 'beside',
  description: 'Waits in a step.',
  async run(task) {
    await task.step('wait', async () => {
      note('wait')
      while (!existsSync(release)) await sleep(50)
    })
    return 'done'
  },
})

const caller = { tenant: 'acme', principal: 'alice' }
const { engine } = await openEngine({
  agents: [blocking, beside],
  postgres,
  receiptKey: 'the same in every process of the cluster',
  log: () => undefined,
  options: { leaseMs: 2_000, blockedAfterMs: Number(process.argv[2]) },
})

const calls = {
  async send({ agent: name, text }) {
    const message = { messageId: `m-${Math.random()}`, role: 'ROLE_USER', parts: [{ text }] }
    const { task } = await engine.send(caller, { agent: name, message })
    return task.id
  },
  get: ({ taskId }) => engine.get(caller, taskId),
  worker: () => engine.worker(),
}
process.on('message', async ({ id, name, params }) => {
  try {
    process.send({ id, result: (await calls[name](params)) ?? null })
  } catch (error) {
    process.send({ id, error: String(error) })
  }
})
process.send({ id: 0, result: 'ready' })
