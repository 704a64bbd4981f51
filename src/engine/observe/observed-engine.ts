/**
 * The engine as callers use it: every call is noted in the audit log and in the metrics as the table `calls` says. A new
 * method of the engine does not compile until the table says what its calls leave behind.
 */
import { isLullError } from '../../core/errors.ts'
import type { Meter } from '../../ports/meter.ts'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { type VerbName, verbs } from '../requests/verbs.ts'
import type { Audit, AuditedAction } from './audit.ts'

type ParametersOf<F> = F extends (...given: infer P) => Promise<unknown> ? P : []

/** The methods that act for a caller. */
type Method = {
  readonly [M in keyof Engine]: ParametersOf<Engine[M]> extends [Caller, ...unknown[]] ? M : never
}[keyof Engine]

type Given<M extends Method> = ParametersOf<Engine[M]>[1]
type Result<M extends Method> = Awaited<
  Engine[M] extends (...given: never[]) => infer R ? R : never
>

interface Observed<M extends Method> {
  /** What the audit log says of a call. Undefined: nothing. */
  readonly audited?: (given: Given<M>) => AuditedAction<Result<M>> | undefined
  /** Its refusals at a limit are counted in the metrics. */
  readonly limited?: boolean
}

/** The call shows nothing of a certain task, and changes nothing that an operator answers for. */
const unobserved = {}

const calls: { readonly [M in Method]: Observed<M> } = {
  // A message that starts a task names none. It is an ordinary use, and is not noted.
  send: {
    audited: (request) => {
      const taskId = memberOf(memberOf(request, 'message'), 'taskId')
      return taskId === undefined ? undefined : { ...read(taskId), action: 'task.message' }
    },
    limited: true,
  },
  get: { audited: read },
  list: unobserved,
  count: unobserved,
  waitFor: { audited: read },
  subscribe: { audited: read },
  follow: { audited: read },
  webhooks: unobserved,
  emit: { limited: true },
  admit: { limited: true },

  pause: verb('pause'),
  park: verb('park'),
  resume: verb('resume'),
  cancel: verb('cancel'),
  fork: verb('fork'),
  remind: verb('remind'),
  reminders: { audited: read },
  clearReminders: verb('clearReminders'),

  previewHold: unobserved,
  hold: { audited: () => ({ action: 'hold.place', targetOf: ({ holdId }) => holdId }) },
  lift: { audited: (target) => ({ action: 'hold.lift', target }) },
  holds: unobserved,
  budgets: unobserved,
  setBudget: { audited: () => ({ action: 'budget.set', targetOf: ({ budget }) => budget.id }) },
  refillBudget: {
    audited: () => ({ action: 'budget.refill', targetOf: ({ budget }) => budget.id }),
  },
  removeBudget: { audited: (target) => ({ action: 'budget.remove', target }) },
  rules: unobserved,
  addRule: { audited: () => ({ action: 'rule.add', targetOf: ({ id }) => id }) },
  removeRule: { audited: (target) => ({ action: 'rule.remove', target }) },
  dryRunRule: unobserved,
  schedules: unobserved,
  pauseSchedule: { audited: (target) => ({ action: 'schedule.pause', target }) },
  resumeSchedule: { audited: (target) => ({ action: 'schedule.resume', target }) },
  runSchedule: { audited: (target) => ({ action: 'schedule.run', target }) },

  verify: { audited: read },
  recorded: { audited: read },
  storedRecords: { audited: read },
  exportTask: { audited: (request) => act('task.export', request) },
  importTask: { audited: ({ header }) => act('task.import', header) },
}

export function observedEngine(engine: Omit<Engine, 'audit'>, audit: Audit, meter: Meter): Engine {
  function countLimit(error: unknown): void {
    if (isLullError(error, 'LIMIT_EXCEEDED') || isLullError(error, 'OVERLOADED')) {
      meter.add('lull_limits_total', 1, error.details.limit)
    }
  }

  function observed<M extends Method>(method: M): unknown {
    const { audited, limited }: Observed<M> = calls[method]
    const call: (caller: Caller, ...given: never[]) => Promise<unknown> = engine[method]
    if (audited === undefined && !limited) return call
    return (caller: Caller, ...given: never[]) => {
      const action = audited?.(given[0] as Given<M>) as AuditedAction<unknown> | undefined
      const work = () => call(caller, ...given)
      const answer = action === undefined ? work() : audit.during(caller, action, work)
      if (limited) answer.catch(countLimit)
      return answer
    }
  }

  const methods = Object.keys(calls) as readonly Method[]
  const calling = Object.fromEntries(methods.map((method) => [method, observed(method)]))
  const { agents, clock, watch, takeDuty, replaceAgents, receiptKeys } = engine
  const { health, worker, workers, prune, start, drain } = engine
  return {
    ...(calling as Pick<Engine, Method>),
    ...{ agents, clock, watch, takeDuty, replaceAgents, receiptKeys, audit },
    ...{ health, worker, workers, prune, start, drain },
  }
}

function verb<V extends VerbName>(name: V): Observed<V> {
  const { audited, limited } = verbs[name]
  return { audited: (request) => act(audited, request), limited }
}

function act(action: string, request: unknown): AuditedAction<unknown> {
  return { action, taskId: memberOf(request, 'taskId') }
}

function read(taskId: unknown): AuditedAction<unknown> {
  return { action: 'task.read', taskId, onlyRefused: true }
}

/** The engine checks the request itself, later. */
function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}
