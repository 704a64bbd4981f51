/**
 * Receipts: signed records that a stop, a wake or a drain decision happened. Every receipt contains the hash of the one
 * before it, so that a changed, removed or moved receipt is found. This file decides what is signed. The signer is a
 * parameter.
 */

import type { RecordBody, RecordType } from '../records.ts'
import type { Task } from '../task.ts'
import { canonical } from './canonical-json.ts'
import type { Receipt, Signer } from './receipt.ts'
import { createContent } from './receipt-content.ts'
import { sha256 } from './sha256.ts'

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
  return (receipts[act.type] as Describe<RecordType>)(act, task, hashOf)
}

type Describe<T extends RecordType> = (
  act: RecordBody & { readonly type: T },
  task: Task,
  hashOf: (value: unknown) => string,
) => Said | undefined

const noReceipt = (): undefined => undefined

const stop: Describe<'paused' | 'parked'> = (_act, { suspension }) => ({
  kind: 'SuspensionReceipt',
  facts: clean({ ...suspension }),
})

const receipts: { readonly [T in RecordType]: Describe<T> } = {
  paused: stop,
  parked: stop,
  resumed(act, { epoch }, hashOf) {
    const { handle, cause, actor, continueTranscript, eventPos, idempotencyKey } = act
    const named = { handle, cause, actor, continueTranscript, eventPos, idempotencyKey }
    const inputHash = act.input === null ? undefined : hashOf(act.input)
    const eventHash = act.event === undefined ? undefined : hashOf(act.event)
    return { kind: 'ResumptionReceipt', facts: clean({ ...named, epoch, inputHash, eventHash }) }
  },
  released: ({ reason: decision }, { state }) => ({
    kind: 'DrainDecisionReceipt',
    facts: clean({ decision, state }),
  }),
  imported: ({ actor, exportedAt, lull, digest, keys }, { state }) => ({
    kind: 'ImportReceipt',
    facts: clean({ actor, exportedAt, lull, digest, keys, state }),
  }),

  submitted: noReceipt,
  started: noReceipt,
  message: noReceipt,
  said: noReceipt,
  artifact: noReceipt,
  usage: noReceipt,
  value: noReceipt,
  step: noReceipt,
  attempt: noReceipt,
  // The receipt of the next stop names the steps that may still act.
  abandoned: noReceipt,
  'not-awaited': noReceipt,
  skipped: noReceipt,
  delegated: noReceipt,
  'child-ended': noReceipt,
  'child-called': noReceipt,
  'turn-started': noReceipt,
  'turn-ended': noReceipt,
  compacted: noReceipt,
  continued: noReceipt,
  voided: noReceipt,
  asked: noReceipt,
  'asked-again': noReceipt,
  answered: noReceipt,
  // The stop has its receipt when it is committed.
  'pause-requested': noReceipt,
  'pause-upgraded': noReceipt,
  'pause-kept': noReceipt,
  'pause-withdrawn': noReceipt,
  deferred: noReceipt,
  held: noReceipt,
  lifted: noReceipt,
  'reminders-shown': noReceipt,
  'reminder-injected': noReceipt,
  'reminder-deduped': noReceipt,
  'reminder-expired': noReceipt,
  completed: noReceipt,
  failed: noReceipt,
  rejected: noReceipt,
  canceled: noReceipt,
  receipt: noReceipt,
  forked: noReceipt,
}

/** Omits members that are undefined. */
function clean(facts: Readonly<Record<string, unknown>>): Receipt['facts'] {
  const said: Record<string, unknown> = {}
  for (const fact in facts) if (facts[fact] !== undefined) said[fact] = facts[fact]
  return said as Receipt['facts']
}
