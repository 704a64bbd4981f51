import type { JournalRecord } from '../../core/records.ts'
import type { Committed } from '../ledger/ledger.ts'
import type { During, Scope } from './gate.ts'
import type { RunCore } from './run-core.ts'

/** A record that is handed in to be written. */
export interface RecordInWriting<R extends JournalRecord> {
  readonly record: R
  readonly written: Promise<Committed>
}

/**
 * Hands in a record as an operation of its own.
 * @param before records that come before it in the same commit
 */
export function gatedRecord<R extends JournalRecord>(
  core: RunCore,
  scope: Scope,
  make: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<RecordInWriting<R>> {
  return recordedDuring(core, (work) => core.gate.during(scope, work), make, before)
}

/**
 * Executes work as an operation and hands in the record of its result. The record is queued before the gate is left and
 * awaited afterwards, so that a pause that waits for the operation shares its commit.
 * @param before records that come before it in the same commit
 */
export function recordedDuring<R extends JournalRecord>(
  core: RunCore,
  during: During,
  work: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<RecordInWriting<R>> {
  return during(async () => {
    const record = await work()
    return { record, written: core.record(record, before?.()) }
  })
}

/** The number of the record in its commit. */
export function seqOf({ key }: JournalRecord, { records }: Committed): number {
  return records.find((one) => 'key' in one && one.key === key)?.seq ?? 0
}
