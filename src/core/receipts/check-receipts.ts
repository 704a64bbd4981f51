/**
 * Checks the receipts of a task's log: signatures, numbers and chain; that each receipt matches the
 * record before it and the task at that point; and that no record that needs a receipt lacks one. A
 * log whose end was cut off after a receipt is found only with its anchor (`receipt-anchor.ts`).
 */

import { evolve } from '../evolve.ts'
import type { LogRecord } from '../records.ts'
import { hashIn } from '../redact.ts'
import type { Task } from '../task.ts'
import { instantOr0, toIso } from '../values/instant.ts'
import { canonical } from './canonical-json.ts'
import type { PublicKey, Receipt, SignatureVerdict, Verifier } from './receipt.ts'
import { createContent } from './receipt-content.ts'
import { describe, type Said } from './receipts.ts'
import { sha256 } from './sha256.ts'

export interface ReceiptFault {
  /** The number of the record at which the fault was found. */
  readonly seq: number
  readonly problem: string
  /**
   * Set when the receipt is signed with a key that is not known here. The receipt may be genuine.
   */
  readonly unknownKey?: string
}

/**
 * The result of checking a receipt. `vouched`: its key is not known here, but a genuine import
 * names the key. Anyone who may import can create such a key, so `vouched` says who has to be
 * trusted, not that the receipt is genuine.
 */
export type ReceiptVerdict = SignatureVerdict | 'vouched'

/** The import that vouches for a receipt: the key that signed the receipt of the import, and when. */
export interface Voucher {
  readonly keyId: string
  readonly at: number
}

export type SignatureKind = 'hmac-sha256' | 'ed25519'

/** One receipt and the result of its check. */
export interface CheckedReceipt {
  /** The number of its record in the log. */
  readonly seq: number
  readonly receipt: Receipt
  /** `wrong` if the receipt, or the action that it records, fails any check. */
  readonly verdict: ReceiptVerdict
  /** Present when the verdict is `vouched`. */
  readonly vouchedBy?: Voucher
  /** The signatures that were found genuine. Receipts of version 1 have only an HMAC. */
  readonly verifiedBy: readonly SignatureKind[]
}

export interface CheckedReceipts {
  readonly receipts: readonly CheckedReceipt[]
  readonly faults: readonly ReceiptFault[]
}

export function verifyReceipts(
  log: readonly LogRecord[],
  verifier: Verifier,
): readonly ReceiptFault[] {
  return checkReceipts(log, verifier).faults
}

interface Import extends Voucher {
  readonly seq: number
  readonly verifier: Verifier
}

/**
 * The imports whose receipts are genuine, or vouched for by a later import. Each vouches for
 * earlier receipts that are signed with one of the keys it names.
 */
function importsIn(log: readonly LogRecord[], verifier: Verifier): readonly Import[] {
  const imports: Import[] = []
  let known = verifier
  for (const [index, record] of [...log.entries()].reverse()) {
    const next = log[index + 1]
    if (record.type !== 'imported' || next?.type !== 'receipt') continue
    const { keyId, facts } = next.receipt
    const isOfIt = canonical(facts['keys']) === canonical(record.keys)
    if (!isOfIt || verdictOn(next.receipt, known).verdict !== 'genuine') continue
    const named = trusting(verifier, record.keys)
    if (named === undefined) continue
    imports.push({ seq: record.seq, at: record.at, keyId, verifier: named })
    known = trusting(known, record.keys) ?? known
  }
  return imports
}

/** Undefined when one of them is not a valid key. */
function trusting(verifier: Verifier, keys: readonly PublicKey[]): Verifier | undefined {
  try {
    return verifier.trusting(keys)
  } catch {
    return undefined
  }
}

export function checkReceipts(log: readonly LogRecord[], verifier: Verifier): CheckedReceipts {
  const check = createReceiptCheck(log, verifier)
  for (const record of log) if (!check.add(record)) break
  return check.end()
}

/**
 * Checks one log record by record. A receipt takes a quarter of a millisecond, so the caller checks
 * a long log in slices.
 */
export interface ReceiptCheck {
  /**
   * @returns false when the record is damaged: later records cannot be checked without the state
   * before them
   */
  add(record: LogRecord): boolean
  /** The task as folded from the records so far. */
  readonly task: Task | undefined
  /** The findings. Called when every record was added, or after a damaged one. */
  end(): CheckedReceipts
}

export function createReceiptCheck(log: readonly LogRecord[], verifier: Verifier): ReceiptCheck {
  const imports = importsIn(log, verifier)
  const faults: ReceiptFault[] = []
  const receipts: CheckedReceipt[] = []
  const readAct = createReadAct()
  let task: Task | undefined
  let act: Act | undefined
  const missing = (): void => {
    if (act !== undefined)
      faults.push({ seq: act.record.seq, problem: `${act.record.type} has no receipt` })
  }

  function add(record: LogRecord): boolean {
    const fault = (problem: string): number => faults.push({ seq: record.seq, problem })
    if (record.type !== 'receipt') missing()
    const before = act
    act = undefined
    try {
      if (record.type === 'receipt') {
        const checked = checkOne(record, task, before, (receipt) =>
          judge(receipt, record.seq, verifier, imports),
        )
        receipts.push(checked.receipt)
        faults.push(...checked.faults)
      }
      const version = task?.version ?? 0
      if (record.seq !== version + 1) fault(`does not follow record ${version}`)
      task = evolve(task, record)
    } catch (error) {
      fault(`cannot follow: ${(error as Error).message}`)
      return false
    }
    act = readAct(task, record)
    return true
  }

  return {
    add,
    get task() {
      return task
    },
    end() {
      missing()
      act = undefined
      return { receipts, faults }
    },
  }
}

