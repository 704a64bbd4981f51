/**
 * `urn:lull:a2a:receipts:1`: the signed receipts of a task, each with the result of the server's
 * check.
 */
import { z } from 'zod'
import {
  jsonObject,
  receiptKind,
  receiptVerdict,
  signatureKind,
} from '../../../engine/input/inputs.ts'
import type { ReceiptReport } from '../../../wire/ops/logs.ts'
import { id } from './vocabulary.ts'

const receipt = z.object({
  /** The number of its record in the log. */
  seq: z.number().int().positive(),
  version: z.literal(2).exactOptional(),
  kind: receiptKind,
  taskId: id,
  number: z.number().int().positive(),
  previous: z.string(),
  /** Epoch milliseconds. */
  at: z.number(),
  facts: jsonObject,
  content: z.string().exactOptional(),
  keyId: z.string(),
  signature: z.string(),
  ed25519: z.string().exactOptional(),
  verdict: receiptVerdict,
  /** The key that signed the receipt of the import that vouches for this one, and when. */
  vouchedBy: z.object({ keyId: z.string(), at: z.number() }).exactOptional(),
  verifiedBy: z.array(signatureKind),
})

export const listReceiptsResult: z.ZodType<ReceiptReport> = z.object({
  taskId: id,
  records: z.number().int().nonnegative(),
  receipts: z.array(receipt),
  verified: z.boolean(),
  faults: z.array(
    z.object({
      seq: z.number().int(),
      problem: z.string(),
      unknownKey: z.string().exactOptional(),
    }),
  ),
})
