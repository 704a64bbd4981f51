import type { Task } from '../../core/task.ts'
import type { Log } from '../../ports/log.ts'

/** A log whose lines about a task also name its context, its tenant and its agent. */
export function taskLog(log: Log, known: (taskId: string) => Task | undefined): Log {
  return (level, text, facts) => {
    const id = facts?.['taskId']
    const task = typeof id === 'string' ? known(id) : undefined
    if (task === undefined) return log(level, text, facts)
    const { contextId, tenant, agent } = task
    log(level, text, { contextId, tenant, agent, ...facts })
  }
}
