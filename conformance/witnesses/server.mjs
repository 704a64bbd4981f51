/**
 * The server that witnesses are run against. Prints its address. Needs a build (`npm run build`). Ctrl-C stops it.
 *   node server.mjs [witness | script | open]
 * witness: does what the text of a message says. script: the conventions of the official kit for 1.0. open: asks for
 * input after every message, because the kit for 0.3 needs tasks that have not ended.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { agent, serve } from '../../dist/index.js'
import { scriptAgent } from '../../dist/testing/index.js'

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

const open = agent({
  name: 'open',
  description: 'Asks for more after every message',
  async run(task) {
    for (;;) await task.ask('And then?')
  },
})

const served = { witness, script: scriptAgent, open }[process.argv[2] ?? 'witness']
const data = await mkdtemp(join(tmpdir(), 'lull-witness-'))
const { url } = await serve({
  agents: [served],
  port: 0,
  data,
  quiet: true,
  log: () => undefined,
  // The kit's webhooks listen on this machine.
  a2a: { pushToPrivate: true },
})
process.stdout.write(`${url}\n`)
