/**
 * Receipts: signed records that a stop, a wake or a drain decision happened. Every receipt contains the hash of the one
 * before it, so that a changed, removed or moved receipt is found. This file decides what is signed. The signer is a
 * parameter.
 */
import { canonical } from './canonical-json.ts'
import type { Receipt, Signer } from './receipt.ts'
import { createContent } from './receipt-content.ts'
import type { RecordBody } from './records.ts'
import { sha256 } from './sha256.ts'
import type { Task } from './task.ts'

type ReceiptRecord = RecordBody & { readonly type: 'receipt' }

/** The receipt record that follows an act, or nothing. `task` is the task just after the act. */
export type MakeReceipt = (task: Task, act: RecordBody, at: number) => ReceiptRecord | undefined

export function createReceipts(signer: Signer): MakeReceipt {
  const content = createContent()
  return (task, act, at) => {
    const said = describe(task, act, (value) => sha256(canonical(value)))
    if (said === undefined) return undefined
    const unsigned = {
      version: 2 as const,
      kind: said.kind,
      taskId: task.id,
      number: task.receipts.count + 1,
      previous: task.receipts.head,
      seq: task.version + 1,
      at,
      facts: said.facts,
      content: content(task),
      keyId: signer.keyId,
    }
    const text = canonical(unsigned)
    const signatures = { signature: signer.sign(text), ed25519: signer.signPublic(text) }
    const receipt = { ...unsigned, ...signatures }
    return { type: 'receipt', receipt, hash: sha256(canonical(receipt)) }
  }
}

export type Said = Pick<Receipt, 'kind' | 'facts'>

/**
 * What the receipt of an act says; undefined when the record is not an act. The receipt of a stop contains the whole
 * record. That of a wake omits the run, and has hashes of input and event.
 */
export function describe(
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
  if (act.type === 'imported') {
    const { actor, exportedAt, lull, digest, keys } = act
    const facts = clean({ actor, exportedAt, lull, digest, keys, state: task.state })
    return { kind: 'ImportReceipt', facts }
  }
  return undefined
}

/** Omits members that are undefined. */
function clean(facts: Readonly<Record<string, unknown>>): Receipt['facts'] {
  const said: Record<string, unknown> = {}
  for (const fact in facts) if (facts[fact] !== undefined) said[fact] = facts[fact]
  return said as Receipt['facts']
}
