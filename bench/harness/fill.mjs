/**
 * Fills a store with tasks. Their logs are made by `decide` and `evolve`, receipts included, exactly as the engine would
 * have written them, and go in through the store's port in large batches: a million in two or three minutes.
 */
import { caller, load, openStore, system } from './lull.mjs'

const BATCH = 2_000
const WORKER = 'worker-gone'

/** @param life a task's number -> the commands of its life after it was submitted and started */
export async function fill({ path, count, life, at, progress = () => undefined }) {
  const store = await openStore(path, 'relaxed')
  const { ids } = await system()
  const commitOf = await createBuilder({ life, at, ids })
  for (let done = 0; done < count; ) {
    const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, i) =>
      commitOf(done + i),
    )
    const results = await store.commit(batch)
    const failed = results.find(({ status }) => status !== 'written')
    if (failed !== undefined) throw new Error(`a task was not written: ${failed.status}`)
    done += batch.length
    progress(done)
  }
  await store.close()
}

/** A task's number -> the one commit that holds its whole life so far. */
export async function createBuilder({ life, at, ids }) {
  const { decide } = await load('core/decide.js')
  const { evolve } = await load('core/evolve.js')
  const { createReceipts } = await load('core/receipts/receipts.js')
  const { makeAnchor } = await load('core/receipts/receipt-anchor.js')
  const { contextBegunBy } = await load('engine/requests/context-id.js')
  const { rowOf } = await load('engine/ledger/row.js')
  const { signer } = await system()
  const receiptFor = createReceipts(signer)

  function apply(log, command) {
    const { refusal, records = [] } = decide(log.task, command, at)
    if (refusal !== undefined) throw new Error(`${command.type} was refused: ${refusal.code}`)
    const append = (body) => {
      const record = { ...body, seq: (log.task?.version ?? 0) + 1, at }
      log.task = evolve(log.task, record)
      log.records.push(record)
    }
    for (const body of records) {
      append(body)
      const receipt = receiptFor(log.task, body, at)
      if (receipt !== undefined) append(receipt)
    }
  }

  return (number) => {
    const taskId = ids.uuid()
    const contextId = contextBegunBy(taskId)
    const token = ids.uuid()
    const log = { task: undefined, records: [] }
    for (const command of [
      submission(number, { taskId, contextId, token }, life.agent, ids),
      ...life.commands(number, { token, ids }),
    ]) {
      apply(log, command)
    }
    const { task, records } = log
    const snapshot = life.ended ? { snapshot: task } : {}
    const anchor = task.receipts.count === 0 ? {} : { anchor: makeAnchor(task, signer) }
    const { tenant } = task
    return { tenant, taskId, expected: 0, records, row: rowOf(task), ...snapshot, ...anchor }
  }
}

function submission(number, { taskId, contextId, token }, agent, ids) {
  const parts = [{ text: String(number) }]
  const message = { messageId: ids.uuid(), role: 'ROLE_USER', parts, taskId, contextId }
  const born = { taskId, ...caller, agent, contextId, message, eventsAfter: 0 }
  return { type: 'submit', submission: born, run: { token, worker: WORKER }, holds: [] }
}
