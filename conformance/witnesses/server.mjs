/**
 * The server that witnesses are run against: one agent that does what the text of a message says. Prints its address.
 * Needs a build (`npm run build`). Ctrl-C stops it.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { agent, serve } from '../../dist/index.js'

const acts = {
  async pause(task) {
    await task.step('long', () => wait(1_500))
  },
  async park(task) {
    await task.park({ reason: 'waiting' })
  },
  async consent(task) {
    await task.requireConsent({ prompt: 'Sure?', operation: { book: 'flight' } })
  },
  async remind(task) {
    await task.park({ reason: 'waiting' })
    await task.turn(async ({ reminders }) => reminders.length)
  },
  async fin() {},
}

const witness = agent({
  name: 'witness',
  description: 'Does what it is told: fin, pause, park, consent, remind',
  async run(task) {
    await task.say('begin')
    await acts[task.text]?.(task)
    return 'fin'
  },
})

const data = await mkdtemp(join(tmpdir(), 'lull-witness-'))
const { url } = await serve({ agents: [witness], port: 0, data, quiet: true, log: () => undefined })
process.stdout.write(`${url}\n`)
