/** An engine whose controls are noted in the audit log. Reads and messages are noted only when they are refused. */
import type { Audit, AuditedAction } from '../audit.ts'
import type { Engine } from '../engine.ts'

export function auditedEngine(engine: Omit<Engine, 'audit'>, audit: Audit): Engine {
  const { during } = audit
  return {
    ...engine,
    audit,
    pause: (caller, request, dialect) =>
      during(caller, act('task.pause', request), () => engine.pause(caller, request, dialect)),
    park: (caller, request) =>
      during(caller, act('task.park', request), () => engine.park(caller, request)),
    resume: (caller, request, dialect) =>
      during(caller, act('task.resume', request), () => engine.resume(caller, request, dialect)),
    cancel: (caller, request) =>
      during(caller, act('task.cancel', request), () => engine.cancel(caller, request)),
    fork: (caller, request) =>
      during(caller, act('task.fork', request), () => engine.fork(caller, request)),
    remind: (caller, request) =>
      during(caller, act('task.remind', request), () => engine.remind(caller, request)),
    clearReminders: (caller, request) =>
      during(caller, act('task.clear-reminders', request), () =>
        engine.clearReminders(caller, request),
      ),
    hold: (caller, request) =>
      during(caller, { action: 'hold.place', targetOf: ({ holdId }) => holdId }, () =>
        engine.hold(caller, request),
      ),
    lift: (caller, holdId) =>
      during(caller, { action: 'hold.lift', target: holdId }, () => engine.lift(caller, holdId)),
    setBudget: (caller, request) =>
      during(caller, { action: 'budget.set', targetOf: ({ budget }) => budget.id }, () =>
        engine.setBudget(caller, request),
      ),
    refillBudget: (caller, request) =>
      during(caller, { action: 'budget.refill', targetOf: ({ budget }) => budget.id }, () =>
        engine.refillBudget(caller, request),
      ),
    removeBudget: (caller, target) =>
      during(caller, { action: 'budget.remove', target }, () =>
        engine.removeBudget(caller, target),
      ),
    addRule: (caller, request) =>
      during(caller, { action: 'rule.add', targetOf: ({ id }) => id }, () =>
        engine.addRule(caller, request),
      ),
    removeRule: (caller, target) =>
      during(caller, { action: 'rule.remove', target }, () => engine.removeRule(caller, target)),
    pauseSchedule: (caller, target) =>
      during(caller, { action: 'schedule.pause', target }, () =>
        engine.pauseSchedule(caller, target),
      ),
    resumeSchedule: (caller, target) =>
      during(caller, { action: 'schedule.resume', target }, () =>
        engine.resumeSchedule(caller, target),
      ),
    runSchedule: (caller, target) =>
      during(caller, { action: 'schedule.run', target }, () => engine.runSchedule(caller, target)),

    // A message that starts a task names none, and is not looked at.
    send: (caller, request, options) => {
      const taskId = taskIdIn(memberOf(request, 'message'))
      if (taskId === undefined) return engine.send(caller, request, options)
      return during(caller, { ...read(taskId), action: 'task.message' }, () =>
        engine.send(caller, request, options),
      )
    },
    get: (caller, taskId) => during(caller, read(taskId), () => engine.get(caller, taskId)),
    waitFor: (caller, taskId, wanted, options) =>
      during(caller, read(taskId), () => engine.waitFor(caller, taskId, wanted, options)),
    subscribe: (caller, taskId, options) =>
      during(caller, read(taskId), () => engine.subscribe(caller, taskId, options)),
    follow: (caller, taskId, options) =>
      during(caller, read(taskId), () => engine.follow(caller, taskId, options)),
    reminders: (caller, taskId) =>
      during(caller, read(taskId), () => engine.reminders(caller, taskId)),
    ...auditedLogs(engine, audit),
  }
}

type Logs = Pick<Engine, 'verify' | 'recorded' | 'storedRecords' | 'exportTask' | 'importTask'>

/** Whole logs: read, written into files, taken from files. */
function auditedLogs(engine: Logs, { during }: Audit): Logs {
  return {
    verify: (caller, taskId) => during(caller, read(taskId), () => engine.verify(caller, taskId)),
    recorded: (caller, taskId) =>
      during(caller, read(taskId), () => engine.recorded(caller, taskId)),
    storedRecords: (caller, taskId, after) =>
      during(caller, read(taskId), () => engine.storedRecords(caller, taskId, after)),
    exportTask: (caller, request) =>
      during(caller, act('task.export', request), () => engine.exportTask(caller, request)),
    importTask: (caller, request) =>
      during(caller, act('task.import', request.header), () => engine.importTask(caller, request)),
  }
}

function act(action: string, request: unknown): AuditedAction<unknown> {
  return { action, taskId: taskIdIn(request) }
}

function read(taskId: unknown): AuditedAction<unknown> {
  return { action: 'task.read', taskId, onlyRefused: true }
}

function taskIdIn(request: unknown): unknown {
  return memberOf(request, 'taskId')
}

/** The engine checks the request itself, later. */
function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}
