/**
 * A task exported as one file: a header and the records of the log. The header has the number of
 * records and a digest of all of them, and is signed like a receipt, so anyone with the public key
 * can detect a changed, removed or added record.
 */

import type { LogRecord } from '../records.ts'
import { redact } from '../redact.ts'
import { canonical } from './canonical-json.ts'
import { type CheckedReceipts, checkReceipts, type ReceiptFault } from './check-receipts.ts'
import type { PublicKey, SignatureVerdict, Signer, Verifier } from './receipt.ts'
import { sha256 } from './sha256.ts'

export const EXPORT_FORMAT = 'lull-task'

export interface ExportHeader {
  readonly format: typeof EXPORT_FORMAT
  readonly version: 1
  /** The version of Lull that wrote the file. */
  readonly lull: string
  readonly taskId: string
  /** Epoch milliseconds. */
  readonly exportedAt: number
  readonly records: number
  /** SHA-256 over the canonical JSON of the records, one per line. */
  readonly digest: string
  /** Content was replaced by hashes, so the task cannot be imported. */
  readonly redacted?: true
  /**
   * The public keys of the server that wrote the file. Compare them with the keys that the server
   * publishes.
   */
  readonly keys: readonly PublicKey[]
  readonly keyId: string
  /** HMAC-SHA256 of all members above, hex. */
  readonly signature: string
  /** Ed25519 signature of the same members, hex. */
  readonly ed25519: string
}

export interface TaskExport {
  readonly header: ExportHeader
  readonly records: readonly LogRecord[]
}

export interface ExportFacts {
  readonly taskId: string
  readonly lull: string
  readonly at: number
  readonly redacted: boolean
}

export function makeExport(
  log: readonly LogRecord[],
  { taskId, lull, at, redacted }: ExportFacts,
  signer: Signer,
): TaskExport {
  const records = redacted ? redact(log) : log
  const unsigned = {
    format: EXPORT_FORMAT,
    version: 1,
    lull,
    taskId,
    exportedAt: at,
    records: records.length,
    digest: digestOf(records),
    ...(redacted ? { redacted } : {}),
    keys: signer.publicKeys,
    keyId: signer.keyId,
  } as const
  const text = canonical(unsigned)
  const signatures = { signature: signer.sign(text), ed25519: signer.signPublic(text) }
  return { header: { ...unsigned, ...signatures }, records }
}

export function digestOf(records: readonly LogRecord[]): string {
  return sha256(records.map((record) => `${canonical(record)}\n`).join(''))
}

/** Faults of the header are reported at record 0. */
export function checkExport({ header, records }: TaskExport, verifier: Verifier): CheckedReceipts {
  const { receipts, faults } = checkReceipts(records, verifier)
  return { receipts, faults: [...headerFaults(header, records, verifier), ...faults] }
}

function* headerFaults(
  header: ExportHeader,
  records: readonly LogRecord[],
  verifier: Verifier,
): Generator<ReceiptFault, void> {
  const { keyId } = header
  const verdict = verdictOn(header, verifier)
  if (verdict === 'wrong') yield { seq: 0, problem: 'the signature of the header is wrong' }
  if (verdict === 'unknown-key') {
    const problem = `the header is signed with another key, ${keyId}`
    yield { seq: 0, problem, unknownKey: keyId }
  }
  if (records.length !== header.records) {
    yield { seq: 0, problem: `the file has ${records.length} of ${header.records} records` }
  } else if (digestOf(records) !== header.digest) {
    yield { seq: 0, problem: 'a record was changed afterwards' }
  }
  // The last of these records names the task: a forked task begins with the records of another one.
  const born = records.findLast(({ type }) => type === 'submitted' || type === 'forked')
  if (born === undefined || !('taskId' in born) || born.taskId !== header.taskId) {
    yield { seq: 0, problem: `the records are not those of task ${header.taskId}` }
  }
}

function verdictOn(
  { signature, ed25519, ...unsigned }: ExportHeader,
  verifier: Verifier,
): SignatureVerdict {
  const text = canonical(unsigned)
  const verdicts = [
    verifier.verify(text, signature, unsigned.keyId),
    verifier.verifyPublic(text, ed25519, unsigned.keyId),
  ]
  if (verdicts.includes('wrong')) return 'wrong'
  return verdicts.includes('genuine') ? 'genuine' : 'unknown-key'
}
