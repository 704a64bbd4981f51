/**
 * A budget limits how much the tasks of a scope may use together. The store adds up what they use,
 * in the same transaction as the records that report it. This file interprets that sum.
 */

import type { HoldScope } from '../hold-scope.ts'
import type { LogRecord } from '../records.ts'
import type { Actor } from '../suspension.ts'
import type { Task } from '../task.ts'

/** `tokens` are input and output tokens together. `wallMs` is the time in which tasks run. */
export type Measure = 'inputTokens' | 'outputTokens' | 'tokens' | 'costUsd' | 'wallMs' | 'turns'

/** How often the count starts again. Hours and days are those of UTC. */
export type Per = 'hour' | 'day' | 'life'

export interface Budget {
  readonly kind: 'budget'
  readonly id: string
  /** Grows with each change. Every write is a compare-and-set on it. */
  readonly version: number
  /** The tenant whose operators may change it. `*` are the operators of all tenants. */
  readonly owner: string
  readonly scope: HoldScope
  readonly measure: Measure
  readonly limit: number
  readonly per: Per
  readonly actor: Actor
  readonly createdAt: number
  /** Usage before this instant does not count. */
  readonly startedAt: number
  /** Set by the last change: tasks that the budget had stopped are to be resumed. */
  readonly resumes?: true
  /**
   * The budget is being removed: it stops no more tasks, and is deleted once the tasks that it had
   * stopped are resumed.
   */
  readonly removing?: true
  /** An increase of the limit for one period only. */
  readonly extra?: { readonly period: number; readonly amount: number }
}

/** How much of a budget was used, in units (`toUnits`). The store keeps the latest period of each budget. */
export interface Spent {
  readonly budgetId: string
  /** When the period began. */
  readonly period: number
  readonly amount: number
}

/** Percentages of a budget at which the agent is warned. */
export type WarningPercent = 70 | 85 | 95

const warningPercents: readonly WarningPercent[] = [95, 85, 70]

/** How much of a budget is used. Amounts are in the measure of the budget. */
export interface BudgetFigures {
  readonly spent: number
  /** The limit plus what a refill added in this period. */
  readonly allowed: number
  readonly percent: number
  readonly usedUp: boolean
  readonly period: number
  /** When the next period begins. Absent for `life`. */
  readonly nextPeriodAt?: number
  /** The highest warning percentage that usage has reached. */
  readonly warning?: WarningPercent
}

const lengths: Readonly<Record<Per, number | undefined>> = {
  hour: 3_600_000,
  day: 86_400_000,
  life: undefined,
}

/** The beginning of the period of a budget that contains the instant `at`. */
export function periodOf(
  { per, startedAt }: Pick<Budget, 'per' | 'startedAt'>,
  at: number,
): number {
  const length = lengths[per]
  return length === undefined ? startedAt : Math.max(startedAt, at - (at % length))
}

export function figuresOf(budget: Budget, counted: Spent | undefined, at: number): BudgetFigures {
  const { measure, limit, per, extra } = budget
  const period = periodOf(budget, at)
  // A sum of an earlier period counts as zero. A sum of a later period is kept: clocks of processes
  // differ a little, and another process may have begun the period.
  const isCurrent = counted !== undefined && counted.period >= period
  const spent = isCurrent ? fromUnits(measure, counted.amount) : 0
  const allowed = limit + (extra?.period === period ? extra.amount : 0)
  const usedUp = spent >= allowed
  const percent = usedUp && allowed === 0 ? 100 : Math.floor((spent / allowed) * 100)
  const warning = warningPercents.find((one) => percent >= one)
  const length = lengths[per]
  return {
    spent,
    allowed,
    percent,
    usedUp,
    period,
    ...(length === undefined ? {} : { nextPeriodAt: at - (at % length) + length }),
    ...(warning === undefined ? {} : { warning }),
  }
}

/**
 * Sums are kept in whole numbers, so that they are exact. Costs are counted in billionths of a
 * dollar.
 */
const NANO = 1e9
/**
 * The largest amount that one report may add, in units. Sums of larger numbers would not be exact.
 */
const LARGEST = 1e15

