/** The logs, read when no process is left, against each other, the table of states and everything the clients were told. */
import { isDeepStrictEqual } from 'node:util'
import { fold } from '../../../src/core/evolve.ts'
import { verifyReceipts } from '../../../src/core/receipts/check-receipts.ts'
import type { LogRecord, RecordType } from '../../../src/core/records.ts'
import { isPaused, isTerminal } from '../../../src/core/states.ts'
import { contractMoves } from '../../../src/core/test-support/contract-moves.ts'
import type { Store } from '../../../src/ports/store.ts'
import { createSigner, receiptKey } from '../../../src/server/system/signer.ts'
import { createSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { keyIn } from '../../../src/testing/key-in.ts'
import { nameOf } from './requests.ts'
import type { Aftermath, Attempt } from './storm.ts'
import { type Timeline, timelineOf, withAcknowledgements } from './timeline.ts'
import { acknowledgedBy, lieOf } from './truths.ts'

export interface Verdict {
  /** Everything that is wrong, in sentences. */
  readonly faults: readonly string[]
  /** How often each record occurs: a storm in which nothing happened proves nothing. */
  readonly records: ReadonlyMap<RecordType, number>
}

/** What a run writes: none of it may be written while its task stands still. */
const work: ReadonlySet<RecordType> = new Set([
  'started',
  'step',
  'attempt',
  'said',
  'turn-started',
  'turn-ended',
  'asked',
  'parked',
  'completed',
])

export async function judge({ data, taskIds, attempts, shown }: Aftermath): Promise<Verdict> {
  const store = await createSqliteStore({ path: data, waitForLockMs: 5_000 })
  const signer = createSigner(await receiptKey({ data }, undefined))
  const faults: string[] = []
  const records = new Map<RecordType, number>()
  const byTask = grouped(attempts)
  try {
    for (const taskId of taskIds) {
      const log = await store.records(...(await keyIn(store, taskId)), 0, 100_000)
      for (const { type } of log) records.set(type, (records.get(type) ?? 0) + 1)
      const timeline = timelineOf(log)
      const found = [
        ...faultsOfLog(log, timeline),
        ...verifyReceipts(log, signer).map(({ seq, problem }) => `record ${seq}: ${problem}`),
        ...(await faultsOfStore(store, taskId, log)),
        ...faultsOfShown(timeline, shown.get(taskId)),
        ...faultsOfAnswers(timeline, byTask.get(taskId) ?? []),
      ]
      faults.push(...found.map((fault) => `task ${taskId} ${fault}`))
    }
    faults.push(...(await faultsOfEvents(store, attempts)))
    return { faults, records }
  } finally {
    await store.close()
  }
}

function grouped(attempts: readonly Attempt[]): ReadonlyMap<string, readonly Attempt[]> {
  const byTask = new Map<string, Attempt[]>()
  for (const attempt of attempts) {
    const known = byTask.get(attempt.taskId)
    if (known === undefined) byTask.set(attempt.taskId, [attempt])
    else known.push(attempt)
  }
  return byTask
}

function faultsOfLog(log: readonly LogRecord[], timeline: Timeline): readonly string[] {
  const faults = timeline.flatMap(({ task, record }, index) => {
    const before = timeline[index - 1]?.task.state
    if (before === undefined) return task.state === 'submitted' ? [] : [`began as ${task.state}`]
    if (task.state === before) {
      return isPaused(before) && work.has(record.type) ? [`did ${record.type} while ${before}`] : []
    }
    return contractMoves[before].includes(task.state)
      ? []
      : [`went from ${before} to ${task.state}`]
  })
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1)
  if (gap >= 0) faults.push(`has a gap at record ${gap + 1}`)
  const keys = log.flatMap((one) => ('key' in one && one.type !== 'attempt' ? [`${one.key}`] : []))
  if (new Set(keys).size < keys.length) faults.push('did one thing twice')
  return faults
}

async function faultsOfStore(
  store: Store,
  taskId: string,
  log: readonly LogRecord[],
): Promise<readonly string[]> {
  const stored = await store.load(...(await keyIn(store, taskId)))
  const kept = plain(stored && fold(stored.records, stored.snapshot))
  const logged = plain(fold(log))
  const names = Object.keys({ ...kept, ...logged })
  return names
    .filter((name) => !isDeepStrictEqual(kept[name], logged[name]))
    .map((name) => `is stored with another ${name} than it was logged with`)
}

function plain(task: unknown): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(task ?? {}))
}

function faultsOfShown(timeline: Timeline, shown: string | undefined): readonly string[] {
  const state = timeline.at(-1)?.task.state ?? 'submitted'
  if (!isTerminal(state)) return [`did not end, it is ${state}`]
  return shown === `TASK_STATE_${state.toUpperCase()}` ? [] : [`is ${state}, and shown as ${shown}`]
}

function faultsOfAnswers(timeline: Timeline, attempts: readonly Attempt[]): readonly string[] {
  const told = attempts.flatMap((attempt) => acknowledgedBy(attempt, timeline) ?? [])
  const visible = withAcknowledgements(timeline, told)
  const lies = attempts.flatMap((attempt) => {
    const lie = lieOf(attempt, visible)
    return lie === undefined ? [] : [`${lie}, said the answer to ${described(attempt)}`]
  })
  const twice = attempts.filter((attempt) => {
    const times = timesDone(timeline, nameOf(attempt.call))
    // A pause bears no key: asked again after somebody else resumed the task, it is another pause.
    return times > (attempt.call.kind === 'pause' ? timesAsked(attempts, attempt) : 1)
  })
  return [...lies, ...twice.map((attempt) => `was changed too often by ${described(attempt)}`)]
}

function timesAsked(attempts: readonly Attempt[], { call }: Attempt): number {
  return attempts.filter((one) => one.call.n === call.n).length
}

function described({ call, answer }: Attempt): string {
  return `${JSON.stringify(call)}: ${JSON.stringify(answer?.body ?? null).slice(0, 600)}`
}

/** How often something bears the name of the call, by which it was asked for. */
function timesDone(timeline: Timeline, name: string): number {
  return timeline.filter(({ record }) => {
    if (record.type === 'pause-requested') return record.suspension.reason === name
    if (record.type === 'message' || record.type === 'answered') {
      return record.message.messageId === name
    }
    // What was put off is done when it is `answered`.
    if (record.type === 'deferred') return false
    return 'idempotencyKey' in record && record.idempotencyKey === name
  }).length
}

/** What was acknowledged is kept, once, however often it was sent. */
async function faultsOfEvents(
  store: Store,
  attempts: readonly Attempt[],
): Promise<readonly string[]> {
  const kept = new Map<string, number>()
  for (const tenant of await store.tenants('', 1_000)) {
    let after = 0
    for (;;) {
      const page = await store.events(tenant, after, 1_000)
      for (const { event } of page) kept.set(event.id, (kept.get(event.id) ?? 0) + 1)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.pos
    }
  }
  return attempts.flatMap(({ call, answer }) => {
    if (call.kind !== 'event') return []
    const times = kept.get(nameOf(call)) ?? 0
    if (times > 1) return [`event ${nameOf(call)} is kept ${times} times`]
    if (answer === undefined) return []
    if (answer.status !== 202) return [`event ${nameOf(call)} was answered with ${answer.status}`]
    return times === 1 ? [] : [`event ${nameOf(call)} was acknowledged and is not kept`]
  })
}
