/**
 * Tracks what a task has spent since its budget was last renewed, and whether that exceeds the
 * budget.
 */
import type { UsageReport } from '../../core/records.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import type { Budget } from './options.ts'

export interface Spending {
  readonly turns: number
  readonly tokens: number
  readonly costUsd: number
}

export const nothingSpent: Spending = { turns: 0, tokens: 0, costUsd: 0 }

export function afterTurn(spent: Spending, usage: UsageReport): Spending {
  const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = usage
  return {
    turns: spent.turns + 1,
    tokens: spent.tokens + inputTokens + outputTokens,
    costUsd: spent.costUsd + costUsd,
  }
}

/**
 * Parks the task if the budget is used up. Returns what has been spent of the budget that applies
 * afterwards.
 */
export async function withinBudget(
  task: AgentTask,
  spent: Spending,
  budget: Budget = {},
): Promise<Spending> {
  const over = exceeded(spent, budget)
  if (over === undefined) return spent
  await task.park({
    reason: `budget: ${over}`,
    summary: `The budget of this task is used up (${over}). Resume to allow as much again, or cancel.`,
  })
  return nothingSpent
}

const names = ['turns', 'tokens', 'costUsd'] as const

export function exceeded(spent: Spending, budget: Budget): string | undefined {
  const name = names.find((one) => spent[one] >= (budget[one] ?? Number.POSITIVE_INFINITY))
  return name === undefined ? undefined : `${name} ${round(spent[name])} of ${budget[name]}`
}

const round = (amount: number): number => Math.round(amount * 1e6) / 1e6
