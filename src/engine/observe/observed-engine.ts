/**
 * The engine as callers use it: every call is noted in the audit log and in the metrics as its verb says, or the
 * table `otherCalls`. A new method of the engine does not compile until one of them has it.
 */
import { isLullError } from '../../core/errors.ts'
import type { Meter } from '../../ports/meter.ts'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { memberOf } from '../input/parse.ts'
import type { Verb } from '../requests/verb.ts'
import { type OperatorVerbName, operatorVerbs, type VerbName, verbs } from '../requests/verbs.ts'
import type { Audit, AuditedAction } from './audit.ts'

type ParametersOf<F> = F extends (...given: infer P) => Promise<unknown> ? P : []

/** The methods that act for a caller. */
type Method = {
  readonly [M in keyof Engine]: ParametersOf<Engine[M]> extends [Caller, ...unknown[]] ? M : never
}[keyof Engine]

interface Observation {
  /** What the audit log says of a call, whose request is not checked yet. Undefined: nothing. */
  readonly audited?: (request: unknown) => AuditedAction<never> | undefined
  /** Its refusals at a limit are counted in the metrics. */
  readonly limited?: boolean
}

/** The call shows nothing of a certain task, and changes nothing that an operator answers for. */
const unobserved: Observation = {}

const otherCalls: Readonly<Record<Exclude<Method, VerbName | OperatorVerbName>, Observation>> = {
  get: { audited: read },
  list: unobserved,
  count: unobserved,
  rows: unobserved,
  waitFor: { audited: read },
  subscribe: { audited: read },
  follow: { audited: read },
  webhooks: unobserved,
  emit: { limited: true },
  admit: { limited: true },
  reminders: { audited: read },
  verify: { audited: read },
  recorded: { audited: read },
  storedRecords: { audited: read },
}

const calls: ReadonlyMap<string, Observation> = new Map([
  ...Object.entries(otherCalls),
  ...Object.entries(verbs).map(([name, verb]) => [name, observe(verb)] as const),
  ...Object.entries(operatorVerbs).map(([name, verb]) => [name, observeOperator(verb)] as const),
])

export function observedEngine(engine: Omit<Engine, 'audit'>, audit: Audit, meter: Meter): Engine {
  function countLimit(error: unknown): void {
    if (isLullError(error, 'LIMIT_EXCEEDED') || isLullError(error, 'OVERLOADED')) {
      meter.add('lull_limits_total', 1, error.details.limit)
    }
  }

  function observed(method: Method, { audited, limited }: Observation): unknown {
    const call: (caller: Caller, ...given: never[]) => Promise<unknown> = engine[method]
    if (audited === undefined && !limited) return call
    return (caller: Caller, ...given: never[]) => {
      const action = audited?.(given[0]) as AuditedAction<unknown> | undefined
      const work = () => call(caller, ...given)
      const answer = action === undefined ? work() : audit.during(caller, action, work)
      if (limited) answer.catch(countLimit)
      return answer
    }
  }

  const calling = Object.fromEntries(
    [...calls].map(([method, observation]) => [method, observed(method as Method, observation)]),
  )
  const { agents, clock, watch, takeDuty, replaceAgents, receiptKeys } = engine
  const { health, worker, workers, prune, start, drain } = engine
  return {
    ...(calling as Pick<Engine, Method>),
    ...{ agents, clock, watch, takeDuty, replaceAgents, receiptKeys, audit },
    ...{ health, worker, workers, prune, start, drain },
  }
}

function observe({
  audited: action,
  limited,
  onlyRefused,
  doneAs,
  taskOf = ownTask,
}: Pick<Verb<'send'>, 'audited' | 'limited' | 'onlyRefused' | 'doneAs' | 'taskOf'>): Observation {
  return {
    limited,
    audited(request) {
      const taskId = taskOf(request)
      // A message without a task starts one, which is ordinary use.
      if (onlyRefused && taskId === undefined) return undefined
      return { action, taskId, ...(onlyRefused && { onlyRefused }), ...(doneAs && { doneAs }) }
    },
  }
}

function observeOperator(verb: (typeof operatorVerbs)[OperatorVerbName]): Observation {
  if (verb.scope === 'ops:read') return unobserved
  const { action, targetOf, taskOf } = verb.audited
  return {
    audited: (target) => ({
      action,
      target,
      taskId: taskOf?.(target),
      ...(targetOf && { targetOf }),
    }),
  }
}

function ownTask(request: unknown): unknown {
  return memberOf(request, 'taskId')
}

function read(taskId: unknown): AuditedAction<never> {
  return { action: 'task.read', taskId, onlyRefused: true }
}
