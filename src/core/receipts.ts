/**
 * Receipts: signed records that a stop, a wake or a drain decision happened. Every receipt contains the hash of the one
 * before it, so that a changed, removed or moved receipt is found. This file decides what is signed and when a chain is
 * valid. The functions that hash and sign are parameters.
 */
import { canonical } from './canonical-json.ts'
import { evolve } from './evolve.ts'
import type { Receipt, SignatureVerdict, Signer } from './receipt.ts'
import type { LogRecord, RecordBody } from './records.ts'
import { hashIn } from './redact.ts'
import type { Task } from './task.ts'

/** The receipt record that follows an act, or nothing. `task` is the task just after the act. */
export function receiptFor(
  task: Task,
  act: RecordBody,
  at: number,
  signer: Signer,
): (RecordBody & { type: 'receipt' }) | undefined {
  const said = describe(task, act, (value) => signer.hash(canonical(value)))
  if (said === undefined) return undefined
  const unsigned = {
    kind: said.kind,
    taskId: task.id,
    number: task.receipts.count + 1,
    previous: task.receipts.head,
    at,
    facts: said.facts,
    keyId: signer.keyId,
  }
  const receipt = { ...unsigned, signature: signer.sign(canonical(unsigned)) }
  return { type: 'receipt', receipt, hash: signer.hash(canonical(receipt)) }
}

type Said = Pick<Receipt, 'kind' | 'facts'>

/** The receipt of a stop contains the whole record. That of a wake omits the run, and has hashes of input and event. */
function describe(
  task: Task,
  act: RecordBody,
  hashOf: (value: unknown) => string,
): Said | undefined {
  if (act.type === 'paused' || act.type === 'parked') {
    return { kind: 'SuspensionReceipt', facts: clean({ ...task.suspension }) }
  }
  if (act.type === 'resumed') {
    const { handle, cause, actor, continueTranscript, eventPos, idempotencyKey } = act
    const named = { handle, cause, actor, continueTranscript, eventPos, idempotencyKey }
    const inputHash = act.input === null ? undefined : hashOf(act.input)
    const eventHash = act.event === undefined ? undefined : hashOf(act.event)
    const facts = clean({ ...named, epoch: task.epoch, inputHash, eventHash })
    return { kind: 'ResumptionReceipt', facts }
  }
  if (act.type === 'released') {
    const facts = clean({ decision: act.reason, state: task.state })
    return { kind: 'DrainDecisionReceipt', facts }
  }
  return undefined
}

/** Omits members that are undefined. */
function clean(facts: Readonly<Record<string, unknown>>): Receipt['facts'] {
  const said: Record<string, unknown> = {}
  for (const fact in facts) if (facts[fact] !== undefined) said[fact] = facts[fact]
  return said as Receipt['facts']
}

export interface ReceiptFault {
  /** The log record the fault was found at. */
  readonly seq: number
  readonly problem: string
  /** The id of a key that is not known here. The receipt may be genuine. */
  readonly unknownKey?: string
}

/**
 * Checks every receipt of a task's log: its signature, number and chain, that it matches the record before it, and that
 * no such record lacks a receipt. The last receipts of a log can only be removed together with their records.
 */
export function verifyReceipts(log: readonly LogRecord[], signer: Signer): readonly ReceiptFault[] {
  const faults: ReceiptFault[] = []
  let task: Task | undefined
  let act: Act | undefined
  const missing = (): void => {
    if (act !== undefined)
      faults.push({ seq: act.record.seq, problem: `${act.record.type} has no receipt` })
  }
  for (const record of log) {
    const fault = (problem: string): number => faults.push({ seq: record.seq, problem })
    if (record.type === 'receipt') {
      for (const problem of problemsOf(record, task, act, signer)) fault(problem)
      const unknownKey = unknownKeyOf(record, signer)
      if (unknownKey !== undefined) {
        faults.push({
          seq: record.seq,
          problem: `is signed with another key, ${unknownKey}`,
          unknownKey,
        })
      }
    } else missing()
    try {
      task = evolve(task, record)
    } catch (error) {
      // Without the state before them, later records cannot be checked.
      fault(`cannot follow: ${(error as Error).message}`)
      return faults
    }
    const hash = (value: unknown): string => signer.hash(canonical(value))
    const said = [hash, (value: unknown) => hashIn(value) ?? hash(value)].flatMap(
      (hashOf) => (task && describe(task, record, hashOf)) ?? [],
    )
    act = said.length === 0 ? undefined : { record, said }
  }
  missing()
  return faults
}

/** A record that needs a receipt, and what the receipt says: with the record as it is, or with what was redacted in it. */
interface Act {
  readonly record: LogRecord
  readonly said: readonly Said[]
}

function isSaid(said: Said, act: Act): boolean {
  const text = canonical(said)
  return act.said.some((one) => canonical(one) === text)
}

function verdictOn({ signature, ...unsigned }: Receipt, signer: Signer): SignatureVerdict {
  return signer.verify(canonical(unsigned), signature, unsigned.keyId)
}

function unknownKeyOf(
  { receipt }: LogRecord & { type: 'receipt' },
  signer: Signer,
): string | undefined {
  return verdictOn(receipt, signer) === 'unknown-key' ? receipt.keyId : undefined
}

function* problemsOf(
  { receipt, hash }: LogRecord & { type: 'receipt' },
  task: Task | undefined,
  act: Act | undefined,
  signer: Signer,
): Generator<string, void> {
  const { kind, facts, taskId, at, number, previous } = receipt
  if (act === undefined) yield 'receipt without an act before it'
  else if (at !== act.record.at || !isSaid({ kind, facts }, act)) {
    yield `receipt disagrees with its ${act.record.type}`
  }
  if (taskId !== task?.id) yield `receipt of another task (${taskId})`
  if (verdictOn(receipt, signer) === 'wrong') yield 'signature is wrong'
  const next = (task?.receipts.count ?? 0) + 1
  if (number !== next) yield `receipt ${next} is missing`
  if (previous !== (task?.receipts.head ?? '')) yield 'does not follow the receipt before it'
  if (hash !== signer.hash(canonical(receipt))) yield 'hash is wrong'
}
