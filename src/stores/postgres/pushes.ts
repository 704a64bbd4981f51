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
        `INSERT INTO ${s}.pushes (task_id, id, status, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body`,
        columnsOf(push),
      )
    },
    async replacePush(before, after) {
      // With $6 (again), an earlier attempt may already have written the webhook.
      const written = await db.writeOnce(
        `UPDATE ${s}.pushes SET status = $3, body = $4
         WHERE task_id = $1 AND id = $2 AND (body = $5 OR ($6 AND body = $4)) RETURNING 1`,
        (again) => [...columnsOf(after), JSON.stringify(before), again],
      )
      return written.length > 0
    },
    pushes: async (taskId) =>
      (
        await db.read(`SELECT body FROM ${s}.pushes WHERE task_id = $1 ORDER BY id`, [
          toText(taskId),
        ])
      ).map(parsed),
    async deletePush(taskId, id) {
      await db.write(`DELETE FROM ${s}.pushes WHERE task_id = $1 AND id = $2`, [
        toText(taskId),
        toText(id),
      ])
    },
    listPushes: async (status, after, limit) =>
      (
        await db.read(
          `SELECT body FROM ${s}.pushes WHERE status = $1 AND status <> 'done' AND (task_id, id) > ($2, $3)
           ORDER BY task_id, id LIMIT $4`,
          [status, toText(after?.taskId ?? ''), toText(after?.id ?? ''), limit],
        )
      ).map(parsed),
  }
}

function columnsOf(push: Push): readonly Value[] {
  return [toText(push.taskId), toText(push.id), pushStatus(push), JSON.stringify(push)]
}

function parsed(row: Row): Push {
  return JSON.parse(String(row['body'])) as Push
}
