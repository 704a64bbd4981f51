import { z } from 'zod'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { ApiKey } from './api-key.ts'

/** The schema of a stored key. It is strict, so that nothing else is mistaken for a valid key. */
export const keySchema: z.ZodType<ApiKey> = z.strictObject({
  id: z.string().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  tenant: z.string().min(1),
  principal: z.string().min(1),
  scopes: z.array(z.enum(scopes as [Scope, ...Scope[]])),
  eventSources: z.array(z.string().min(1)).optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  revokedAt: z.number().optional(),
})
