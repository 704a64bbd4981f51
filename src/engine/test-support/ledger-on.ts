/** A ledger on a store, and commands to give it. For tests only. */
import type { Command } from '../../core/commands.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { createLedger, type Ledger, type LedgerLimits } from '../ledger/ledger.ts'
import { createTaskPlaces } from '../ledger/task-places.ts'

export function ledgerOn(
  store: Store,
  cachedTasks = 100,
  published: (task: Task, records: readonly LogRecord[]) => void = () => undefined,
  log: Log = () => undefined,
  limits: LedgerLimits = {
    cachedTasks,
    cachedBytes: 1e9,
    waitingCommands: 10_000,
    waitingBytes: 1e9,
  },
): Ledger {
  return createLedger({
    store,
    places: createTaskPlaces(store),
    clock: createManualClock(),
    signer: testSigner,
    log,
    published,
    foundUnreadable: () => undefined,
    learned: published,
    limits,
    holdsForNew: () => [],
  })
}

export const submit = (taskId: string) => (): Command => ({
  type: 'submit',
  submission: {
    taskId,
    tenant: 'acme',
    principal: 'alice',
    agent: 'worker',
    contextId: 'c',
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] },
    eventsAfter: 0,
  },
  run: { token: 'token', worker: 'worker' },
  holds: [],
})
export const cancel: Command = { type: 'cancel', actor: { kind: 'client', id: 'alice' } }
export const message = (messageId: string): Command => ({
  type: 'message',
  actor: { kind: 'client', id: 'ann' },
  message: { messageId, role: 'ROLE_USER', parts: [{ text: messageId }] },
})

export const complete: Command = { type: 'complete', run: 'token' }
