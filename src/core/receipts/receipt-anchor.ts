/**
 * An anchor is the number of a task's receipts and the hash of the last one, signed. It is kept
 * outside the log, so that a log whose last records were removed together with their receipts is
 * detected. Its text is: count, hash of the last receipt, key id, signature.
 */

import type { LogRecord } from '../records.ts'
import type { Task } from '../task.ts'
import { canonical } from './canonical-json.ts'
import type { ReceiptFault } from './check-receipts.ts'
import type { Signer, Verifier } from './receipt.ts'

export interface Anchor {
  readonly count: number
  readonly head: string
  readonly keyId: string
  readonly signature: string
}

export function makeAnchor(
  { id, receipts }: Pick<Task, 'id' | 'receipts'>,
  signer: Signer,
): string {
  const { count, head } = receipts
  const signature = signer.sign(textOf(id, { count, head, keyId: signer.keyId }))
  return [count, head, signer.keyId, signature].join(' ')
}

/** Undefined when the text is not an anchor. */
function readAnchor(text: string): Anchor | undefined {
  const [count = '', head, keyId, signature, ...more] = text.split(' ')
  const isWhole = /^[1-9]\d*$/.test(count) && head && keyId && signature && more.length === 0
  return isWhole ? { count: Number(count), head, keyId, signature } : undefined
}

function textOf(taskId: string, { count, head, keyId }: Omit<Anchor, 'signature'>): string {
  return canonical({ anchor: taskId, count, head, keyId })
}

/**
 * An anchor as a store returns it. Null: no commit has set one yet. Undefined: the store keeps no
 * anchors.
 */
export type StoredAnchor = string | null | undefined

interface Problem {
  readonly problem: string
  readonly unknownKey?: string
}

/**
 * Returns the faults at the end of a log. The log may have grown since the anchor was read, so more
 * receipts than the anchor names are no fault. Receipts of version 1 were made without an anchor.
 */
export function anchorFaults(
  taskId: string,
  log: readonly LogRecord[],
  stored: StoredAnchor,
  verifier: Verifier,
): readonly ReceiptFault[] {
  const seq = log.at(-1)?.seq ?? 0
  const receipts = log.filter((record) => record.type === 'receipt')
  const isNeeded = receipts.some(({ receipt }) => receipt.version !== undefined)
  const anchor = readStored(taskId, stored, isNeeded, verifier)
  if (anchor === undefined) return []
  if ('problem' in anchor) return [{ seq, ...anchor }]
  const { count, head } = anchor
  if (receipts.length < count) return [{ seq, problem: cutOff(receipts.length, count) }]
  return receipts[count - 1]?.hash === head
    ? []
    : [{ seq, problem: `receipt ${count} is not the anchored one` }]
}

/**
 * The same check for a loaded task. A key that is not known here is not reported, because it must
 * not stop the task.
 */
export function anchorProblem(
  { id, receipts }: Pick<Task, 'id' | 'receipts'>,
  stored: StoredAnchor,
  verifier: Verifier,
): string | undefined {
  const anchor = readStored(id, stored, receipts.version !== undefined, verifier)
  if (anchor === undefined) return undefined
  if ('problem' in anchor) return anchor.unknownKey === undefined ? anchor.problem : undefined
  if (receipts.count < anchor.count) return cutOff(receipts.count, anchor.count)
  const isSame = receipts.count > anchor.count || receipts.head === anchor.head
  return isSame ? undefined : `receipt ${anchor.count} is not the anchored one`
}

function cutOff(found: number, count: number): string {
  return `the log was cut off: it has ${found} of ${count} receipts`
}

/** The anchor if its signature is genuine. Undefined when there is none and none is needed. */
function readStored(
  taskId: string,
  stored: StoredAnchor,
  isNeeded: boolean,
  verifier: Verifier,
): Anchor | Problem | undefined {
  if (stored === undefined) return undefined
  if (stored === null) {
    return isNeeded ? { problem: 'the anchor of the receipts is missing' } : undefined
  }
  const anchor = readAnchor(stored)
  if (anchor === undefined) return { problem: 'the anchor of the receipts is damaged' }
  const { keyId, signature } = anchor
  const verdict = verifier.verify(textOf(taskId, anchor), signature, keyId)
  if (verdict === 'genuine') return anchor
  return verdict === 'wrong'
    ? { problem: 'the signature of the anchor is wrong' }
    : { problem: `the anchor is signed with another key, ${keyId}`, unknownKey: keyId }
}
