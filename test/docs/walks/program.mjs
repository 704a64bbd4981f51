/** The program whose requests are traced. `serve`, `acp`, or `cluster`: two engines on one store. */
import { once } from 'node:events'
import { agent, openEngine, serve } from 'lull'
import { serveStdio } from '../../../dist/server/acp/serve-stdio.js'
import { createMemoryCluster } from '../../../dist/stores/memory/memory-cluster.js'

const [, , mode, data] = process.argv

/** Resolves when the parent has sent the word. */
async function told(word) {
  for (;;) {
    const [message] = await once(process, 'message')
    if (message === word) return
  }
}

const worker = agent({
  name: 'worker',
  description: 'Does what the walks of docs/architecture.md need',
  pause: true,
  async run(task) {
    if (task.text === 'park') {
      const timeout = { durationMinutes: 0.005, onTimeout: 'resume_with_summary' }
      await task.park({ reason: 'waiting', timeout })
    } else if (task.text === 'build') {
      await task.park({ reason: 'waiting for the build', onEvent: 'build.done:1234' })
    } else if (task.text === 'step') {
      const before = told('begin the step')
      process.send({ said: 'before the step' })
      await before
      await task.step('work', () => 'worked')
      process.send({ said: 'after the step' })
      await told('end')
    } else {
      await task.step('work', ({ signal }) => work(task.text, signal))
    }
    process.send({ said: 'done' })
    return 'done'
  },
})

function work(text, signal) {
  if (text !== 'slow') return 'worked'
  process.send({ said: 'works' })
  return once(signal, 'abort').then(() => 'interrupted')
}

const agents = [worker]
const quiet = () => undefined

if (mode === 'serve') {
  const begin = told('serve')
  process.send({ said: 'loaded' })
  await begin
  const { url } = await serve({ agents, data, port: 0, quiet: true, log: quiet })
  process.send({ said: 'serves', url })
} else if (mode === 'acp') {
  const { stdin: input, stdout: output } = process
  await serveStdio({ agents, data, input, output })
} else {
  const caller = { principal: 'ann', tenant: 'default' }
  const cluster = createMemoryCluster(Date.now)
  const open = () => openEngine({ agents, data, store: cluster.connect(), log: quiet })
  const [first, second] = [await open(), await open()]
  const message = { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'build' }] }
  await first.engine.send(caller, { message })
  const begin = told('emit')
  process.send({ said: 'serves' })
  await begin
  const event = { specversion: '1.0', id: '1', source: '/ci', type: 'build.done', subject: '1234' }
  await second.engine.emit(caller, [event])
}
