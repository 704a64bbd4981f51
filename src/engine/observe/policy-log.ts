import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Log } from '../../ports/log.ts'

/** One line for each stop that no caller asked for: changed code, an unknown agent, a full journal, a crash loop. */
export function logPolicyStops(log: Log, task: Task, records: readonly LogRecord[]): void {
  for (const record of records) {
    if (record.type !== 'pause-requested' || record.suspension.actor.kind !== 'policy') continue
    const { reason, summary } = record.suspension
    log('warn', 'a task was stopped by policy', {
      taskId: task.id,
      agent: task.agent,
      contextId: task.contextId,
      tenant: task.tenant,
      reason,
      summary,
    })
  }
}
