import type { JournalRecord } from '../../core/records.ts'
import type { During, Scope } from './gate.ts'
import type { RunCore } from './run-core.ts'

/**
 * Writes a record as an operation of its own.
 * @param before records that come before it in the same commit
 */
export async function gatedRecord<R extends JournalRecord>(
  core: RunCore,
  scope: Scope,
  make: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<{ readonly seq: number; readonly record: R }> {
  return recordedDuring(core, (work) => core.gate.during(scope, work), make, before)
}

/**
 * Executes work as an operation and records its result. The record is queued before the gate is left and awaited
 * afterwards, so that a pause that waits for the operation shares its commit.
 * @param before records that come before it in the same commit
 */
export async function recordedDuring<R extends JournalRecord>(
  core: RunCore,
  during: During,
  work: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<{ readonly seq: number; readonly record: R }> {
  const { record, written } = await during(async () => {
    const made = await work()
    return { record: made, written: core.record(made, before?.()) }
  })
  const { records } = await written
  const mine = records.find((one) => 'key' in one && one.key === record.key)
  return { seq: mine?.seq ?? 0, record }
}
