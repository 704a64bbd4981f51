/**
 * What must hold in every simulated history. For tests only.
 *
 *  S1  the numbers of a log are dense, and no record changes once it was read;
 *  S2  an acknowledged command is in the log, once;
 *  S3  no process starts a step of a task that another process has taken over;
 *  S4  the row of a task is what its log says;
 *  S5  the result of a step is recorded once per key;
 *  S6  an event wakes a task at most once;
 *  S7  a reader gets every record once, in order;
 *  S8  without faults, every task that is woken ends;
 *  S9  a key means one task;
 *  S10 after a hold of everything was answered, no process that heard of it begins work.
 */

import { isLullError } from '../../../core/errors.ts'
import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import { rowOf } from '../../row.ts'
import type { ClusterHarness } from '../cluster-harness.ts'
import { alice, type Harness } from '../engine-harness.ts'
import type { StepBegins } from './scripted-agent.ts'

export interface Checks {
  process(): { readonly step: StepBegins; joined(process: Harness): void }
  /** A call that may be refused. Any other error fails the history. */
  track(call: Promise<unknown>): void
  sent(taskId: string, key: string | undefined): void
  paused(taskId: string, handle: string): void
  resumed(taskId: string, handle: string): void
  followedUp(taskId: string, messageId: string): void
  held(holdId: string, holdNew: boolean): void
  lifting(holdId: string): void
  /** The process was stopped: it hears of nothing for a while. */
  stood(process: Harness): void
  /** Follows the task from its first record. */
  read(process: Harness, taskId: string): void
  logs(taskIds: Iterable<string>): Promise<void>
  end(taskIds: Iterable<string>): Promise<void>
}

