/** `GET /ops/audit`: who did what. */
import { z } from 'zod'
import { toIso } from '../../core/values/instant.ts'
import type { AuditSummary } from '../../wire/ops/server.ts'
import { count } from './read-query.ts'
import { type OpsRoute, route } from './route.ts'

const MOST = 1_000

const query = z.strictObject({
  since: z.iso.datetime({ offset: true }).optional(),
  principal: z.string().max(256).optional(),
  taskId: z.string().max(256).optional(),
  cursor: z.string().max(256).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  limit: count,
  tenant: z.string().optional(),
})

const entry: z.ZodType<AuditSummary> = z.object({
  at: z.iso.datetime(),
  tenant: z.string(),
  principal: z.string().optional(),
  operator: z.literal(true).optional(),
  credential: z.string().optional(),
  action: z.string(),
  taskId: z.string().optional(),
  target: z.string().optional(),
  outcome: z.string(),
  from: z.string().optional(),
  further: z.number().optional(),
})

export const readAudit: OpsRoute = route('audit', {
  scope: 'ops:read',
  about: 'Who did what, and what was refused, oldest first; with `order=desc` newest first',
  query,
  answer: z.object({ entries: z.array(entry), cursor: z.string().optional() }),
  async handle(engine, caller, { query: given }) {
    const { since, cursor, limit = 100, principal, taskId, order } = given
    const most = Math.max(1, Math.min(limit, MOST))
    const found = await engine.audit.read(caller, {
      principal,
      taskId,
      since: since === undefined ? undefined : Date.parse(since),
      order,
      after: cursor,
      limit: most + 1,
    })
    const page = found.slice(0, most)
    return {
      entries: page.map(({ id: _id, pos: _pos, at, ...rest }) => ({ at: toIso(at), ...rest })),
      ...(found.length > most ? { cursor: page.at(-1)?.id } : {}),
    }
  },
})
