/** The methods of the engine that only operators may call: holds, budgets, rules, schedules and imports. */
import { LullError } from '../../core/errors.ts'
import type { Assembly } from '../assemble.ts'
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { previewHold } from '../holds/preview-hold.ts'
import { importTask } from './import/import-task.ts'

type HoldMethods = 'previewHold' | 'hold' | 'lift' | 'holds'
type BudgetMethods = 'budgets' | 'setBudget' | 'refillBudget' | 'removeBudget'
type RuleMethods = 'rules' | 'addRule' | 'removeRule' | 'dryRunRule'
type ScheduleMethods = 'schedules' | 'pauseSchedule' | 'resumeSchedule' | 'runSchedule'
type OperatorMethods = HoldMethods | BudgetMethods | RuleMethods | ScheduleMethods | 'importTask'

export function operatorMethods(parts: Assembly): Pick<Engine, OperatorMethods> {
  const { context, holds, budgets, rules, schedules } = parts
  const ofHolds = operatorOf('holds')
  const ofBudgets = operatorOf('budgets')
  const ofRules = operatorOf('rules')
  const ofSchedules = operatorOf('schedules')
  return {
    previewHold: async (caller, request) => previewHold(context, ofHolds(caller), request),
    hold: async (caller, request) => holds.hold(ofHolds(caller), request),
    lift: async (caller, holdId) => holds.lift(ofHolds(caller), holdId),
    holds: async (caller) => holds.list(ofHolds(caller)),

    budgets: async (caller) => budgets.list(ofBudgets(caller)),
    setBudget: async (caller, request) => budgets.set(ofBudgets(caller), request),
    refillBudget: async (caller, request) => budgets.refill(ofBudgets(caller), request),
    removeBudget: async (caller, budgetId) => budgets.remove(ofBudgets(caller), budgetId),

    rules: async (caller) => rules.list(ofRules(caller)),
    addRule: async (caller, request) => rules.add(ofRules(caller), request),
    removeRule: async (caller, ruleId) => rules.remove(ofRules(caller), ruleId),
    dryRunRule: async (caller, request) => rules.dryRun(ofRules(caller), request),

    importTask: async (caller, request) =>
      importTask(context, holds, operatorOf('imports')(caller), request),

    schedules: async (caller) => schedules.list(ofSchedules(caller)),
    pauseSchedule: async (caller, id) => schedules.pause(ofSchedules(caller), id),
    resumeSchedule: async (caller, id) => schedules.resume(ofSchedules(caller), id),
    runSchedule: async (caller, id) => schedules.run(ofSchedules(caller), id),
  }
}

/** @throws LullError `NOT_OFFERED` for a caller that is not an operator */
function operatorOf(what: string): (caller: Caller) => Caller {
  return (caller) => {
    if (caller.operator) return caller
    throw new LullError('NOT_OFFERED', { agent: 'engine', capability: `${what} to this caller` })
  }
}
