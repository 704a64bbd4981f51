import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Log } from '../../ports/log.ts'

/**
 * A log that never throws. The log of an embedding program may fail on a fact that agent code made (a circular object, a
 * proxy that throws). The line is then written again with every fact as text.
 */
export function safeLog(log: Log): Log {
  return (level, text, facts = {}) => {
    try {
      log(level, text, facts)
    } catch {
      writeAsText(log, level, text, facts)
    }
  }
}

function writeAsText(log: Log, ...[level, text, facts]: Required<Parameters<Log>>): void {
  try {
    const texts = Object.keys(facts).map((key) => [key, describeError(facts[key]).message])
    log(level, text, Object.fromEntries(texts))
  } catch {
    // The log itself is broken. There is nowhere to report that.
  }
}

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
