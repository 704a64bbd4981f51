/**
 * A copy of a log without content: inputs and events of resumes, parts of messages and artifacts,
 * results of steps, and transcripts are replaced by their hashes. Receipts still verify, because
 * they contain only hashes. A short text can be guessed from its hash. Reasons, summaries,
 * reminders and names are not redacted.
 */
import { canonical } from './receipts/canonical-json.ts'
import { sha256 } from './receipts/sha256.ts'
import type { LogRecord, RecordType } from './records.ts'

const REDACTED = 'lull:redacted'

/**
 * The fields of each record type that are redacted as a whole. Parts of messages and artifacts are
 * found anywhere in a record, so a record type whose only content is parts lists no field.
 */
const contents: { readonly [T in RecordType]: readonly (keyof Of<T>)[] } = {
  submitted: ['input', 'metadata'],
  delegated: ['input'],
  resumed: ['input', 'event'],
  'pause-withdrawn': ['input'],
  deferred: ['deferred'],
  step: ['result'],
  value: ['value'],
  'child-called': ['result'],
  'turn-ended': ['transcript'],
  compacted: ['transcript'],
  continued: ['state', 'transcript'],

  started: [],
  released: [],
  message: [],
  said: [],
  artifact: [],
  usage: [],
  attempt: [],
  abandoned: [],
  'not-awaited': [],
  skipped: [],
  'child-ended': [],
  'turn-started': ['digest'],
  voided: [],
  asked: [],
  'asked-again': [],
  answered: [],
  'pause-requested': [],
  'pause-upgraded': [],
  'pause-kept': [],
  paused: [],
  parked: [],
  held: [],
  lifted: [],
  'reminders-shown': [],
  'reminder-injected': [],
  'reminder-deduped': [],
  'reminder-expired': [],
  completed: [],
  failed: [],
  rejected: [],
  canceled: [],
  receipt: [],
  imported: [],
  forked: [],
}

type Of<T extends RecordType> = LogRecord & { readonly type: T }

export function redact(log: readonly LogRecord[]): readonly LogRecord[] {
  const marker = (value: unknown) => ({ [REDACTED]: hashIn(value) ?? sha256(canonical(value)) })
  const withoutParts = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withoutParts)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([name, member]) => [
      name,
      name === 'parts' && Array.isArray(member) ? member.map(marker) : withoutParts(member),
    ])
    return Object.fromEntries(members)
  }
  return log.map((record) => {
    if (record.type === 'receipt') return record
    const whole: readonly string[] = contents[record.type]
    const members = Object.entries(record).map(([name, member]) => [
      name,
      whole.includes(name) && member != null ? marker(member) : withoutParts(member),
    ])
    return Object.fromEntries(members) as LogRecord
  })
}

/** The hash that stands for a redacted value; undefined when the value was not redacted. */
export function hashIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1)
    return undefined
  const hash: unknown = (value as Record<string, unknown>)[REDACTED]
  return typeof hash === 'string' ? hash : undefined
}
