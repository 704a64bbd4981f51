/**
 * A valid request of every verb. A verb without one does not compile. The tests of scoping, of bad input and of audit go
 * over all of them.
 */
import type { ExportHeader } from '../../core/receipts/task-export.ts'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { type OperatorVerbName, operatorVerbs, type VerbName, verbs } from '../requests/verbs.ts'
import { message } from './engine-harness.ts'

type RequestOf<V extends VerbName> = Parameters<Engine[V]>[1]

export const samples: { readonly [V in VerbName]: (taskId: string) => RequestOf<V> } = {
  send: (taskId) => ({ message: message('x', { taskId }) }),
  answer: (taskId) => ({ taskId, answer: 'x' }),
  pause: (taskId) => ({ taskId }),
  park: (taskId) => ({ taskId, reason: 'x' }),
  resume: (taskId) => ({ taskId }),
  cancel: (taskId) => ({ taskId }),
  fork: (taskId) => ({ taskId, at: 'park' }),
  remind: (taskId) => ({ taskId, reminder: { body: 'x' } }),
  clearReminders: (taskId) => ({ taskId }),
  exportTask: (taskId) => ({ taskId }),
}

export const verbNames = Object.keys(verbs) as readonly VerbName[]

/** @param wrong members that replace those of the sample */
export function callVerb(
  engine: Engine,
  verb: VerbName,
  caller: Caller,
  taskId: string,
  wrong: object = {},
): Promise<unknown> {
  const call = engine[verb] as (caller: Caller, request: object) => Promise<unknown>
  return call(caller, { ...samples[verb](taskId), ...wrong })
}

type AskedName = {
  readonly [V in OperatorVerbName]: Parameters<Engine[V]> extends [Caller] ? never : V
}[OperatorVerbName]

const everything = { scope: { all: true }, reason: 'x' } as const
const budget = { scope: { all: true }, measure: 'turns', limit: 5 } as const

/** The requests of operators. Lists have none. */
export const operatorSamples: { readonly [V in AskedName]: Parameters<Engine[V]>[1] } = {
  previewHold: everything,
  hold: everything,
  lift: 'hold-none',
  setBudget: budget,
  refillBudget: { budgetId: 'budget-none' },
  removeBudget: 'budget-none',
  addRule: { ...everything, onEvent: 'go' },
  removeRule: 'rule-none',
  dryRunRule: { ...everything, onEvent: 'go' },
  pauseSchedule: 'agent:none',
  resumeSchedule: 'agent:none',
  runSchedule: 'agent:none',
  importTask: { header: { taskId: 'exported' } as ExportHeader, records: [] },
}

export const operatorVerbNames = Object.keys(operatorVerbs) as readonly OperatorVerbName[]

/** @param request Default: the sample */
export function callOperatorVerb(
  engine: Engine,
  verb: OperatorVerbName,
  caller: Caller,
  request: unknown = Reflect.get(operatorSamples, verb),
): Promise<unknown> {
  const call = engine[verb] as (caller: Caller, request: unknown) => Promise<unknown>
  return call(caller, request)
}
