/** Counts and times what was written, for operators. Called once per write of this process. */
import type { LogRecord, RecordType } from '../../core/records.ts'
import type { Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Meter } from '../../ports/meter.ts'

type Measure<T extends RecordType> = (
  meter: Meter,
  record: LogRecord & { readonly type: T },
  task: Task,
  before: Task | undefined,
) => void

const ended: Measure<'completed' | 'failed' | 'rejected' | 'canceled'> = (meter, record, task) => {
  meter.add('lull_tasks_ended_total', 1, record.type)
  meter.observe('lull_task_seconds', record.at - task.createdAt)
}

const unmeasured = (): void => undefined

const measures: { readonly [T in RecordType]: Measure<T> } = {
  started(meter, { at }, { createdAt }, before) {
    if (before === undefined || before.state === 'submitted')
      meter.observe('lull_start_delay_seconds', at - createdAt)
  },
  parked: (meter) => meter.add('lull_stops_total', 1, 'park'),
  asked: (meter) => meter.add('lull_stops_total', 1, 'question'),
  'pause-requested': (meter, { suspension }) =>
    meter.add('lull_stops_total', 1, kindOf(suspension)),
  resumed(meter, { cause }, { wake }) {
    meter.add('lull_resumes_total', 1, cause)
    if (wake !== undefined) meter.observe('lull_paused_seconds', wake.pausedMs)
  },
  completed: ended,
  failed: ended,
  rejected: ended,
  canceled: ended,

  submitted: unmeasured,
  delegated: unmeasured,
  'pause-withdrawn': unmeasured,
  deferred: unmeasured,
  step: unmeasured,
  value: unmeasured,
  'child-called': unmeasured,
  abandoned: unmeasured,
  'not-awaited': unmeasured,
  'turn-ended': unmeasured,
  compacted: unmeasured,
  continued: unmeasured,
  released: unmeasured,
  message: unmeasured,
  said: unmeasured,
  artifact: unmeasured,
  usage: unmeasured,
  attempt: unmeasured,
  skipped: unmeasured,
  'child-ended': unmeasured,
  'turn-started': unmeasured,
  voided: unmeasured,
  'asked-again': unmeasured,
  answered: unmeasured,
  'pause-upgraded': unmeasured,
  'pause-kept': unmeasured,
  paused: unmeasured,
  held: unmeasured,
  lifted: unmeasured,
  'reminders-shown': unmeasured,
  'reminder-injected': unmeasured,
  'reminder-deduped': unmeasured,
  'reminder-expired': unmeasured,
  receipt: unmeasured,
  imported: unmeasured,
  forked: unmeasured,
}

export function measure(
  meter: Meter,
  task: Task,
  records: readonly LogRecord[],
  before: Task | undefined,
): void {
  for (const record of records) {
    const one = measures[record.type] as Measure<RecordType>
    one(meter, record, task, before)
  }
}

function kindOf({ actor, byHold, initiator }: Suspension): string {
  if (byHold) return 'hold'
  if (actor.kind === 'policy') return 'policy'
  return initiator === 'agent' ? 'park' : 'pause'
}
