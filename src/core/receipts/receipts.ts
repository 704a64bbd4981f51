/**
 * Receipts are signed records that a stop, a wake or a drain decision happened. Each contains the
 * hash of the previous one, so that a changed, removed or moved receipt is detected. This file
 * decides what is signed; the signer is a parameter.
 */

import type { RecordBody, RecordType } from '../records.ts'
import type { Task } from '../task.ts'
import { canonical } from './canonical-json.ts'
import type { Receipt, Signer } from './receipt.ts'
import { createContent } from './receipt-content.ts'
import { sha256 } from './sha256.ts'

type ReceiptRecord = RecordBody & { readonly type: 'receipt' }

/**
 * Returns the receipt record that follows an action, or undefined if it needs none. `task` is the
 * task just after the action.
 */
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
 * The facts in the receipt of an action; undefined when the record needs no receipt. The receipt of
 * a stop contains the whole record. The receipt of a wake omits the run, and contains only hashes
 * of input and event.
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
    const childHash = act.child === undefined ? undefined : hashOf(act.child)
    const hashes = { inputHash, eventHash, childHash }
    return { kind: 'ResumptionReceipt', facts: clean({ ...named, epoch, ...hashes }) }
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
  // Abandoned steps are named in the receipt of the next stop.
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
  // A stop gets its receipt when it commits, not when it is requested.
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
