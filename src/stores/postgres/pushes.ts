import { type Push, pushStatus } from '../../core/push.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Row, Value } from './connection/database.ts'

type Pushes = Pick<Store, 'putPush' | 'replacePush' | 'pushes' | 'deletePush' | 'listPushes'>

export function createPushes(db: Database): Pushes {
  const s = db.schema
  return {
    async putPush(push) {
      await db.write(
        `INSERT INTO ${s}.pushes (tenant, task_id, id, status, body) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant, task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body`,
        columnsOf(push),
      )
    },
    async replacePush(before, after) {
      // With $7 (again), an earlier attempt may already have written the webhook.
      const written = await db.writeOnce(
        `UPDATE ${s}.pushes SET status = $4, body = $5
         WHERE tenant = $1 AND task_id = $2 AND id = $3 AND (body = $6 OR ($7 AND body = $5)) RETURNING 1`,
        (again) => [...columnsOf(after), JSON.stringify(before), again],
      )
      return written.length > 0
    },
    pushes: async (tenant, taskId) =>
      (
        await db.read(
          `SELECT body FROM ${s}.pushes WHERE tenant = $1 AND task_id = $2 ORDER BY id`,
          [toText(tenant), toText(taskId)],
        )
      ).map(parsed),
    async deletePush(tenant, taskId, id) {
      await db.write(`DELETE FROM ${s}.pushes WHERE tenant = $1 AND task_id = $2 AND id = $3`, [
        toText(tenant),
        toText(taskId),
        toText(id),
      ])
    },
    listPushes: async (status, after, limit) =>
      (
        await db.read(
          `SELECT body FROM ${s}.pushes WHERE status = $1 AND status <> 'done' AND (tenant, task_id, id) > ($2, $3, $4)
           ORDER BY tenant, task_id, id LIMIT $5`,
          [
            status,
            ...[after?.owner.tenant, after?.taskId, after?.id].map((one = '') => toText(one)),
            limit,
          ],
        )
      ).map(parsed),
  }
}

function columnsOf(push: Push): readonly Value[] {
  return [
    toText(push.owner.tenant),
    toText(push.taskId),
    toText(push.id),
    pushStatus(push),
    JSON.stringify(push),
  ]
}

function parsed(row: Row): Push {
  return JSON.parse(String(row['body'])) as Push
}