/** @param hearMs within this time a process hears of a change, also when reports are lost */
export function createChecks(cluster: ClusterHarness, hearMs: number): Checks {
  const { store, clock } = cluster
  const seen = new Map<string, readonly string[]>()
  const problems: string[] = []
  const keys = new Map<string, string>()
  const handles: { readonly type: string; readonly taskId: string; readonly handle: string }[] = []
  const followUps: { readonly taskId: string; readonly messageId: string }[] = []
  const readers: { readonly taskId: string; readonly seqs: number[] }[] = []
  /** Holds of everything, each with the instant of its answer. */
  const holds = new Map<string, number>()
  const lifted = new Set<string>()
  const workers = new Map<string, Set<string>>()
  let processes = 0

  const fail = (problem: string): void => {
    problems.push(problem)
  }
  const log = (taskId: string): Promise<readonly LogRecord[]> => store.records(taskId, 0, 10_000)

  /** The call acts at once, so the log is read as it is when the step begins. */
  async function checkStep(name: string, taskId: string, step: string): Promise<void> {
    const begunAt = clock.now()
    const records = await log(taskId)
    const run = records.reduce<string | undefined>(
      (worker, record) => ('run' in record ? (record.run?.worker ?? worker) : worker),
      undefined,
    )
    const own = ownersOf(name)
    if (run !== undefined && own.has(run)) return checkHolds(taskId, step, begunAt, records)
    for (const [other, ids] of workers) {
      if (other !== name && run !== undefined && ids.has(run)) {
        fail(`S3: ${name} began ${step} of ${taskId}, which ${other} runs`)
      }
    }
    own.add(run ?? '')
  }

  function checkHolds(
    taskId: string,
    step: string,
    begunAt: number,
    records: readonly LogRecord[],
  ): void {
    for (const [holdId, at] of holds) {
      const isHeld = records.some((record) => record.type === 'held' && record.holdId === holdId)
      if (isHeld && begunAt > at + hearMs) fail(`S10: ${step} of ${taskId} began under ${holdId}`)
    }
  }

  function ownersOf(name: string): Set<string> {
    const ids = workers.get(name) ?? new Set<string>()
    workers.set(name, ids)
    return ids
  }

  async function checkLog(taskId: string): Promise<readonly LogRecord[]> {
    const records = await log(taskId)
    const texts = records.map((record) => JSON.stringify(record))
    for (const [index, { seq }] of records.entries()) {
      if (seq !== index + 1) fail(`S1: ${taskId} has record ${seq} at place ${index + 1}`)
    }
    for (const [index, text] of (seen.get(taskId) ?? []).entries()) {
      if (texts[index] !== text) fail(`S1: record ${index + 1} of ${taskId} changed`)
    }
    seen.set(taskId, texts)
    const steps = records.flatMap((record) => (record.type === 'step' ? [record.key] : []))
    if (new Set(steps).size < steps.length) fail(`S5: ${taskId} recorded a step twice: ${steps}`)
    const events = records.flatMap((record) =>
      record.type === 'resumed' && record.event !== undefined && 'id' in record.event
        ? [record.event.id]
        : [],
    )
    if (new Set(events).size < events.length) fail(`S6: ${taskId} was woken twice by one event`)
    return records
  }

  async function checkRow(taskId: string, records: readonly LogRecord[]): Promise<void> {
    const task = fold(records)
    const row = JSON.stringify(await store.row(taskId))
    if (task !== undefined && row !== JSON.stringify(rowOf(task))) {
      fail(`S4: the row of ${taskId} is ${row}`)
    }
  }

  function raise(): void {
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  async function logs(taskIds: Iterable<string>): Promise<void> {
    for (const taskId of taskIds) await checkRow(taskId, await checkLog(taskId))
    raise()
  }

  return {
    process() {
      const name = `process ${++processes}`
      return {
        step: (taskId, step) => {
          checkStep(name, taskId, step).catch(() => undefined)
        },
        joined: () => undefined,
      }
    },
    track(call) {
      call.catch((error: unknown) => {
        if (!isLullError(error)) fail(`a call failed: ${String(error)}`)
      })
    },
    sent(taskId, key) {
      if (key === undefined) return
      const known = keys.get(key) ?? taskId
      keys.set(key, known)
      if (known !== taskId) fail(`S9: ${key} means ${known} and ${taskId}`)
    },
    paused: (taskId, handle) => {
      handles.push({ type: 'pause-requested', taskId, handle })
    },
    resumed: (taskId, handle) => {
      handles.push({ type: 'resumed', taskId, handle })
    },
    followedUp: (taskId, messageId) => {
      followUps.push({ taskId, messageId })
    },
    held(holdId) {
      // Somebody who asks for a hold that is there already may be answered after it was lifted.
      if (!lifted.has(holdId)) holds.set(holdId, clock.now())
    },
    lifting: (holdId) => {
      lifted.add(holdId)
      holds.delete(holdId)
    },
    stood: () => {
      holds.clear()
    },
    read(process, taskId) {
      const reader = { taskId, seqs: [] as number[] }
      readers.push(reader)
      const reading = async (): Promise<void> => {
        for await (const { seq } of await process.engine.subscribe(alice, taskId)) {
          reader.seqs.push(seq)
        }
      }
      reading().catch(() => undefined)
    },
    logs,
    async end(taskIds) {
      await logs(taskIds)
      for (const { type, taskId, handle } of handles) {
        const found = (await log(taskId)).filter(
          (record) => record.type === type && JSON.stringify(record).includes(`"${handle}"`),
        )
        const isThere = type === 'resumed' ? found.length === 1 : found.length > 0
        if (!isThere) fail(`S2: ${type} ${handle} of ${taskId} is there ${found.length} times`)
      }
      for (const { taskId, messageId } of followUps) {
        const told = (await log(taskId)).filter((record) =>
          JSON.stringify(record).includes(`"${messageId}"`),
        )
        if (told.length !== 1) fail(`S2: message ${messageId} is there ${told.length} times`)
      }
      for (const { taskId, seqs } of readers) {
        const isInOrder = seqs.every((seq, index) => seq === index + 1)
        if (!isInOrder) fail(`S7: a reader of ${taskId} got ${seqs.join(' ')}`)
      }
      raise()
    },
  }
}
