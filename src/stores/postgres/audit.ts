import type { AuditEntry, AuditStore } from '../../ports/store/audit.ts'
import { toText } from '../../ports/store/text.ts'
import type { Database, Value } from './connection/database.ts'
import { joinedByTenant, type Lanes } from './connection/lanes.ts'

export function createAudit(db: Database, lanes: Lanes): AuditStore {
  const s = db.schema
  const write = joinedByTenant<AuditEntry, undefined>(lanes, async (tenant, entries) => {
    await db.write(
      `INSERT INTO ${s}.audit (tenant, at, id, principal, task_id, body)
       SELECT $1, * FROM unnest($2::float8[], $3::text[], $4::text[], $5::text[], $6::text[])
       ON CONFLICT DO NOTHING`,
      [
        toText(tenant),
        entries.map(({ at }) => at),
        entries.map(({ id }) => toText(id)),
        entries.map(({ principal }) => textOrNull(principal)),
        entries.map(({ taskId }) => textOrNull(taskId)),
        entries.map((entry) => JSON.stringify(entry)),
      ],
    )
    return entries.map(() => undefined)
  })
  return {
    async appendAudit(entries) {
      const tenants = [...new Set(entries.map(({ tenant }) => tenant))]
      await Promise.all(
        tenants.map((of) =>
          write(
            of,
            entries.filter(({ tenant }) => tenant === of),
          ),
        ),
      )
    },
    async audit({ tenant, principal, taskId, since, order, after, limit }) {
      const values: Value[] = [limit]
      const where: string[] = ['true']
      const isDescending = order === 'desc'
      const bind = (value: Value): string => `$${values.push(value)}`
      if (tenant !== undefined) where.push(`e.tenant = ${bind(toText(tenant))}`)
      if (principal !== undefined) where.push(`e.principal = ${bind(toText(principal))}`)
      if (taskId !== undefined) where.push(`e.task_id = ${bind(toText(taskId))}`)
      if (since !== undefined) where.push(`e.at >= ${bind(since)}`)
      if (after !== undefined) {
        const place = `(${bind(after.at)}, ${bind(toText(after.id))})`
        where.push(`(e.at, e.id) ${isDescending ? '<' : '>'} ${place}`)
      }
      const direction = isDescending ? 'DESC' : 'ASC'
      const page = (of: string): string => `SELECT e.at, e.id, e.body FROM ${s}.audit e
        WHERE ${[of, ...where].join(' AND ')} ORDER BY e.at ${direction}, e.id ${direction} LIMIT $1`
      const rows = await db.read(
        tenant === undefined
          ? `WITH RECURSIVE ${tenantsWith(s)} SELECT e.body FROM tenants
             CROSS JOIN LATERAL (${page('e.tenant = tenants.tenant')}) AS e
             ORDER BY e.at ${direction}, e.id ${direction} LIMIT $1`
          : page('true'),
        values,
      )
      return rows.map(({ body }) => JSON.parse(String(body)) as AuditEntry)
    },
    async pruneAudit(before, limit) {
      const rows = await db.write(
        `WITH RECURSIVE ${tenantsWith(s)}, old AS (
           SELECT e.tenant, e.at, e.id FROM tenants CROSS JOIN LATERAL (
             SELECT e.tenant, e.at, e.id FROM ${s}.audit e WHERE e.tenant = tenants.tenant AND e.at < $1
             ORDER BY e.at LIMIT $2) AS e LIMIT $2)
         DELETE FROM ${s}.audit a USING old WHERE a.tenant = old.tenant AND a.at = old.at AND a.id = old.id RETURNING 1`,
        [before, limit],
      )
      return rows.length
    },
  }
}

/** The tenants that have entries. The query jumps from one to the next. */
function tenantsWith(s: string): string {
  return `tenants (tenant) AS (
    (SELECT a.tenant FROM ${s}.audit a ORDER BY a.tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT a.tenant FROM ${s}.audit a WHERE a.tenant > tenants.tenant ORDER BY a.tenant LIMIT 1)
    FROM tenants WHERE tenants.tenant IS NOT NULL)`
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}
