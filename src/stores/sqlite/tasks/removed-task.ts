import type { TaskRow } from '../../../ports/store/tasks.ts'
import type { Database } from '../files/driver.ts'
import { toText } from '../text.ts'

export function createRemovedTask(db: Database): (taskId: string) => TaskRow | undefined {
  const select = db.prepare('SELECT body FROM removed_tasks WHERE id = ?')
  return (taskId) => {
    const row = select.get(toText(taskId))
    return row && (JSON.parse(String(row['body'])) as TaskRow)
  }
}
