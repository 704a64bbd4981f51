/** DBOS on PostgreSQL: a workflow that waits for a message and goes on, and one of two steps. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { startPostgres } from '../harness/postgres.mjs'
import { spread } from '../harness/statistics.mjs'
import { serveSubject } from '../harness/subject.mjs'
import { elapsed } from '../harness/turns.mjs'

/** @param url a database, or none for a server of its own in `path` */
await serveSubject(async ({ path, url }) => {
  const postgres = url === undefined ? await startPostgres(path) : undefined

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
  const twoSteps = DBOS.registerWorkflow(
    async () => {
      const found = await step('search', () => ({ offers: 3, best: 'AY 1331', price: 99.5 }))
      await step('book', () => ({ booked: found.best, seat: '11A' }))
      return 'booked'
    },
    { name: 'twoSteps' },
  )
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url ?? postgres.url,
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

  /** Two-step workflows for so long, so many at once, each awaited to its end. */
  async function tasks({ width, ms }) {
    const times = []
    const started = performance.now()
    const worker = async () => {
      while (elapsed(started) < ms) {
        const before = performance.now()
        await (await DBOS.startWorkflow(twoSteps)()).getResult()
        times.push(elapsed(before))
      }
    }
    await Promise.all(Array.from({ length: width }, worker))
    return { rate: (times.length * 1_000) / elapsed(started), ...spread(times) }
  }

  async function close() {
    await DBOS.shutdown()
    await postgres?.close()
  }
  return { handlers: { wakes, tasks, close } }
})
