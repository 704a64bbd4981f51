/** Every verb, under the name of its method of the engine. */
import { LullError } from '../../core/errors.ts'
import type { Assembly } from '../assemble.ts'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { liftVerb, listHolds } from '../holds/holds.ts'
import { holdVerb } from '../holds/place-hold.ts'
import { previewHoldVerb } from '../holds/preview-hold.ts'
import {
  listBudgets,
  refillBudgetVerb,
  removeBudgetVerb,
  setBudgetVerb,
} from '../policies/budgets.ts'
import { addRuleVerb, dryRunRuleVerb, listRules, removeRuleVerb } from '../policies/rules.ts'
import {
  listSchedules,
  pauseScheduleVerb,
  resumeScheduleVerb,
  runScheduleVerb,
} from '../wakes/schedules/schedules.ts'
import { cancelVerb } from './cancel-task.ts'
import { type CheckedForkRequest, forkVerb } from './fork/fork-task.ts'
import { exportVerb } from './import/export-task.ts'
import { importVerb } from './import/import-task.ts'
import { parkVerb, pauseVerb } from './pause-task.ts'
import { clearRemindersVerb, remindVerb } from './remind/reminders.ts'
import { type CheckedResumeRequest, resumeVerb } from './resume-task.ts'
import { answerVerb, type CheckedAnswerRequest } from './send/answer-task.ts'
import { sendVerb, type UncheckedMessage } from './send/send.ts'
import type { OperatorList, OperatorQuestion, OperatorVerb, Verb } from './verb.ts'

interface Verbs {
  readonly send: Verb<'send', UncheckedMessage>
  readonly answer: Verb<'answer', CheckedAnswerRequest>
  readonly pause: Verb<'pause'>
  readonly park: Verb<'park'>
  readonly resume: Verb<'resume', CheckedResumeRequest>
  readonly cancel: Verb<'cancel'>
  readonly fork: Verb<'fork', CheckedForkRequest>
  readonly remind: Verb<'remind'>
  readonly clearReminders: Verb<'clearReminders'>
  readonly exportTask: Verb<'exportTask'>
}

export type VerbName = keyof Verbs

export const verbs: Verbs = {
  send: sendVerb,
  answer: answerVerb,
  pause: pauseVerb,
  park: parkVerb,
  resume: resumeVerb,
  cancel: cancelVerb,
  fork: forkVerb,
  remind: remindVerb,
  clearReminders: clearRemindersVerb,
  exportTask: exportVerb,
}

type ListName = 'holds' | 'budgets' | 'rules' | 'schedules'
type QuestionName = 'previewHold' | 'dryRunRule'
type HoldVerb = 'hold' | 'lift'
type PolicyVerb = 'setBudget' | 'refillBudget' | 'removeBudget' | 'addRule' | 'removeRule'
type ScheduleVerb = 'pauseSchedule' | 'resumeSchedule' | 'runSchedule'
type ControlName = HoldVerb | PolicyVerb | ScheduleVerb | 'importTask'

type OperatorVerbs = { readonly [M in ListName]: OperatorList<M> } & {
  readonly [M in QuestionName]: OperatorQuestion<M>
} & { readonly [M in ControlName]: OperatorVerb<M> }

export type OperatorVerbName = keyof OperatorVerbs

export const operatorVerbs: OperatorVerbs = {
  holds: listHolds,
  previewHold: previewHoldVerb,
  hold: holdVerb,
  lift: liftVerb,
  budgets: listBudgets,
  setBudget: setBudgetVerb,
  refillBudget: refillBudgetVerb,
  removeBudget: removeBudgetVerb,
  rules: listRules,
  addRule: addRuleVerb,
  removeRule: removeRuleVerb,
  dryRunRule: dryRunRuleVerb,
  schedules: listSchedules,
  pauseSchedule: pauseScheduleVerb,
  resumeSchedule: resumeScheduleVerb,
  runSchedule: runScheduleVerb,
  importTask: importVerb,
}

type VerbMethods = Pick<Engine, VerbName | OperatorVerbName>

/** The methods of the engine that are verbs. */
export function verbMethods(parts: Assembly): VerbMethods {
  const ofTasks = Object.entries(verbs).map(([name, { method }]) => [name, method(parts)])
  const ofOperators = Object.entries(operatorVerbs).map(([name, { capability, method }]) => [
    name,
    forOperators(capability, method(parts)),
  ])
  return Object.fromEntries([...ofTasks, ...ofOperators]) as VerbMethods
}

type OperatorCall = (caller: Caller, request: never) => Promise<unknown>

/** @throws LullError `NOT_OFFERED` for a caller that is not an operator */
function forOperators(capability: string, call: OperatorCall): OperatorCall {
  return async (caller, request) => {
    if (caller.operator) return call(caller, request)
    const what = `${capability} to this caller`
    throw new LullError('NOT_OFFERED', { agent: 'engine', capability: what })
  }
}
