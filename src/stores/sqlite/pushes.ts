import { type Push, pushStatus } from '../../core/push.ts'
import type { PushStore } from '../../ports/store/pushes.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'

export type Pushes = Direct<keyof PushStore>

export function createPushes(db: Database): Pushes {
  const upsert = db.prepare(
    `INSERT INTO pushes (task_id, id, status, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body`,
  )
  const change = db.prepare(
    'UPDATE pushes SET status = ?, body = ? WHERE task_id = ? AND id = ? AND body = ? RETURNING 1',
  )
  const select = db.prepare('SELECT body FROM pushes WHERE task_id = ? ORDER BY id')
  const remove = db.prepare('DELETE FROM pushes WHERE task_id = ? AND id = ?')
  const page = db.prepare(
    `SELECT body FROM pushes INDEXED BY pushes_by_status
     WHERE status = ? AND status <> 'done' AND (task_id, id) > (?, ?)
     ORDER BY task_id, id LIMIT ?`,
  )
  return {
    putPush(push) {
      upsert.run(toText(push.taskId), toText(push.id), pushStatus(push), JSON.stringify(push))
    },
    replacePush(before, after) {
      const key = [toText(after.taskId), toText(after.id)] as const
      const columns = [pushStatus(after), JSON.stringify(after)] as const
      return change.all(...columns, ...key, JSON.stringify(before)).length > 0
    },
    pushes: (tenant, taskId) =>
      select
        .all(toText(taskId))
        .map(readPush)
        .filter(({ owner }) => owner.tenant === tenant),
    deletePush(_tenant, taskId, id) {
      remove.run(toText(taskId), toText(id))
    },
    listPushes: (status, after, limit) =>
      page.all(status, toText(after?.taskId ?? ''), toText(after?.id ?? ''), limit).map(readPush),
  }
}

function readPush(row: Row): Push {
  return JSON.parse(String(row['body'])) as Push
}
