/**
 * A copy of a log without what callers gave when they resumed the task. Its receipts still verify, because they have only the
 * hashes. A short input can be guessed from its hash.
 */
import { canonical } from './canonical-json.ts'
import type { Signer } from './receipt.ts'
import type { LogRecord } from './records.ts'

const REDACTED = 'lull:redacted'

/** Replaces inputs and events of resumes by their hashes. */
export function redact(
  log: readonly LogRecord[],
  { hash }: Pick<Signer, 'hash'>,
): readonly LogRecord[] {
  const marker = (value: unknown) => ({ [REDACTED]: hashIn(value) ?? hash(canonical(value)) })
  return log.map((record) => {
    if (record.type !== 'resumed') return record
    const { event } = record
    return {
      ...record,
      input: record.input === null ? null : marker(record.input),
      ...(event === undefined ? {} : { event: marker(event) }),
    } as LogRecord
  })
}

/** The hash of what was redacted; undefined when nothing was. */
export function hashIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1)
    return undefined
  const hash: unknown = (value as Record<string, unknown>)[REDACTED]
  return typeof hash === 'string' ? hash : undefined
}