export function toUnits(measure: Measure, amount: number): number {
  const units = Math.round(measure === 'costUsd' ? amount * NANO : amount)
  return Math.min(units, LARGEST)
}

export function fromUnits(measure: Measure, units: number): number {
  return measure === 'costUsd' ? units / NANO : units
}

const nouns: Readonly<Record<Measure, (amount: number) => string>> = {
  inputTokens: (amount) => `${amount} input tokens`,
  outputTokens: (amount) => `${amount} output tokens`,
  tokens: (amount) => `${amount} tokens`,
  costUsd: (amount) => `${Number(amount.toFixed(6))} USD`,
  wallMs: (amount) => `${Math.round(amount / 100) / 10} s of running time`,
  turns: (amount) => `${amount} turns`,
}

const periods: Readonly<Record<Per, string>> = { hour: ' per hour', day: ' per day', life: '' }

/** The task whose texts name a budget. */
export interface FiguresReader {
  readonly tenant: string
  readonly taskId: string
  /** Every caller is an operator of all tenants, as on a server without authentication. */
  readonly ofAllTenants: boolean
}

/**
 * For example `1200 of 1000 tokens per day of tenant acme (budget-1f…)`. Figures that may count
 * tasks of another tenant are left out, unless the reader may see those of all.
 */
export function describeFigures(
  budget: Budget,
  { spent, allowed }: BudgetFigures,
  reader: FiguresReader,
): string {
  if (!mayReadFigures(budget.scope, reader)) return describeBudget(budget, allowed, reader)
  const used = nouns[budget.measure](spent).split(' ')[0]
  return `${used} of ${describeBudget(budget, allowed, reader)}`
}

export function describeBudget(budget: Budget, allowed: number, reader: FiguresReader): string {
  const { id, measure, per, scope } = budget
  if (!mayReadFigures(scope, reader)) return `a budget of the operator (${id})`
  return `${nouns[measure](allowed)}${periods[per]}${describeScope(scope)} (${id})`
}

function mayReadFigures(scope: HoldScope, reader: FiguresReader): boolean {
  if (reader.ofAllTenants) return true
  if ('taskIds' in scope && scope.taskIds.every((id) => id === reader.taskId)) return true
  return 'tenant' in scope && scope.tenant === reader.tenant
}

function describeScope(scope: HoldScope): string {
  const names = [
    'agent' in scope ? `agent ${scope.agent}` : undefined,
    'contextId' in scope ? `context ${scope.contextId}` : undefined,
    'taskIds' in scope ? `task ${scope.taskIds.slice(0, 3).join(', ')}` : undefined,
    'tenant' in scope && scope.tenant !== undefined ? `tenant ${scope.tenant}` : undefined,
  ].filter((name) => name !== undefined)
  return names.length === 0 ? '' : ` of ${names.join(' of ')}`
}

/** Amounts in units, as the records of a commit use them. */
type Amounts = Readonly<Record<Measure, number>>

/**
 * @param before the task before the records; undefined when they create it
 * @param running the token of the task's run in this process. Time in which this process runs no
 * such run is not counted
 */
export function amountsOf(
  before: Task | undefined,
  records: readonly LogRecord[],
  after: Task,
  running: string | undefined,
): Amounts {
  let [inputTokens, outputTokens, costUsd] = [0, 0, 0]
  for (const record of records) {
    if (record.type !== 'usage') continue
    inputTokens += toUnits('inputTokens', record.usage.inputTokens ?? 0)
    outputTokens += toUnits('outputTokens', record.usage.outputTokens ?? 0)
    costUsd += toUnits('costUsd', record.usage.costUsd ?? 0)
  }
  return {
    inputTokens,
    outputTokens,
    tokens: inputTokens + outputTokens,
    costUsd,
    wallMs: runningTime(before, after, running),
    turns: after.turn - (before?.turn ?? 0),
  }
}

/** The time since the previous record, if the same run had the task all that time; otherwise 0. */
function runningTime(before: Task | undefined, after: Task, running: string | undefined): number {
  if (before?.state !== 'working' || running === undefined) return 0
  return before.run?.token === running ? Math.max(0, after.updatedAt - before.updatedAt) : 0
}
