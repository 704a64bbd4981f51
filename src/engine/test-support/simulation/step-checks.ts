/** Checks each step when it begins: S3, S10, S12 and S14 of `checks.ts`. For tests only. */
import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { CheckDeps, Checks } from './checks.ts'

export type StepChecks = Pick<Checks, 'process' | 'held' | 'lifting' | 'failedOver'>

export function createStepChecks({ log, fail }: CheckDeps): StepChecks {
  /** Holds of everything that were answered. */
  const holds = new Set<string>()
  const lifted = new Set<string>()
  let hasFailedOver = false
  /** The worker ids of each process. */
  const workers = new Map<string, Set<string>>()

  /** The call acts at once, so the log is read as it is when the step begins. */
  async function checkStep(name: string, taskId: string, step: string): Promise<void> {
    const under = [...holds]
    const records = await log(taskId)
    const isRecorded = records.some((record) => record.type === 'step' && record.name === step)
    if (isRecorded) fail(`S12: ${name} began ${step} of ${taskId}, which is recorded`)
    const imported = importHoldIn(records)
    if (imported !== undefined) fail(`S14: ${step} of ${taskId} began under ${imported}`)
    const run = runnerIn(records)
    const own = ownersOf(name)
    if (run !== undefined && own.has(run)) return checkHolds(taskId, step, under, records)
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
    under: readonly string[],
    records: readonly LogRecord[],
  ): void {
    for (const holdId of under) {
      const isHeld = records.some((record) => record.type === 'held' && record.holdId === holdId)
      if (isHeld) fail(`S10: ${step} of ${taskId} began under ${holdId}`)
    }
  }

  function ownersOf(name: string): Set<string> {
    const ids = workers.get(name) ?? new Set<string>()
    workers.set(name, ids)
    return ids
  }

  let processes = 0
  return {
    process() {
      const name = `process ${++processes}`
      return (taskId, step) => {
        if (!hasFailedOver) checkStep(name, taskId, step).catch(() => undefined)
      }
    },
    held(holdId) {
      // Somebody who asks for a hold that is there already may be answered after it was lifted.
      if (!lifted.has(holdId)) holds.add(holdId)
    },
    failedOver() {
      hasFailedOver = true
    },
    lifting: (holdId) => {
      lifted.add(holdId)
      holds.delete(holdId)
    },
  }
}

/** The worker id of the last run. */
function runnerIn(records: readonly LogRecord[]): string | undefined {
  return records.reduce<string | undefined>(
    (worker, record) => ('run' in record ? (record.run?.worker ?? worker) : worker),
    undefined,
  )
}

/** The hold of its import, if the task is under it. */
function importHoldIn(records: readonly LogRecord[]): string | undefined {
  const imported = records.findLast((record) => record.type === 'imported')
  if (imported?.type !== 'imported' || imported.holdId === undefined) return undefined
  const { holdId } = imported
  return fold(records)?.holds.includes(holdId) ? holdId : undefined
}
