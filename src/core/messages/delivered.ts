import type { LogRecord, RecordType } from '../records.ts'
import type { Message } from './message.ts'

/** A message that was delivered to an existing task. */
export interface Delivered {
  /** The message itself. Absent if the record has only its idempotency key. */
  readonly message?: Message
  /** The idempotency key that the sender chose. */
  readonly idempotencyKey?: string | undefined
}

type Of<T extends RecordType> = LogRecord & { readonly type: T }

const nothing = () => undefined

const deliveries: { readonly [T in RecordType]: (record: Of<T>) => Delivered | undefined } = {
  message: (record) => record,
  answered: (record) => record,
  'asked-again': ({ answer: message, idempotencyKey }) => ({ message, idempotencyKey }),
  deferred: ({ deferred, idempotencyKey }) =>
    deferred.kind === 'answer' ? { message: deferred.message, idempotencyKey } : { idempotencyKey },

  submitted: nothing,
  delegated: nothing,
  started: nothing,
  released: nothing,
  said: nothing,
  artifact: nothing,
  usage: nothing,
  step: nothing,
  value: nothing,
  attempt: nothing,
  'child-called': nothing,
  abandoned: nothing,
  'not-awaited': nothing,
  skipped: nothing,
  'child-ended': nothing,
  'turn-started': nothing,
  'turn-ended': nothing,
  compacted: nothing,
  continued: nothing,
  voided: nothing,
  asked: nothing,
  'pause-requested': nothing,
  'pause-upgraded': nothing,
  'pause-kept': nothing,
  'pause-withdrawn': nothing,
  paused: nothing,
  parked: nothing,
  resumed: nothing,
  held: nothing,
  lifted: nothing,
  'reminders-shown': nothing,
  'reminder-injected': nothing,
  'reminder-deduped': nothing,
  'reminder-expired': nothing,
  completed: nothing,
  failed: nothing,
  rejected: nothing,
  canceled: nothing,
  receipt: nothing,
  imported: nothing,
  forked: nothing,
}

export function deliveredBy(record: LogRecord): Delivered | undefined {
  const read = deliveries[record.type] as (record: LogRecord) => Delivered | undefined
  return read(record)
}
