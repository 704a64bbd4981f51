/** Reads a task export from text: JSON Lines, the header first, then one record per line. */
import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import type { PublicKey } from '../../core/receipts/receipt.ts'
import {
  EXPORT_FORMAT,
  type ExportHeader,
  type TaskExport,
} from '../../core/receipts/task-export.ts'
import type { LogRecord } from '../../core/records.ts'

const publicKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  alg: z.literal('EdDSA').default('EdDSA'),
  use: z.literal('sig').default('sig'),
})

/** The keys that a server publishes, as a JSON Web Key Set. */
export const keySet: z.ZodType<{ readonly keys: readonly PublicKey[] }> = z.object({
  keys: z.array(publicKey),
})

const header = z.looseObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(1),
  lull: z.string(),
  taskId: z.string().min(1),
  exportedAt: z.number(),
  records: z.number().int().min(1),
  digest: z.string(),
  redacted: z.literal(true).optional(),
  keys: z.array(publicKey),
  keyId: z.string(),
  signature: z.string(),
  ed25519: z.string(),
})

const record = z.looseObject({ type: z.string(), seq: z.number(), at: z.number() })

/** @throws LullError `INVALID_INPUT` if the text is not an export */
export function readTaskFile(text: string): TaskExport {
  const [first = '', ...rest] = text.split('\n').filter((line) => line.trim() !== '')
  const wrong = (problem: string) => new LullError('INVALID_INPUT', { path: '', problem })
  const head = header.safeParse(parsed(first))
  if (!head.success) {
    const version = (parsed(first) as { readonly version?: unknown } | undefined)?.version
    throw typeof version === 'number' && version > 1
      ? wrong(`the file has version ${version} of the format; use a newer version of Lull`)
      : wrong('the file is not an export of Lull: its first line is no header')
  }
  const records = rest.map((line, index) => {
    const one = record.safeParse(parsed(line))
    // The content is checked when the log is folded.
    if (one.success) return parsed(line) as LogRecord
    throw wrong(`line ${index + 2} is not a record; export the task again`)
  })
  // Returns the header as it was written, because its signature covers every member.
  return { header: parsed(first) as ExportHeader, records }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
