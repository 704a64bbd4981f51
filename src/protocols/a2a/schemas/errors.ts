/** Errors of the extension methods: the `error` of JSON-RPC, in each version. */
import { z } from 'zod'
import { type FaultName, faults } from '../errors/faults.ts'
import { exactly } from './exactly.ts'
import { instant } from './vocabulary.ts'

const reason = z.enum(Object.keys(faults) as [FaultName, ...FaultName[]])

/** In 0.3: the reason of the fault and its details. Additional members are allowed. */
export const errorData: z.ZodType = z.looseObject({
  reason,
  path: z.string().optional(),
  problem: z.string().optional(),
  taskId: z.string().optional(),
  state: z.string().optional(),
  why: z.string().optional(),
  cause: z.string().optional(),
  resumedAt: instant.optional(),
  handle: z.string().optional(),
  limit: z.union([z.number(), z.string()]).optional(),
})

export interface ErrorInfo {
  readonly '@type': 'type.googleapis.com/google.rpc.ErrorInfo'
  readonly reason: FaultName
  readonly domain: 'a2a-protocol.org' | 'lull'
  /** The details of the fault. Values that are not strings are serialised as JSON. */
  readonly metadata?: Readonly<Record<string, string>>
}

export interface BadRequest {
  readonly '@type': 'type.googleapis.com/google.rpc.BadRequest'
  readonly fieldViolations: readonly { readonly field: string; readonly description: string }[]
}

/** In 1.0: the `data` of JSON-RPC and the `details` of REST. */
export const errorDetails: z.ZodType<readonly (ErrorInfo | BadRequest)[]> = exactly<
  readonly (ErrorInfo | BadRequest)[]
>()(
  z.array(
    z.union([
      z.strictObject({
        '@type': z.literal('type.googleapis.com/google.rpc.ErrorInfo'),
        reason,
        domain: z.enum(['a2a-protocol.org', 'lull']),
        metadata: z.record(z.string(), z.string()).exactOptional(),
      }),
      z.strictObject({
        '@type': z.literal('type.googleapis.com/google.rpc.BadRequest'),
        fieldViolations: z.array(z.strictObject({ field: z.string(), description: z.string() })),
      }),
    ]),
  ),
)

const error = { code: z.number().int(), message: z.string().min(1) }

export const rpcErrorV03: z.ZodType = z.strictObject({ ...error, data: errorData })
export const rpcErrorV1: z.ZodType = z.strictObject({ ...error, data: errorDetails })
