/** The header of an exported task. Its signature covers every member, also those of newer versions. */
import { z } from 'zod'
import { EXPORT_FORMAT, type ExportHeader } from '../../core/receipts/task-export.ts'
import { id, text } from './primitives.ts'
import { at, count, publicKeys, taskName } from './record-values.ts'

export const exportHeader: z.ZodType<ExportHeader> = z.looseObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(1),
  lull: text.max(256),
  taskId: taskName,
  exportedAt: at,
  records: count.min(1),
  digest: text.max(256),
  redacted: z.literal(true).optional(),
  keys: publicKeys,
  keyId: id,
  signature: text.max(256),
  ed25519: text.max(256),
}) as z.ZodType<unknown> as z.ZodType<ExportHeader>