/**
 * A record that needs a receipt, and what that receipt must say: for the record and task as they
 * are, and for their redacted form.
 */
interface Act {
  readonly record: LogRecord
  readonly said: readonly Said[]
  readonly covers: (content: string | undefined) => boolean
}

function createReadAct() {
  const contents = [createContent(), createContent(true)]
  const hashOf = (value: unknown): string => sha256(canonical(value))
  const hashes = [hashOf, (value: unknown) => hashIn(value) ?? hashOf(value)]
  return (task: Task, record: LogRecord): Act | undefined => {
    const said = hashes.flatMap((one) => describe(task, record, one) ?? [])
    if (said.length === 0) return undefined
    const covers = (digest: string | undefined): boolean =>
      contents.some((content) => content(task) === digest)
    return { record, said, covers }
  }
}

type ReceiptRecord = LogRecord & { readonly type: 'receipt' }

interface CheckedOne {
  readonly receipt: CheckedReceipt
  readonly faults: readonly ReceiptFault[]
}

function checkOne(
  record: ReceiptRecord,
  task: Task | undefined,
  act: Act | undefined,
  judgeOne: (receipt: Receipt) => Judgement,
): CheckedOne {
  const { seq, receipt } = record
  const judgement = judgeOne(receipt)
  const { verdict, vouchedBy } = judgement
  const problems = [...problemsOf(record, task, act)]
  if (verdict === 'wrong') problems.push('signature is wrong')
  const faults: ReceiptFault[] = problems.map((problem) => ({ seq, problem }))
  if (faults.length > 0)
    return { receipt: { seq, receipt, verdict: 'wrong', verifiedBy: [] }, faults }
  const { keyId } = receipt
  if (vouchedBy !== undefined) {
    const by = `the import of key ${vouchedBy.keyId} at ${toIso(instantOr0(vouchedBy.at))}`
    const problem = `is signed with another key, ${keyId}: vouched for by ${by}, not verified`
    faults.push({ seq, problem, unknownKey: keyId })
  } else if (verdict === 'unknown-key') {
    const how = receipt.version === undefined ? ', by HMAC only' : ''
    faults.push({ seq, problem: `is signed with another key, ${keyId}${how}`, unknownKey: keyId })
  }
  return { receipt: { seq, receipt, ...judgement }, faults }
}

type Judgement = Pick<CheckedReceipt, 'verdict' | 'verifiedBy' | 'vouchedBy'>

/**
 * Checks the signatures of a receipt with the known keys, else with the keys that a later import
 * names.
 */
function judge(
  receipt: Receipt,
  seq: number,
  verifier: Verifier,
  imports: readonly Import[],
): Judgement {
  const own = verdictOn(receipt, verifier)
  if (own.verdict !== 'unknown-key') return own
  for (const { seq: importedAt, verifier: named, keyId, at } of imports) {
    if (importedAt < seq) continue
    const { verdict } = verdictOn(receipt, named)
    if (verdict === 'wrong') return { verdict, verifiedBy: [] }
    if (verdict === 'genuine') {
      return { verdict: 'vouched', verifiedBy: [], vouchedBy: { keyId, at } }
    }
  }
  return own
}

/**
 * A receipt of version 2 has two signatures. One is enough when the key of the other is not known.
 */
function verdictOn(
  { signature, ed25519, ...unsigned }: Receipt,
  verifier: Verifier,
): { readonly verdict: SignatureVerdict; readonly verifiedBy: readonly SignatureKind[] } {
  const { keyId, version } = unsigned
  const text = canonical(unsigned)
  const verdicts: Partial<Record<SignatureKind, SignatureVerdict>> = {
    'hmac-sha256': verifier.verify(text, signature, keyId),
    ...(version === undefined
      ? {}
      : { ed25519: verifier.verifyPublic(text, String(ed25519), keyId) }),
  }
  const kinds = Object.keys(verdicts) as SignatureKind[]
  const isUnasked = version === undefined && ed25519 !== undefined
  if (isUnasked || kinds.some((kind) => verdicts[kind] === 'wrong')) {
    return { verdict: 'wrong', verifiedBy: [] }
  }
  const verifiedBy = kinds.filter((kind) => verdicts[kind] === 'genuine')
  return { verdict: verifiedBy.length === 0 ? 'unknown-key' : 'genuine', verifiedBy }
}

function* problemsOf(
  { receipt, hash, at: writtenAt, seq: place }: ReceiptRecord,
  task: Task | undefined,
  act: Act | undefined,
): Generator<string, void> {
  const { version, kind, facts, taskId, at, number, previous, seq, content } = receipt
  if (act === undefined) yield 'receipt without an act before it'
  else if (at !== act.record.at || at !== writtenAt || !isSaid({ kind, facts }, act)) {
    yield `receipt disagrees with its ${act.record.type}`
  } else if (version !== undefined && !act.covers(content)) {
    yield 'receipt disagrees with the messages or artifacts of the task'
  }
  if (taskId !== task?.id) yield `receipt of another task (${taskId})`
  if (version !== undefined && seq !== place) yield `receipt belongs to record ${seq}`
  const next = (task?.receipts.count ?? 0) + 1
  if (number !== next) yield `receipt ${next} is missing`
  if (previous !== (task?.receipts.head ?? '')) yield 'does not follow the receipt before it'
  if (hash !== sha256(canonical(receipt))) yield 'hash is wrong'
}

function isSaid(said: Said, act: Act): boolean {
  const text = canonical(said)
  return act.said.some((one) => canonical(one) === text)
}
